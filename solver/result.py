"""A result: what one ``ithaca solve`` answers, or its file holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ithaca.formulations.family import Profile
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.solver.certificate import Certificate
from ithaca.solver.solution import Solution


@dataclass(frozen=True)
class Unrestricted:
    """The answer of the same question where configurations need not be such as a compiler
    builds."""

    value: Fraction
    """The least objective found."""
    certificate: Certificate
    """What is proven of it."""
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    """Of one workload: what was solved, one per design."""


@dataclass(frozen=True)
class Result:
    """The answer of a solve over one or more designs, alike in all but what tells designs apart."""

    platform_name: str
    """The platform the limits come from."""
    best: Solution | None
    """The best configuration of all designs; None where none was found."""
    designs: tuple[Solution, ...]
    """One solution per design solved; at least one."""
    unrestricted: Unrestricted | None = None
    """Where the space is restricted to what a compiler builds: what there is without that."""

    @property
    def problem(self) -> Problem:
        """The problem of any of the designs, for what all have in common."""
        return self.designs[0].problem

    @property
    def profile(self) -> Profile[Any]:
        """Facts of any of the designs, for what all have in common."""
        return self.designs[0].profile

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Upper limits on metrics."""
        return self.problem.limits

    @property
    def objective(self) -> Objective:
        """The objective."""
        return self.problem.objective

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The best solution first, then those of the other designs."""
        others = tuple(solution for solution in self.designs if solution != self.best)
        return others if self.best is None else (self.best, *others)
