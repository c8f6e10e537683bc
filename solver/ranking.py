"""The order among configurations of equal objective: numbers, compared one after the other.

A design states what it prefers among them (`Design.preferences`): smaller numbers are better. What
they leave equal the space decides: the smallest values of its free quantities, the first of them
first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    Constant,
    Expression,
    Symbols,
    add,
    multiply,
)
from ithaca.formulations.algebra.number_systems import FRACTION, exactly
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Space
from ithaca.solver.tables.configurations import configuration_of, exact_quantities
from ithaca.solver.tables.table import CandidateTable

#: Values of a part of the order stay below this, so that floats tell neighbours apart (`cutoff`).
MOST_CODES = 1 << 30


class Ranking:
    """The configurations of a value in order, and the first that is known of them."""

    def __init__(self, problem: Problem, value: Fraction) -> None:
        self.problem, self.value = problem, value
        self.incumbent: Configuration | None = None
        self._objective = problem.symbolic().objective
        self._preferences = problem.design.preferences(Symbols(), SYMBOLIC) or ()
        #: The numbers to compare by, over quantities: what equals the objective tells nothing
        #: apart.
        self.keys: list[Expression] = [
            key for key in self._preferences if key is not None and self._tells(key)
        ]
        self.keys += order(problem.space)
        #: What must be undercut, one number after the other.
        self.best: tuple[Any, ...] = (inf,) * len(self.keys)

    def _tells(self, key: Expression) -> bool:
        return key != self._objective

    def offer(self, configuration: Configuration) -> None:
        """Take a configuration as incumbent if the reference confirms that it is preferred."""
        if self.problem.feasible_value(configuration) == self.value:
            values = exactly(configuration)
            keys = tuple(Fraction(key.evaluate(values, FRACTION)) for key in self.keys)
            if keys < self.best:
                self.incumbent, self.best = configuration, keys

    def first(
        self, tables: Sequence[CandidateTable], rows: NDArray[np.signedinteger]
    ) -> Configuration | None:
        """The preferred one of many configurations, if any has the value and keeps all limits.

        Parameters
        ----------
        tables : sequence of CandidateTable
            The rows of every axis.
        rows : NDArray[np.signedinteger]
            A row of each table, shape (axes, configurations).
        """
        problem, symbolic = self.problem, self.problem.symbolic()
        exact = exact_quantities(problem.space, tables, rows)
        beyond = symbolic.objective.evaluate(exact, RATIONAL_ARRAYS) - _rational(self.value)
        kept = np.array([not over for over, _ in beyond.entries(rows.shape[1])], bool)
        rules = [(expression, Fraction(0)) for expression in problem.space.inequalities]
        for used, bound in (*symbolic.constraints, *rules):
            kept &= _rational(bound) >= used.evaluate(exact, RATIONAL_ARRAYS)
        rows = rows[:, kept]
        for key in self.keys:
            if rows.shape[1] < 2:
                break
            exact = exact_quantities(problem.space, tables, rows)
            number: Rationals = key.evaluate(exact, RATIONAL_ARRAYS)
            order, _ = number.over_one_denominator(rows.shape[1])
            rows = rows[:, order == order.min()]
        if not rows.shape[1]:
            return None
        return configuration_of(problem.space, tables, rows[:, 0].tolist())

    def limit(self, rival: tuple[Any, ...], *, equal: bool) -> None:
        """Ask only for what is preferred to a rival; what one of both does not say is the worst."""
        best: list[Any] = []
        for own, other in zip(self._preferences, rival, strict=True):
            if (own is None) != (other is None):
                equal = other is None
                break
            if own is not None and self._tells(own):
                best.append(other)
        self.best = (*best, *(inf,) * (len(self.keys) - len(best))) if equal else tuple(best)


def _rational(number: Fraction) -> Rationals:
    return Rationals(number.numerator, number.denominator)


def order(space: Space) -> Iterator[Expression]:
    """The order of a space's configurations as numbers to compare one after the other: digits are
    the free quantities.

    Each number is of one axis, and positive: it is far from 0, so that trees are split by what
    decides first.
    """
    free = {quantity.name for quantity in space.free}
    for axis in space.axes:
        digits: list[tuple[Expression, int]] = []
        for quantity in (*(q for q in axis.quantities if q.name in free), None):
            radix = 1 if quantity is None else axis.ranges[quantity.name][1] + 1
            if digits and (quantity is None or prod(r for _, r in digits) * radix > MOST_CODES):
                yield _code(digits)
                digits = []
            if quantity is not None:
                digits.append((quantity.symbol, radix))


def _code(digits: Sequence[tuple[Expression, int]]) -> Expression:
    weight, terms = 1, list[Expression]()
    for digit, radix in reversed(digits):
        terms.append(multiply(weight, digit))
        weight *= radix
    return add(*terms, Constant(Fraction(16 * weight)))
