"""The number systems the cost model can be evaluated in.

The model is plain arithmetic. The few operations that differ between systems (constants,
ceiling division, maximum, minimum) come from one of the objects below:

=================  ==============================  ================================================
object             numbers                         what it is for
=================  ==============================  ================================================
`FRACTION`         `fractions.Fraction`            the exact reference that verifies all others
`RATIONAL_ARRAYS`  `rational_arrays.Rationals`     the same for many points at once
`NUMPY`            NumPy arrays or floats, or      scores many candidates at once; NumPy's ufuncs
                   `xarray.DataArray`              dispatch to labelled grids, broadcast by name
`INTERVAL`         `Interval`                      bounds whole regions
`SYMBOLIC`         `Expression`                    writes the metrics down as expressions
=================  ==============================  ================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.interval import Interval, as_interval, greatest, least

#: Numbers of one system by name: of quantities or metrics, of loops, of tensors.
NumbersByName: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Folded:
    """An operation on two numbers, on one or more; whoever is handed one can hand it on to another
    process, which takes no lambda."""

    operation: Callable[[Any, Any], Any]
    """The operation."""

    def __call__(self, *values: Any) -> Any:
        return reduce(self.operation, values)


@dataclass(frozen=True, slots=True)
class NumberSystem:
    """The operations in which number systems differ.

    ``number`` converts an exact rational constant, ``ceil_div`` is ``ceil(a / b)`` for ``b > 0``;
    ``maximum``, ``minimum`` and ``total``, the sum, take one or more numbers, entrywise for arrays.
    ``square`` is closer than a product of equal numbers; None where it is not.
    """

    name: str
    number: Callable[[Fraction], Any]
    ceil_div: Callable[[Any, Any], Any]
    maximum: Callable[..., Any]
    minimum: Callable[..., Any]
    total: Callable[..., Any] = Folded(add)
    square: Callable[[Any], Any] | None = None


def exactly(values: Mapping[str, int | Fraction]) -> dict[str, Fraction]:
    """Numbers by name, exactly: a configuration for the reference."""
    return {name: Fraction(value) for name, value in values.items()}


def _float_or_int(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _ceil_div(a: Any, b: Any) -> Any:
    return -((-a) // b)


def ceilings(tops: Floats | float, bottoms: Floats | float) -> Floats:
    """Ceilings of quotients of whole numbers, many times as fast as by floored division.

    None is above the exact one: whole numbers are doubles, and rounding keeps order. Below 2**53 a
    top is not just above a multiple of its bottom either: quotients that are not whole differ from
    whole ones by more than rounding.
    """
    whole: Floats = np.ceil(np.divide(tops, bottoms))
    return whole


def _ceil_div_interval(a: Any, b: Any) -> Interval:
    top, bottom = as_interval(a), as_interval(b)
    if np.any(bottom.low <= 0):
        raise ZeroDivisionError(
            f"ceiling division by the interval [{bottom.low}, {bottom.high}], which is not positive"
        )
    lows = least(_ceil_div(top.low, bottom.low), _ceil_div(top.low, bottom.high))
    highs = greatest(_ceil_div(top.high, bottom.low), _ceil_div(top.high, bottom.high))
    return Interval(lows, highs)


def _interval_extreme(pick: Callable[..., Any]) -> Callable[..., Interval]:
    def extreme(*values: Any) -> Interval:
        intervals = [as_interval(v) for v in values]
        return Interval(pick(*(i.low for i in intervals)), pick(*(i.high for i in intervals)))

    return extreme


def _interval_square(value: Any) -> Interval | None:
    """The square of an interval that has 0 within, which a product would take below 0."""
    span = as_interval(value)
    within = (span.low < 0) & (span.high > 0)
    if not np.any(within):
        return None
    ends = span.low * span.low, span.high * span.high
    low = np.where(within, 0, least(*ends)) if isinstance(within, np.ndarray) else Fraction(0)
    return Interval(low, greatest(*ends))


def _ceil_div_fraction(a: Any, b: Any) -> Fraction:
    return Fraction(_ceil_div(a, b))


FRACTION = NumberSystem("fraction", Fraction, _ceil_div_fraction, Folded(max), Folded(min))
NUMPY = NumberSystem("numpy", _float_or_int, _ceil_div, Folded(np.maximum), Folded(np.minimum))
INTERVAL = NumberSystem(
    "interval",
    as_interval,
    _ceil_div_interval,
    _interval_extreme(greatest),
    _interval_extreme(least),
    square=_interval_square,
)
