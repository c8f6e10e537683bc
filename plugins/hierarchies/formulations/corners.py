"""Least values of objectives and limits over boxes of metrics, for many boxes at once."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.monotonicity import trends
from ithaca.formulations.algebra.number_systems import INTERVAL, NUMPY, NumbersByName, NumberSystem
from ithaca.formulations.algebra.rounding import ROUNDING as MARGIN
from ithaca.formulations.algebra.rounding import all_below, loosened, magnitude, subtracts
from ithaca.formulations.problem import Problem

#: Larger than any metric, and small enough for products of a few of them.
HUGE = 1e60

_FLOAT_INTERVAL = NumberSystem(
    "float interval",
    lambda value: Interval(float(value), float(value)),
    INTERVAL.ceil_div,
    INTERVAL.maximum,
    INTERVAL.minimum,
)


class Corners:
    """The objective of a problem, and its limits, as bounds.

    An expression that never falls with some metrics, and never rises with the others, is least in a
    corner of every box. Other expressions are evaluated in intervals. Bounds are lowered by more
    than their rounding.
    """

    def __init__(self, problem: Problem, whole: float = 0.0) -> None:
        """``whole``: up to here metrics are whole numbers, known exactly."""
        objective, *limits = problem.guarded
        self._objective = _Corner(objective, whole)
        self._limits = [
            (_Corner(expression, whole), loosened(limit.bound))
            for expression, limit in zip(limits, problem.limits, strict=True)
        ]

    def least(self, low: NumbersByName, high: NumbersByName) -> Floats:
        """No point of a box has a smaller objective and meets the limits; infinite where none meets
        them.

        Metrics lie between ``low`` and ``high``, arrays or numbers; those without an upper end are
        below `HUGE`.
        """
        bounds = self._objective(low, high)
        for limit, bound in self._limits:
            bounds = np.where(limit(low, high) > bound, inf, bounds)
        return np.asarray(bounds, dtype=float)


class _Corner:
    """The least value of an expression over boxes."""

    def __init__(self, expression: Expression, whole: float) -> None:
        self._expression = expression
        self._whole = whole if isinstance(expression, Symbol) else 0.0
        spans = {name: Interval(Fraction(0), Fraction(HUGE)) for name in expression.symbols}
        directions = trends(expression, spans)
        self._trends = {name: directions.get(Symbol(name), 0) for name in expression.symbols}
        self._error = magnitude(expression) if subtracts(expression) else None

    def __call__(self, low: NumbersByName, high: NumbersByName) -> Floats:
        ends = {name: (low.get(name, 0.0), high.get(name, HUGE)) for name in self._trends}
        if all(self._trends.values()):
            corner = {
                name: np.asarray(ends[name][trend < 0], dtype=float)
                for name, trend in self._trends.items()
            }
            least = self._less(self._expression.evaluate(corner, NUMPY), corner)
            return np.where(least < self._whole, least, all_below(least))
        box = {
            name: Interval(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
            for name, (a, b) in ends.items()
        }
        try:
            least = as_interval(self._expression.evaluate(box, _FLOAT_INTERVAL)).low
        except ZeroDivisionError:
            return np.full(np.shape(next(iter(box.values())).low), -inf)
        return all_below(
            self._less(least, {name: np.asarray(b, dtype=float) for name, (_, b) in ends.items()})
        )

    def _less(self, value: Any, values: NumbersByName) -> Floats:
        """A value lowered by the rounding of what it subtracts; an infinite one, where nothing
        fits, stays."""
        lowered = np.asarray(value, dtype=float)
        if self._error is None:
            return lowered
        error = MARGIN * np.asarray(self._error.evaluate(values, NUMPY), dtype=float)
        return lowered - np.where(np.isinf(lowered), 0.0, error)
