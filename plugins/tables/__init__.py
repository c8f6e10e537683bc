"""Layers of other tools, read and written."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "network files": {
            ".csv": "ithaca.plugins.tables.workloads.tables:read_table",
            ".m": "ithaca.plugins.tables.workloads.maestro:read_maestro",
        },
        "network sources": {
            "equations": "ithaca.plugins.tables.workloads.equations:EQUATIONS",
            "named": "ithaca.plugins.tables.workloads.named:NAMED",
            "zigzag": "ithaca.plugins.tables.workloads.named:OTHERS",
        },
        "tools": {"scalesim": "ithaca.plugins.tables.exports.scalesim.folder:SCALESIM"},
    }
)
