"""Arrays of exact rationals: the reference for many points, or columns of tables, at once.

Numerators and denominators are NumPy arrays of Python integers, which neither round nor overflow,
or single integers where all entries agree. Fractions are never reduced on the way: that costs more
than the longer integers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    """Exact rationals ``over / under``, entry by entry, with the arithmetic that expressions need;
    ``under`` is positive."""

    over: Integers
    under: Integers = 1

    @staticmethod
    def of(values: Iterable[int | Fraction]) -> Rationals:
        """An array of given numbers."""
        ratios = [(int(v.numerator), int(v.denominator)) for v in values]
        over, under = np.array(ratios, object).reshape(-1, 2).T
        return Rationals(over, under if (under != 1).any() else 1)

    def __add__(self, other: Rationals | int) -> Rationals:
        a, b, under = _aligned(self, _rationals(other))
        return Rationals(a + b, under)

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
        """Quotients; raises `ZeroDivisionError` if any divisor is 0."""
        divisor = _rationals(other)
        if np.any(divisor.over == 0):
            raise ZeroDivisionError("a column divides by 0")
        if np.any(divisor.over < 0):
            return (
                self
                * Rationals(np.sign(np.asarray(divisor.over, object)))
                / Rationals(abs(divisor.over), divisor.under)
            )
        return Rationals(_times(self.over, divisor.under), _times(self.under, divisor.over))

    def __rtruediv__(self, other: int) -> Rationals:
        return _rationals(other) / self

    def __ge__(self, other: Rationals | int) -> NDArray[np.bool_]:
        return np.asarray((self - other).over >= 0, dtype=bool)

    def entries(self, count: int) -> list[tuple[int, int]]:
        """Numerator and denominator of every one of ``count`` entries, in lowest terms or not."""
        over, under = (
            np.broadcast_to(np.asarray(v, object), (count,)).tolist()
            for v in (self.over, self.under)
        )
        return list(zip(over, under, strict=True))

    def over_one_denominator(self, count: int) -> tuple[NDArray[np.object_], int]:
        """Numerators of ``count`` entries over one common denominator."""
        over, under = (
            np.broadcast_to(np.asarray(v, object), (count,)) for v in (self.over, self.under)
        )
        if isinstance(self.under, int) or not count:
            return over, self.under if isinstance(self.under, int) else 1
        shared = np.gcd(over, under)
        common = int(np.lcm.reduce(under // shared))
        return over // shared * (common // (under // shared)), common


def _rationals(number: Rationals | int) -> Rationals:
    return number if isinstance(number, Rationals) else Rationals(number)


def _one(value: Integers) -> bool:
    return isinstance(value, int) and value == 1


def _times(a: Integers, b: Integers) -> Integers:
    return b if _one(a) else a if _one(b) else a * b


def _aligned(a: Rationals, b: Rationals) -> tuple[Integers, Integers, Integers]:
    """Numerators of both over denominators they share, and these."""
    if a.under is b.under:
        return a.over, b.over, a.under
    return _times(a.over, b.under), _times(b.over, a.under), _times(a.under, b.under)


def _ceil_div(a: Rationals | int, b: Rationals | int) -> Rationals:
    quotient = _rationals(a) / b
    return quotient if _one(quotient.under) else Rationals(-(-quotient.over // quotient.under))


def _extreme(pick: Callable[..., Any]) -> Callable[..., Rationals]:
    def pair(one: Rationals, other: Rationals) -> Rationals:
        a, b, under = _aligned(one, other)
        # as objects: NumPy's own integers overflow
        return Rationals(pick(np.asarray(a, object), np.asarray(b, object)), under)

    return lambda *values: reduce(pair, map(_rationals, values))


#: The number system of `Rationals`.
RATIONAL_ARRAYS = NumberSystem(
    "rational arrays",
    lambda value: Rationals(value.numerator, value.denominator),
    _ceil_div,
    _extreme(np.maximum),
    _extreme(np.minimum),
)
