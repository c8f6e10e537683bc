"""Flow graphs of hardware components."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "schemas": {"graph": "ithaca.plugins.flow.formulations.graph:FlowGraph"},
        "evaluations": {"graph": "ithaca.plugins.flow.commands:evaluate_source"},
        "lists": {"graphs": "ithaca.plugins.flow.commands:print_graphs"},
        "names": {"list_graphs": "ithaca.plugins.flow.commands:list_graphs"},
    }
)
