"""The engines by name. Each is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.solution import Solution


class NotExpressibleError(InputError):
    """The refusal of an engine: a problem is more than it can hold exactly."""


class Method(StrEnum):
    """A method of the core's own that solves a problem; `ENGINES` has those of plug-ins, too."""

    AUTO = "auto"
    """Exact search; if it takes long, relaxations bound and seed it, and other provers take over at
    the end."""
    EXACT = "exact"
    """Branch and bound over candidate tables."""
    STAGED = "staged"
    """Inner choices with a bound for all outer ones, completed best first: of designs that offer
    it, where auto takes it."""
    ENUMERATION = "enumeration"
    """All rows, hardware first, bounded by interval arithmetic."""


#: Engines of plug-ins that prove optimality by themselves; each takes a known bound as well.
PROVERS: Registry[Callable[..., Solution]] = Registry("provers")


class Engine(Protocol):
    """The signature of all engines."""

    def __call__(
        self,
        problem: Problem,
        options: SolveOptions | None = None,
        report: Report | None = None,
        start: Configuration | None = None,
    ) -> Solution:
        """Solve a problem, and return its best configuration with a certificate.

        Parameters
        ----------
        problem : Problem
            Design, limits, objective.
        options : SolveOptions, optional
            Time limit, gap, interruption. Without them the search runs to its end.
        report : callable, optional
            Receives the state of the search now and then.
        start : Configuration, optional
            A known configuration to improve on; ignored if it is not in the design space or breaks
            a limit.
        """


#: The engines by the names of the methods.
ENGINES: Registry[Engine] = Registry("engines")


def proving() -> list[str]:
    """The methods that prove optimality by themselves, each in its own way."""
    return [Method.EXACT, Method.ENUMERATION, *PROVERS]


def engine(method: str) -> Engine:
    """The engine of a method."""
    return ENGINES[method]
