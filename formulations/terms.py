"""The terms of a question: what follows from its objectives and limits alone, whatever the design.

Thousands of problems of a network share them, so they are worked out once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from ithaca.files.messages import quoted
from ithaca.formulations.algebra.domains import all_divisors
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.goals import is_requirement


class Stated(Protocol):
    """An objective or a limit."""

    @property
    def expression(self) -> Expression:
        """The expression over metrics."""

    @property
    def divisors(self) -> tuple[Expression, ...]:
        """All that it divides by as it was written."""


@dataclass(frozen=True, eq=False)
class Terms:
    """Objectives in order, and limits."""

    stated: tuple[tuple[str, Stated], ...]
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


@lru_cache(maxsize=256)
def terms_of(
    objectives: tuple[tuple[str, Stated], ...],
    limits: tuple[tuple[str, Stated], ...],
    divisors: tuple[tuple[Expression, ...], ...],
) -> Terms:
    """The terms of objectives in order, and of limits, with their texts.

    Parameters
    ----------
    objectives, limits : tuple
        Each with its text.
    divisors : tuple of tuple of Expression
        The divisors of all of them, which do not tell apart what is equal.
    """
    own = [(f"objective: {quoted(text)}", each) for text, each in objectives]
    kinds = ("limit", "requirement")
    bounds = [(f"{kinds[is_requirement(text)]}: {quoted(text)}", each) for text, each in limits]
    used = ((what, each.expression) for what, each in (own[0], *bounds))
    return Terms((*own, *bounds), tuple(used))
