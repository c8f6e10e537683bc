"""A solution: the best configuration of one design, and what is proven about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.metrics import array_words, metric_values
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate


@dataclass(frozen=True)
class Shortfall:
    """Why a problem is infeasible: a limit that cannot be met.

    Attributes
    ----------
    metric : str
        The metric limited.
    bound : Fraction
        The limit.
    smallest : Fraction
        The smallest value of the limit that could be met.
    others_kept : bool
        Whether ``smallest`` holds with the other limits in force, or with this limit alone.
    proven : bool
        Whether ``smallest`` is proven; otherwise it is a lower bound of it.
    """

    metric: str
    bound: Fraction
    smallest: Fraction
    others_kept: bool
    proven: bool


@dataclass(frozen=True)
class Solution:
    """The best configuration found for one design.

    Attributes
    ----------
    problem : Problem
        What was solved.
    tiling : Tiling or None
        The configuration; None where none was found.
    value : Fraction or None
        Its objective, evaluated by the Fraction reference.
    certificate : Certificate
        What is proven.
    metrics : mapping of str to Fraction
        All metrics of the configuration (units as in `ithaca.formulations.systolic.metrics`).
    words : mapping of str to Fraction
        Off-chip words by array.
    shortfalls : tuple of Shortfall
        Limits that cannot be met, of an infeasible problem.
    """

    problem: Problem
    tiling: Tiling | None
    value: Fraction | None
    certificate: Certificate
    metrics: Mapping[str, Fraction]
    words: Mapping[str, Fraction]
    shortfalls: tuple[Shortfall, ...] = ()


def make_solution(
    problem: Problem, tiling: Tiling | None, certificate: Certificate, shortfalls: tuple[Shortfall, ...] = ()
) -> Solution:
    """Build a solution; value and metrics come from the Fraction reference, never from a solver."""
    if tiling is None:
        return Solution(problem, None, None, certificate, {}, {}, shortfalls)
    costs = problem.costs(tiling)
    words = array_words(problem.array, costs)
    return Solution(problem, tiling, problem.value(costs), certificate, metric_values(costs), words, shortfalls)
