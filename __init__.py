"""Ithaca: proven-best hardware configurations for tensor programs.

Light to import: what the functions need is imported when one is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ithaca import refine as refine
from ithaca.files import later

__version__ = "0.1.0"

#: Where the names are; `__init__.pyi` says what they are to those who check types.
_HOMES = {
    "Architecture": "formulations.spatial.architecture",
    "Build": "commands.api.building",
    "Certificate": "solver.certificate",
    "CodesignResult": "studies.codesign.result",
    "CodesignStudy": "commands.api.codesign_study",
    "DisagreementError": "files.errors",
    "Front": "studies.front",
    "Grid": "commands.api.grids",
    "HardwareSpace": "formulations.hardware.space",
    "InputError": "files.errors",
    "LoopNest": "workloads.nest",
    "Matches": "commands.api.matching",
    "Network": "workloads.networks.network",
    "NetworkResult": "studies.network.result",
    "NothingFoundError": "files.errors",
    "Platform": "formulations.platform",
    "Points": "commands.families.systolic.points",
    "Result": "solver.result",
    "SearchProgress": "commands.api.live_line",
    "Simulation": "formulations.systolic.simulation.compared",
    "Solution": "solver.solution",
    "Status": "solver.certificate",
    "Study": "studies.whatif",
    "Verification": "files.answer",
    "Words": "files.answer",
    "build": "commands.api.building",
    "codesign": "commands.api.codesign",
    "estimate": "commands.families.spatial.estimating",
    "evaluate": "commands.api.evaluating",
    "explain": "commands.api.explaining",
    "export": "commands.api.exporting",
    "grid": "commands.api.grids",
    "list_architectures": "commands.families.spatial.lists",
    "list_designs": "commands.families.systolic.lists",
    "list_graphs": "commands.api.lists",
    "list_networks": "commands.api.lists",
    "list_platforms": "commands.api.lists",
    "list_spaces": "commands.api.lists",
    "list_workloads": "commands.api.lists",
    "load": "commands.api.loading",
    "map": "commands.families.spatial.mapping",
    "match": "commands.api.matching",
    "nest": "commands.api.nests",
    "network": "commands.api.networks",
    "pareto": "commands.api.fronts",
    "report": "commands.api.reporting",
    "seed": "commands.api.seeding",
    "simulate": "commands.families.systolic.simulating",
    "solve": "commands.api.solving",
    "solve_pyomo": "solver.cpsat.from_pyomo",
    "timeloop_mapper": "commands.families.spatial.mapper",
    "verify": "commands.api.verifying",
    "whatif": "commands.api.studies",
}

#: Where `ithaca.files.later` has the rest from.
_LATER = {
    "MADE": "exports.answers",
    "answer_cell": "exports.report.cell",
    "as_table": "results.datasets",
    "refine": "commands.api.refining",
    "run_chart": "exports.report.families.systolic_timeline",
    "save_plot": "exports.charts.files",
    "simulation_view": "results.families.views.systolic.simulation",
    "solve_evolve": "refine.evolution.engine",
}

__all__ = ["__version__", "refine", *_HOMES]


later.find = lambda name: getattr(import_module(f"ithaca.{(_HOMES | _LATER)[name]}"), name)


def __getattr__(name: str) -> Any:
    """The public object of this name, imported when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ithaca' has no attribute {name!r}")
    own = globals()[name] = later.find(name)
    return own


def __dir__() -> list[str]:
    return sorted(__all__)
