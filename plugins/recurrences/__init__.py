"""Recurrences on arrays of processing elements."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "families": {
            "recurrence": "ithaca.formulations.recurrence.family:RECURRENCES",
        },
        "question kinds": {
            "recurrence": "ithaca.formulations.recurrence.options:KIND",
        },
        "questions": {
            "recurrence": "ithaca.formulations.recurrence.question:RecurrenceQuestion",
        },
        "runs": {
            "recurrence": "ithaca.commands.families.recurrence.simulated:simulated",
        },
    }
)
