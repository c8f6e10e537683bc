"""The terms of a question: what follows from its objectives and limits alone, whatever the design.

Thousands of problems of a network share them, so they are worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ithaca.files.messages import quoted
from ithaca.formulations.algebra.domains import all_divisors
from ithaca.formulations.algebra.expression import Expression

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit, Objective, Problem


@dataclass(frozen=True, eq=False)
class Terms:
    """Objectives in order, and limits."""

    stated: tuple[tuple[str, Objective | Limit], ...]
    """All of them, with what error lines call each."""
    expressions: tuple[tuple[str, Expression], ...]
    """The first objective, and limits: what error lines call each, and as it was read."""

    @cached_property
    def divisors(self) -> tuple[tuple[str, tuple[Expression, ...]], ...]:
        """All that each divides by, also of next objectives, and where an expression cancels it;
        those that divide by nothing are left out."""
        each = ((what, (*x.divisors, *all_divisors(x.expression))) for what, x in self.stated)
        return tuple((what, divisors) for what, divisors in each if divisors)

    @cached_property
    def spoken(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """The names that each of them speaks of, and those of the objectives that come next."""
        return tuple(
            (what, each.expression.symbols.union(*(d.symbols for d in each.divisors)))
            for what, each in self.stated
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that any of them speaks of."""
        return frozenset[str]().union(*(names for _, names in self.spoken))

    @cached_property
    def used_metrics(self) -> frozenset[str]:
        """The metrics that objective and limits speak of."""
        return frozenset[str]().union(*(expression.symbols for _, expression in self.expressions))


def terms_of(problem: Problem) -> Terms:
    """The terms of a problem."""
    objectives = problem.objective.order
    # objectives and limits are equal whatever they divide by
    divisors = (*(x.divisors for x in objectives), *(x.divisors for x in problem.limits))
    return _terms(objectives, problem.limits, divisors)


@lru_cache(maxsize=256)
def _terms(
    objectives: tuple[Objective, ...],
    limits: tuple[Limit, ...],
    divisors: tuple[tuple[Expression, ...], ...],
) -> Terms:
    own: list[tuple[str, Objective | Limit]]
    own = [(f"objective: {quoted(each.text)}", each) for each in objectives]
    bounds: list[tuple[str, Objective | Limit]]
    bounds = [(f"limit: {quoted(each.metric)}", each) for each in limits]
    limited = [(what, each.expression) for what, each in bounds]
    return Terms((*own, *bounds), ((own[0][0], objectives[0].expression), *limited))
