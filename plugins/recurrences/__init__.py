"""Recurrences on arrays of processing elements."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.recurrences"

PLUGIN = Plugin(
    {
        "families": {
            "recurrence": f"{_HERE}.formulations.family:RECURRENCES",
        },
        "question kinds": {
            "recurrence": f"{_HERE}.formulations.options:KIND",
        },
        "questions": {
            "recurrence": f"{_HERE}.formulations.question:RecurrenceQuestion",
        },
        "workload kinds": {
            "recurrence": f"{_HERE}.workloads.kind:KIND",
        },
        "tools of families": {
            "recurrence autosa": f"{_HERE}.exports.autosa:RECURRENCES",
        },
        "hardware": {
            "recurrence": f"{_HERE}.exports.hardware:HARDWARE",
        },
        "runs": {
            "recurrence": f"{_HERE}.commands.simulated:simulated",
        },
    }
)
