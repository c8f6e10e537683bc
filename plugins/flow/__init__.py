"""Flow graphs of hardware components."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "schemas": {"graph": "ithaca.formulations.flow.graph:FlowGraph"},
        "evaluations": {"graph": "ithaca.commands.api.flow:evaluate_source"},
        "lists": {"graphs": "ithaca.commands.api.flow:print_graphs"},
        "names": {
            "list_graphs": "ithaca.commands.api.flow:list_graphs",
        },
    }
)
