"""Recurrences on arrays of processing elements."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "families": {
            "recurrence": "ithaca.plugins.recurrences.formulations.family:RECURRENCES",
        },
        "question kinds": {
            "recurrence": "ithaca.plugins.recurrences.formulations.options:KIND",
        },
        "questions": {
            "recurrence": "ithaca.plugins.recurrences.formulations.question:RecurrenceQuestion",
        },
        "tools of families": {
            "recurrence autosa": "ithaca.plugins.recurrences.exports.autosa:RECURRENCES",
        },
        "hardware": {"recurrence": "ithaca.plugins.recurrences.exports.hardware:HARDWARE"},
        "workload kinds": {"recurrences": "ithaca.plugins.recurrences.workloads.kind:KIND"},
        "runs": {
            "recurrence": "ithaca.plugins.recurrences.commands.simulated:simulated",
        },
    }
)
