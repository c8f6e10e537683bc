"""Mappings onto memory hierarchies."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.hierarchies"

PLUGIN = Plugin(
    {
        "families": {
            "spatial": "ithaca.plugins.hierarchies.formulations.family:SPATIAL",
        },
        "question kinds": {
            "spatial": "ithaca.plugins.hierarchies.formulations.options:KIND",
        },
        "questions": {
            "spatial": "ithaca.plugins.hierarchies.formulations.question:MappingQuestion",
        },
        "accelerators": {
            "spatial": "ithaca.plugins.hierarchies.formulations.accelerator:HIERARCHIES",
        },
        "network documents": {
            "spatial": "ithaca.plugins.hierarchies.results.networks",
        },
        "report sections": {
            "spatial": "ithaca.plugins.hierarchies.exports.report",
        },
        "tools": {
            "timeloop": "ithaca.plugins.hierarchies.exports.timeloop.folder:TIMELOOP",
            "instructions": "ithaca.plugins.hierarchies.exports.instructions.folder:INSTRUCTIONS",
            "gemmini": "ithaca.plugins.hierarchies.exports.gemmini.folder:GEMMINI",
            "tensorlib": "ithaca.plugins.hierarchies.exports.tensorlib.folder:TENSORLIB",
        },
        "tools of families": {"spatial timeloop": f"{_HERE}.exports.timeloop.hierarchy:MAPPINGS"},
        "points": {
            "spatial": "ithaca.plugins.hierarchies.commands.points",
        },
        "readers": {
            "layers": "ithaca.plugins.hierarchies.commands.layers:read_layers",
        },
        "schemas": {"layers": "ithaca.commands.schemas:layers"},
        "lists": {
            "architectures": "ithaca.plugins.hierarchies.commands.lists:print_architectures",
        },
        "commands": {
            "map": "ithaca.plugins.hierarchies.commands.map:map",
            "timeloop-mapper": f"{_HERE}.commands.timeloop_mapper:timeloop_mapper",
            "estimate": "ithaca.plugins.hierarchies.commands.estimate:estimate",
        },
        "names": {
            "Architecture": "ithaca.plugins.hierarchies.formulations.architecture:Architecture",
            "estimate": "ithaca.plugins.hierarchies.commands.estimating:estimate",
            "list_architectures": "ithaca.plugins.hierarchies.commands.lists:list_architectures",
            "map": "ithaca.plugins.hierarchies.commands.mapping:map",
            "timeloop_mapper": "ithaca.plugins.hierarchies.commands.mapper:timeloop_mapper",
        },
    },
    {
        "map": "Find the best mapping onto memories, and prove it.",
        "timeloop-mapper": "Map as Timeloop's mapper does, from its files, proven.",
        "estimate": "Estimate the energies of an architecture's components.",
    },
)
