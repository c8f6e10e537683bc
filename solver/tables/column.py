"""Columns: single-axis expressions on every row of a table.

Bounds take columns as doubles, right to a few units in the last place; dominance asks for their
exact order. Doubles give both as long as every intermediate result is a whole multiple of some step
below 2**53 steps. Where that is not certain (huge coefficients, terms that cancel, ceilings of what
is rounded), columns are computed with Python's integers instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.expression import (
    ZERO,
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    add,
    maximum,
    minimum,
    multiply,
    power,
    walk,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import INTERVAL, NUMPY, NumbersByName
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.algebra.rounding import (
    DISTINCT,
    EXACT,
    ROUNDING,
    cap,
    magnitude,
    subtracts,
)
from ithaca.formulations.space import Axis
from ithaca.solver.tables.granularity import common_divisor, granularity

Rows = Mapping[str, Integers]

#: More rows than this are not ordered with Python's integers: they are kept, undominated or not.
MOST_EXACT = 50_000


@dataclass(frozen=True)
class Column:
    """A single-axis expression and which of its statistics bounds use."""

    index: int
    """Number of the column within the problem."""
    expression: Expression
    """The expression whose values it holds."""
    low: bool
    """Whether bounds use its smallest, its largest value. With ``low`` alone smaller values are
    better, with ``high`` alone larger ones; with both neither is."""
    high: bool
    signed: bool = True
    """Whether it may be negative on some row: bounds are made knowing where it is not."""


class Columns:
    """The columns of one axis' rows."""

    def __init__(self, columns: Sequence[Column], axis: Axis) -> None:
        self.columns = tuple(columns)
        self._powers = axis.powers
        self._known = tuple(axis.ranges.items()), tuple(axis.powers.items())

    def _always(self, expression: Expression) -> bool:
        """Whether doubles are right and in order on all rows there can be: then no rows need be
        looked at."""
        return _is_always_in_order(expression, *self._known)

    @cached_property
    def rounds(self) -> list[bool]:
        """Whether doubles may be more than a few units in the last place off on some rows."""
        return [
            (subtracts(own) or any(isinstance(node, CeilingDivision) for node in walk(own)))
            and not self._always(own)
            for own in (column.expression for column in self.columns)
        ]

    def values(self, rows: Rows, count: int) -> Floats:
        """Values on every row, shape (columns, rows), as doubles that are right to a few units in
        the last place."""
        values, doubles = np.empty((len(self.columns), count)), _doubles(rows)
        for position in range(len(self.columns)):
            values[position] = self._values(position, rows, doubles)
        return values

    def costs(self, rows: Rows, values: Floats) -> list[Floats] | None:
        """Numbers that compare exactly as the columns do, smaller being better; those used both
        ways count in both directions.

        None where that takes too long to find out.
        """
        lows, highs = list[Floats](), list[Floats]()
        for column, own in zip(self.columns, values, strict=True):
            exact = self._always(column.expression)
            order = own if exact else self._order(column.expression, rows, own)
            if order is None:
                return None
            lows += [order] if column.low else []
            highs += [-order] if column.high else []
        return lows + highs

    def _values(self, position: int, rows: Rows, doubles: Mapping[str, Floats]) -> Any:
        expression = self.columns[position].expression
        if (
            self.rounds[position]
            and _count(rows)
            and not _is_exact(expression, doubles, self._powers)
        ):
            exact = _exactly(expression, rows)
            # the nearest doubles: division of Python's integers rounds correctly
            return np.asarray(exact.over / exact.under, np.float64)
        return expression.evaluate(doubles, NUMPY)

    def _order(self, expression: Expression, rows: Rows, values: Floats) -> Floats | None:
        doubles = _doubles(rows)
        if not values.size or _is_in_order(expression, doubles, self._powers):
            return values
        step = granularity(expression, self._powers)
        if step:
            whole = _scaled(expression, 1 / step)
            if _is_exact(whole, doubles, self._powers):
                order = np.asarray(whole.evaluate(doubles, NUMPY), np.float64)
                return np.broadcast_to(order, (values.size,))
        if values.size > MOST_EXACT:
            return None
        exact, _ = _exactly(expression, rows).over_one_denominator(values.size)
        ranks: Floats = np.unique(exact, return_inverse=True)[1].reshape(-1).astype(np.float64)
        return ranks


def _doubles(rows: Rows) -> dict[str, Floats]:
    return {name: values.astype(np.float64) for name, values in rows.items()}


def _count(rows: Rows) -> int:
    return next(iter(rows.values())).size


def _exactly(expression: Expression, rows: Rows) -> Rationals:
    exact: Rationals = expression.evaluate(
        {name: Rationals(rows[name].astype(object)) for name in expression.symbols}, RATIONAL_ARRAYS
    )
    return exact


def _is_exact(expression: Expression, values: NumbersByName, powers: Mapping[str, int]) -> bool:
    """Whether evaluating an expression in doubles rounds nothing, not even in between, for arrays
    or intervals of doubles."""
    limits = _exact_below(expression, tuple(powers.items()))
    return all(_reach(part, values) < largest for part, largest in limits)


@lru_cache(maxsize=1 << 13)
def _exact_below(
    expression: Expression, powers: tuple[tuple[str, int], ...]
) -> tuple[tuple[Expression, float], ...]:
    """Below what magnitude of each of some parts of an expression evaluating it in doubles rounds
    nothing, 0 where it may round in any case. It is asked for every piece of a table."""
    known = dict(powers)
    if not _is_integral(expression, known):
        return ((expression, 0.0),)
    steps = {expression: granularity(expression, known)}
    for node in walk(expression):
        if isinstance(node, CeilingDivision) or cap(node) is not None:
            parts = [part for part in node.children if part != ZERO]
            own = [granularity(part, known) for part in parts]
            # quotients are off a whole number by a step of both parts over the lower one at least
            step = common_divisor(own) if all(own) else Fraction(0)
            steps |= {part: common_divisor((step, steps.get(part, step))) for part in parts}
    # doubles hold whole multiples of powers of two, not of three times 2**53
    return tuple(
        (part, EXACT * (step.numerator & -step.numerator) / step.denominator)
        for part, step in steps.items()
    )


def _is_in_order(expression: Expression, values: NumbersByName, powers: Mapping[str, int]) -> bool:
    """Whether doubles are exact, or quotients of integers so small that different ones are
    different doubles (`DISTINCT`)."""
    if _is_exact(expression, values, powers):
        return True
    if not isinstance(expression, Product) or expression.coefficient != 1:
        return False
    over, under = (
        multiply(*(power(b, s * e) for b, e in expression.factors if s * e > 0)) for s in (1, -1)
    )
    return (
        all(_is_exact(part, values, powers) for part in (over, under))
        and _reach(over, values) * _reach(under, values) < DISTINCT
    )


@lru_cache(maxsize=1 << 12)
def _is_always_in_order(
    expression: Expression,
    ranges: tuple[tuple[str, tuple[int, int]], ...],
    powers: tuple[tuple[str, int], ...],
) -> bool:
    """`_is_in_order` wherever quantities are in their ranges. Designs of one nest ask it of the
    same columns."""
    spans = {name: Interval(float(low), float(high)) for name, (low, high) in ranges}
    return _is_in_order(expression, spans, dict(powers))


def _is_integral(node: Expression, powers: Mapping[str, int]) -> bool:
    """Whether every intermediate value is a whole number over a power of two."""
    if isinstance(node, Constant):
        return node.value.denominator.bit_count() == 1
    if isinstance(node, Product):
        divides = all(
            granularity(power(base, exponent), powers)
            for base, exponent in node.factors
            if exponent < 0
        )
        return (
            divides
            and node.coefficient.denominator.bit_count() == 1
            and all(_is_integral(b, powers) for b, _ in node.factors)
        )
    return all(_is_integral(child, powers) for child in node.children)


def _reach(expression: Expression, values: NumbersByName) -> float:
    """No intermediate result of evaluating an expression is larger, but for parts of minima that
    numbers cap (in doubles, with room for their rounding)."""
    bound = _magnitude_of(expression)
    numbers = INTERVAL if any(isinstance(value, Interval) for value in values.values()) else NUMPY
    with np.errstate(all="ignore"):
        try:
            largest = bound.evaluate(values, numbers)
        except ZeroDivisionError:  # of intervals: doubles are infinite there
            return np.inf
    if isinstance(largest, Interval):
        reached = float(largest.high)
    else:
        reached = float(np.max(np.asarray(largest, np.float64), initial=0.0))
    return np.inf if np.isnan(reached) else reached * (1 + ROUNDING)


@lru_cache(maxsize=1 << 13)
def _magnitude_of(expression: Expression) -> Expression:
    return magnitude(expression, capped=True)


def _scaled(node: Expression, factor: Fraction) -> Expression:
    """An expression times a positive number, multiplied out as far as sums and extrema go."""
    if isinstance(node, Sum):
        return add(*(_scaled(term, factor) for term in node.terms))
    if isinstance(node, Maximum):
        return maximum(*(_scaled(argument, factor) for argument in node.arguments))
    if isinstance(node, Minimum):
        return minimum(*(_scaled(argument, factor) for argument in node.arguments))
    return multiply(factor, node)
