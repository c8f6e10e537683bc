"""Closed intervals: the number system that bounds whole regions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval ``[low, high]``.

    End points are Fractions or whole numbers (exact), or NumPy arrays (one interval per entry).
    With Fractions every operation returns the tightest interval that contains all results.
    """

    low: Any
    high: Any

    def __add__(self, other: Any) -> Interval:
        that = as_interval(other)
        return Interval(self.low + that.low, self.high + that.high)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Any) -> Interval:
        return self + -as_interval(other)

    def __rsub__(self, other: Any) -> Interval:
        return as_interval(other) - self

    def __mul__(self, other: Any) -> Interval:
        that = as_interval(other)
        if _nonnegative(self.low) and _nonnegative(that.low):
            return Interval(self.low * that.low, self.high * that.high)
        corners = (
            self.low * that.low,
            self.low * that.high,
            self.high * that.low,
            self.high * that.high,
        )
        return Interval(least(*corners), greatest(*corners))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        that = as_interval(other)
        if _nonnegative(self.low) and _nonnegative(that.low) and np.all(that.low):
            return Interval(self.low * _reciprocal(that.high), self.high * _reciprocal(that.low))
        if np.any((that.low <= 0) & (that.high >= 0)):
            raise ZeroDivisionError(
                f"division by the interval [{that.low}, {that.high}], which contains 0"
            )
        return self * Interval(_reciprocal(that.high), _reciprocal(that.low))

    def __rtruediv__(self, other: Any) -> Interval:
        return as_interval(other) / self

    def __contains__(self, value: Any) -> bool:
        return bool(self.low <= value <= self.high)


def _nonnegative(value: Any) -> bool:
    """Whether numbers are not negative, as most are: then no corners are compared."""
    if isinstance(value, Fraction | int):
        return value.numerator >= 0
    if isinstance(value, float):
        return value >= 0
    return isinstance(value, np.ndarray) and bool(np.min(value, initial=0) >= 0)


def _reciprocal(value: Any) -> Any:
    # a quotient of whole numbers would be a double, which may lie on either side of the exact one
    return Fraction(1, value) if isinstance(value, int) else 1 / value


def as_interval(value: Any) -> Interval:
    """Wrap a number as a degenerate interval; intervals pass through."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, int):
        value = Fraction(value)
    return Interval(value, value)


def least(*values: Any) -> Any:
    """Entrywise smallest value of numbers or arrays."""
    result = values[0]
    for value in values[1:]:
        either_array = isinstance(result, np.ndarray) or isinstance(value, np.ndarray)
        result = np.minimum(result, value) if either_array else min(result, value)
    return result


def greatest(*values: Any) -> Any:
    """Entrywise largest value of numbers or arrays."""
    result = values[0]
    for value in values[1:]:
        either_array = isinstance(result, np.ndarray) or isinstance(value, np.ndarray)
        result = np.maximum(result, value) if either_array else max(result, value)
    return result
