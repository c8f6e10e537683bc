"""Mappings onto memory hierarchies."""

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.hierarchies"

PLUGIN = Plugin(
    {
        "families": {"spatial": f"{_HERE}.formulations.family:SPATIAL"},
        "question kinds": {"spatial": f"{_HERE}.formulations.options:KIND"},
        "questions": {"spatial": f"{_HERE}.formulations.question:MappingQuestion"},
        "accelerators": {"spatial": f"{_HERE}.formulations.accelerator:HIERARCHIES"},
        "network documents": {"spatial": f"{_HERE}.results.networks"},
        "passed tiles": {"spatial": f"{_HERE}.studies.tiled_runs:TiledRuns"},
        "report sections": {"spatial": f"{_HERE}.exports.report"},
        "tools": {
            "timeloop": f"{_HERE}.exports.timeloop.folder:TIMELOOP",
            "instructions": f"{_HERE}.exports.instructions.folder:INSTRUCTIONS",
            "gemmini": f"{_HERE}.exports.gemmini.folder:GEMMINI",
            "tensorlib": f"{_HERE}.exports.tensorlib.folder:TENSORLIB",
        },
        "tools of families": {
            "spatial timeloop": f"{_HERE}.exports.timeloop.hierarchy:MAPPINGS",
            **{
                f"spatial {name.lower()}": f"ithaca.exports.programs.folder:{name}"
                for name in ("PYOMO", "NL", "LP", "MPS", "GAMS", "BAR", "LATEX", "PYTHON")
            },
        },
        "points": {"spatial": f"{_HERE}.commands.points"},
        "readers": {
            "match": f"{_HERE}.commands.matching:read_matches",
            "layers": f"{_HERE}.commands.layers:read_layers",
        },
        "schemas": {
            "match": f"{_HERE}.commands.matching:MatchDocument",
            "layers": "ithaca.commands.schemas:layers",
        },
        "lists": {"architectures": f"{_HERE}.commands.lists:print_architectures"},
        "completions": {"intrinsic": f"{_HERE}.formulations.intrinsics:complete"},
        "commands": {
            "match": f"{_HERE}.commands.match:match",
            "map": f"{_HERE}.commands.map:map",
            "timeloop-mapper": f"{_HERE}.commands.timeloop_mapper:timeloop_mapper",
            "estimate": f"{_HERE}.commands.estimate:estimate",
        },
        "names": {
            "Architecture": f"{_HERE}.formulations.architecture:Architecture",
            "Matches": f"{_HERE}.commands.matching:Matches",
            "estimate": f"{_HERE}.commands.estimating:estimate",
            "list_architectures": f"{_HERE}.commands.lists:list_architectures",
            "map": f"{_HERE}.commands.mapping:map",
            "match": f"{_HERE}.commands.matching:match",
            "timeloop_mapper": f"{_HERE}.commands.mapper:timeloop_mapper",
        },
    },
    {
        "match": "List every way to run a workload on an intrinsic.",
        "map": "Find the best mapping onto memories, and prove it.",
        "timeloop-mapper": "Map as Timeloop's mapper does, from its files, proven.",
        "estimate": "Estimate the energies of an architecture's components.",
    },
)
