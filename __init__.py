"""Ithaca: proven-best hardware configurations for tensor programs.

Light to import: what the functions need is imported when one is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ithaca.api.answers import NetworkResult, Result, load
    from ithaca.api.evaluating import Points, evaluate
    from ithaca.api.explaining import Words, explain
    from ithaca.api.exporting import export
    from ithaca.api.fronts import Front, pareto
    from ithaca.api.grids import Grid, grid
    from ithaca.api.networks import network
    from ithaca.api.refining import refine
    from ithaca.api.reporting import report
    from ithaca.api.seeding import seed
    from ithaca.api.simulating import simulate
    from ithaca.api.solving import solve
    from ithaca.api.studies import Study, whatif
    from ithaca.api.verifying import Verification, verify
    from ithaca.workloads.errors import DisagreementError, InputError, NothingFoundError

__version__ = "0.1.0"

#: Where the names are.
_HOMES = {
    "DisagreementError": "workloads.errors",
    "Front": "api.fronts",
    "Grid": "api.grids",
    "InputError": "workloads.errors",
    "NothingFoundError": "workloads.errors",
    "NetworkResult": "api.answers",
    "Result": "api.answers",
    "Study": "api.studies",
    "Verification": "api.verifying",
    "Words": "api.explaining",
    "Points": "api.evaluating",
    "evaluate": "api.evaluating",
    "explain": "api.explaining",
    "export": "api.exporting",
    "grid": "api.grids",
    "load": "api.answers",
    "network": "api.networks",
    "pareto": "api.fronts",
    "refine": "api.refining",
    "report": "api.reporting",
    "seed": "api.seeding",
    "simulate": "api.simulating",
    "solve": "api.solving",
    "verify": "api.verifying",
    "whatif": "api.studies",
}

__all__ = [
    "DisagreementError",
    "Front",
    "Grid",
    "InputError",
    "NetworkResult",
    "NothingFoundError",
    "Points",
    "Result",
    "Study",
    "Verification",
    "Words",
    "__version__",
    "evaluate",
    "explain",
    "export",
    "grid",
    "load",
    "network",
    "pareto",
    "refine",
    "report",
    "seed",
    "simulate",
    "solve",
    "verify",
    "whatif",
]


def __getattr__(name: str) -> Any:
    """What is first asked for by its name."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ithaca' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"ithaca.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
