"""Recurrences on arrays of elements; C files."""

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.recurrences"

PLUGIN = Plugin(
    {
        "families": {"recurrence": f"{_HERE}.formulations.family:RECURRENCES"},
        "question kinds": {"recurrence": f"{_HERE}.formulations.options:KIND"},
        "questions": {"recurrence": f"{_HERE}.formulations.question:RecurrenceQuestion"},
        "nest files": {".c": f"{_HERE}.workloads.c.nests:c_nest"},
        "network files": {".c": f"{_HERE}.workloads.c.network:c_network"},
        "workload kinds": {"recurrence": f"{_HERE}.workloads.kind:KIND"},
        "tools of families": {"recurrence autosa": f"{_HERE}.exports.autosa:RECURRENCES"},
        "hardware": {"recurrence": f"{_HERE}.exports.hardware:HARDWARE"},
        "runs": {"recurrence": f"{_HERE}.commands.simulated:simulated"},
    }
)
