"""Ithaca: proven-best hardware configurations for tensor programs.

Light to import: what the functions need is imported when one is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Where the names are; `__init__.pyi` says what they are to those who check types.
_HOMES = {
    "Certificate": "results.certificate",
    "CodesignResult": "api.codesign_result",
    "CodesignStudy": "api.codesign_study",
    "DisagreementError": "workloads.errors",
    "Front": "api.fronts",
    "Grid": "api.grids",
    "InputError": "workloads.errors",
    "LoopNest": "workloads.nest",
    "Matches": "api.matching",
    "NetworkResult": "api.answers",
    "NothingFoundError": "workloads.errors",
    "Platform": "formulations.platform",
    "Points": "api.evaluating",
    "Result": "api.answers",
    "Simulation": "api.simulating",
    "Solution": "results.solution",
    "Status": "results.certificate",
    "Study": "api.studies",
    "Verification": "api.verifying",
    "Words": "api.explaining",
    "codesign": "api.codesign",
    "evaluate": "api.evaluating",
    "explain": "api.explaining",
    "export": "api.exporting",
    "grid": "api.grids",
    "list_architectures": "api.lists",
    "list_designs": "api.lists",
    "list_networks": "api.lists",
    "list_platforms": "api.lists",
    "list_spaces": "api.lists",
    "list_workloads": "api.lists",
    "load": "api.loading",
    "map": "api.mapping",
    "match": "api.matching",
    "nest": "api.nests",
    "network": "api.networks",
    "pareto": "api.fronts",
    "refine": "api.refining",
    "report": "api.reporting",
    "seed": "api.seeding",
    "simulate": "api.simulating",
    "solve": "api.solving",
    "solve_pyomo": "solver.cpsat.from_pyomo",
    "verify": "api.verifying",
    "whatif": "api.studies",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """What is first asked for by its name."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ithaca' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ithaca.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
