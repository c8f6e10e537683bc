"""Arrays of exact rationals: the reference for many points at once.

Numerators and denominators are NumPy arrays of Python integers, which no size limits, or single integers where all entries
agree. Fractions are never reduced on the way: that costs more than the longer integers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import NumberSystem

#: An array of Python integers, or one that holds for all entries.
Integers: TypeAlias = Any


@dataclass(frozen=True, slots=True, eq=False)
class Rationals:
    """Exact rationals, entry by entry, with the arithmetic that expressions need.

    Attributes
    ----------
    over, under : array of int, or int
        Numerators, and denominators, which are positive.
    """

    over: Integers
    under: Integers = 1

    @staticmethod
    def of(values: Sequence[int | Fraction]) -> Rationals:
        """An array of given numbers."""
        over, under = [v.numerator for v in values], [v.denominator for v in values]
        return Rationals(_integers(over), _integers(under) if any(d != 1 for d in under) else 1)

    def __add__(self, other: Rationals | int) -> Rationals:
        added = _rationals(other)
        if _one(self.under) and _one(added.under):
            return Rationals(self.over + added.over)
        over = _times(self.over, added.under) + _times(added.over, self.under)
        return Rationals(over, _times(self.under, added.under))

    __radd__ = __add__

    def __sub__(self, other: Rationals | int) -> Rationals:
        return self + -_rationals(other)

    def __rsub__(self, other: int) -> Rationals:
        return -self + other

    def __neg__(self) -> Rationals:
        return Rationals(-self.over, self.under)

    def __mul__(self, other: Rationals | int) -> Rationals:
        factor = _rationals(other)
        return Rationals(_times(self.over, factor.over), _times(self.under, factor.under))

    __rmul__ = __mul__

    def __truediv__(self, other: Rationals | int) -> Rationals:
        """Quotients; divisors are positive."""
        divisor = _rationals(other)
        return Rationals(_times(self.over, divisor.under), _times(self.under, divisor.over))

    def __rtruediv__(self, other: int) -> Rationals:
        return _rationals(other) / self

    def __ge__(self, other: Rationals | int) -> NDArray[np.bool_]:
        return np.asarray((self - other).over >= 0, dtype=bool)

    def entries(self, count: int) -> list[tuple[int, int]]:
        """Numerator and denominator of every one of ``count`` entries, in lowest terms or not."""
        over, under = (np.broadcast_to(np.asarray(v, object), (count,)).tolist() for v in (self.over, self.under))
        return list(zip(over, under, strict=True))


def _integers(values: Sequence[int]) -> Integers:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _rationals(number: Rationals | int) -> Rationals:
    return number if isinstance(number, Rationals) else Rationals(number)


def _one(value: Integers) -> bool:
    return isinstance(value, int) and value == 1


def _times(a: Integers, b: Integers) -> Integers:
    return b if _one(a) else a if _one(b) else a * b


def _ceil_div(a: Rationals | int, b: Rationals | int) -> Rationals:
    quotient = _rationals(a) / b
    return quotient if _one(quotient.under) else Rationals(-(-quotient.over // quotient.under))


def _larger(a: Rationals, b: Rationals) -> Rationals:
    return _chosen(a >= b, a, b)


def _smaller(a: Rationals, b: Rationals) -> Rationals:
    return _chosen(b >= a, a, b)


def _chosen(first: NDArray[np.bool_], a: Rationals, b: Rationals) -> Rationals:
    def pick(x: Integers, y: Integers) -> Integers:
        if isinstance(x, int) and isinstance(y, int) and x == y:
            return x
        return np.where(first, np.asarray(x, object), np.asarray(y, object))

    return Rationals(pick(a.over, b.over), pick(a.under, b.under))


#: The number system of `Rationals`.
RATIONAL_ARRAYS = NumberSystem(
    "rational arrays",
    lambda value: Rationals(value.numerator, value.denominator),
    _ceil_div,
    lambda *values: reduce(_larger, map(_rationals, values)),
    lambda *values: reduce(_smaller, map(_rationals, values)),
)
