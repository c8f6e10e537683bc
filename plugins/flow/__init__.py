"""Flow graphs of hardware components."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "schemas": {"graph": "ithaca.formulations.flow.graph:FlowGraph"},
        "names": {
            "list_graphs": "ithaca.commands.api.lists:list_graphs",
        },
    }
)
