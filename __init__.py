"""Ithaca: proven-best hardware configurations for tensor programs.

Light to import: what the functions need is imported when one is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ithaca.api.answers import Result, load
    from ithaca.api.fronts import Front, pareto
    from ithaca.api.networks import NetworkResult, network
    from ithaca.api.solving import solve
    from ithaca.api.studies import Study, whatif
    from ithaca.workloads.errors import DisagreementError, InputError

__version__ = "0.1.0"

#: Where the names are.
_HOMES = {
    "DisagreementError": "workloads.errors",
    "Front": "api.fronts",
    "InputError": "workloads.errors",
    "NetworkResult": "api.networks",
    "Result": "api.answers",
    "Study": "api.studies",
    "load": "api.answers",
    "network": "api.networks",
    "pareto": "api.fronts",
    "solve": "api.solving",
    "whatif": "api.studies",
}

__all__ = [
    "DisagreementError",
    "Front",
    "InputError",
    "NetworkResult",
    "Result",
    "Study",
    "__version__",
    "load",
    "network",
    "pareto",
    "solve",
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
