"""Objectives in place of others that order configurations in the same way.

A constant over B, such as throughput, has no grid, and solvers must then follow up every tie. But
−c/B grows with B, and c/B with −B, which have one: minimising those instead finds the same
configurations and proves the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.algebra.expression import multiply
from ithaca.formulations.problem import Objective, Problem
from ithaca.studies.region import Bound
from ithaca.studies.scale import find_scale
from ithaca.studies.wording import wording
from ithaca.workloads.errors import InputError


@dataclass(frozen=True)
class StandIn:
    """An objective that is minimised in place of another one."""

    objective: Objective  #: What is minimised
    #: c, where it is B in place of −c/B (c then given as negative) or −B in place of c/B; None where it is the other objective
    #: itself.
    constant: Fraction | None = None

    def original(self, value: Fraction) -> Fraction | None:
        """The other objective's value at a value of this one; None where that is unbounded."""
        if self.constant is None:
            return value
        under = value if self.constant < 0 else -value
        return self.constant / under if under > 0 else None

    def original_bound(self, bound: Bound | None) -> Bound | None:
        """The same for an upper bound."""
        value = None if bound is None else self.original(bound.value)
        return None if bound is None or value is None else Bound(value, bound.strict)

    def gap(self, gap: float) -> float:
        """A relative gap of this objective that implies one of the other's."""
        return gap if self.constant is None else gap / (1 + gap)


def stand_in(problems: Sequence[Problem], objective: Objective) -> StandIn:
    """What to minimise in place of an objective over several designs: often itself."""
    try:
        scales = [find_scale(problem, objective) for problem in problems]
    except InputError:  # it has no scale, and solvers take it as it is
        return StandIn(objective)
    found = {(s.over_constant, s.under) for s in scales}
    if len(found) > 1 or not scales:
        return StandIn(objective)
    (constant, under) = found.pop()
    if not constant:
        return StandIn(objective)
    other = under if constant < 0 else multiply(-1, under)
    return StandIn(Objective(wording(other), other), constant)
