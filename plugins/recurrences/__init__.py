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
        "tools of families": {
            "recurrence autosa": "ithaca.exports.autosa.recurrence:RECURRENCES",
            "recurrence rtl": "ithaca.exports.rtl.recurrence_folder:RECURRENCE_RTL",
        },
        "runs": {
            "recurrence": "ithaca.commands.families.recurrence.simulated:simulated",
        },
    }
)
