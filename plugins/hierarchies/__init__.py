"""Mappings onto memory hierarchies."""

from __future__ import annotations

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "families": {
            "spatial": "ithaca.formulations.spatial.family:SPATIAL",
        },
        "question kinds": {
            "spatial": "ithaca.formulations.spatial.options:KIND",
        },
        "questions": {
            "spatial": "ithaca.formulations.spatial.question:MappingQuestion",
        },
        "accelerators": {
            "spatial": "ithaca.formulations.spatial.accelerator:HIERARCHIES",
        },
        "network documents": {
            "spatial": "ithaca.results.families.networks.spatial",
        },
        "report sections": {
            "spatial": "ithaca.exports.report.families.spatial",
        },
        "tools": {
            "timeloop": "ithaca.exports.timeloop.folder:TIMELOOP",
            "instructions": "ithaca.exports.instructions.folder:INSTRUCTIONS",
            "gemmini": "ithaca.exports.gemmini.folder:GEMMINI",
            "tensorlib": "ithaca.exports.tensorlib.folder:TENSORLIB",
        },
        "tools of families": {"spatial timeloop": "ithaca.exports.timeloop.hierarchy:MAPPINGS"},
        "points": {
            "spatial": "ithaca.commands.families.spatial.points",
        },
        "readers": {
            "layers": "ithaca.commands.families.spatial.layers:read_layers",
        },
        "schemas": {"layers": "ithaca.commands.schemas:layers"},
        "lists": {
            "architectures": "ithaca.commands.families.spatial.lists:print_architectures",
        },
        "commands": {
            "map": "ithaca.commands.families.spatial.map:map",
            "timeloop-mapper": "ithaca.commands.families.spatial.timeloop_mapper:timeloop_mapper",
            "estimate": "ithaca.commands.families.spatial.estimate:estimate",
        },
        "names": {
            "Architecture": "ithaca.formulations.spatial.architecture:Architecture",
            "estimate": "ithaca.commands.families.spatial.estimating:estimate",
            "list_architectures": "ithaca.commands.families.spatial.lists:list_architectures",
            "map": "ithaca.commands.families.spatial.mapping:map",
            "timeloop_mapper": "ithaca.commands.families.spatial.mapper:timeloop_mapper",
        },
    },
    {
        "map": "Find the best mapping onto memories, and prove it.",
        "timeloop-mapper": "Map as Timeloop's mapper does, from its files, proven.",
        "estimate": "Estimate the energies of an architecture's components.",
    },
)
