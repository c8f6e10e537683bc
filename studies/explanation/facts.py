"""All facts about one configuration that need no further search."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.studies.explanation.binding import Binding, binding
from ithaca.studies.explanation.cycles import Cycles, cycles
from ithaca.studies.explanation.padding import Padding, padding
from ithaca.studies.explanation.roofs import Roofs, roofs
from ithaca.studies.explanation.slack import LimitUse, limit_uses


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a configuration.

    Attributes
    ----------
    value : Fraction
        The objective.
    binding : Binding
        What the main phase lasts for.
    cycles : Cycles
        Where the cycles go.
    padding : Padding
        Iterations beyond the nest's.
    limits : tuple of LimitUse
        What is left of the limits, the least first.
    roofs : Roofs
        Latencies no tiling can be below.
    """

    value: Fraction
    binding: Binding
    cycles: Cycles
    padding: Padding
    limits: tuple[LimitUse, ...]
    roofs: Roofs


def facts(problem: Problem, tiling: Tiling) -> Facts:
    """Compute all facts about a configuration, by the exact reference."""
    costs = problem.costs(tiling)
    return Facts(
        problem.value(costs),
        binding(costs),
        cycles(problem.nest, costs),
        padding(problem.nest, costs),
        limit_uses(problem, costs),
        roofs(problem, costs),
    )
