"""Exact values of single-axis expressions, on all rows of a table at once.

`EXACT_ROWS` is a number system: arrays of Python integers over one common denominator. They
neither round nor overflow, and are an order of magnitude faster than arrays of Fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.expression import Expression, Product, multiply, power
from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.solver.cpsat.linear import NotExpressibleError

Integers = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class RowValues:
    """One rational per row, ``values / denominator``.

    Attributes
    ----------
    values : array of int
        Python integers; of shape () for a constant.
    denominator : int
        Positive.
    """

    values: Integers
    denominator: int

    def __add__(self, other: RowValues) -> RowValues:
        (a, b), denominator = _aligned(self, other)
        return _row_values(a + b, denominator)

    def __mul__(self, other: RowValues) -> RowValues:
        return _row_values(self.values * other.values, self.denominator * other.denominator)

    def __truediv__(self, other: RowValues) -> RowValues:
        divisors = {int(v) for v in other.values.ravel()}
        if 0 in divisors:
            raise NotExpressibleError("CP-SAT: a quantity is divided by another that can be 0")
        common = lcm(*divisors)
        return _row_values(self.values * other.denominator * (common // other.values), self.denominator * common)


def _row_values(values: Any, denominator: int) -> RowValues:
    # operations on arrays of shape () return bare numbers
    return RowValues(np.asarray(values, object), denominator)


def _aligned(*operands: RowValues) -> tuple[list[Integers], int]:
    """Numerators over one common denominator."""
    denominator = lcm(*(o.denominator for o in operands))
    return [o.values * (denominator // o.denominator) for o in operands], denominator


def _ceil_div(a: RowValues, b: RowValues) -> RowValues:
    ratio = a / b
    return _row_values(-(-ratio.values // ratio.denominator), 1)


def _extreme(pick: Callable[..., Any]) -> Callable[..., RowValues]:
    def extreme(*operands: RowValues) -> RowValues:
        values, denominator = _aligned(*operands)
        return _row_values(reduce(pick, values), denominator)

    return extreme


EXACT_ROWS = NumberSystem(
    "exact rows",
    lambda value: _row_values(value.numerator, value.denominator),
    _ceil_div,
    _extreme(np.maximum),
    _extreme(np.minimum),
)


def row_quantities(table: Mapping[str, NDArray[np.int64]]) -> dict[str, RowValues]:
    """The integer quantities of a table as exact values."""
    return {symbol: _row_values(values.astype(object), 1) for symbol, values in table.items()}


def column_values(expression: Expression, quantities: Mapping[str, RowValues], count: int) -> tuple[tuple[int, ...], Fraction]:
    """Values of an expression on every row, as integers and the step they count.

    Parameters
    ----------
    expression : Expression
        Over the quantities of one table.
    quantities : mapping of str to RowValues
        The table's quantities.
    count : int
        Number of rows.

    Returns
    -------
    whole : tuple of int
        Without a common divisor.
    step : Fraction
        ``whole · step`` are the values.
    """
    exact: RowValues = expression.evaluate(quantities, EXACT_ROWS)
    values = [int(v) for v in np.broadcast_to(exact.values, (count,))]
    divisor = gcd(*values) or 1
    return tuple(v // divisor for v in values), Fraction(divisor, exact.denominator)


def divides_finely(product: Expression, quantities: Mapping[str, RowValues], most: int) -> bool:
    """Whether a product of powers is, on every row of a table, a multiple of ``1/n`` for one n up to ``most``."""
    factors = product.factors if isinstance(product, Product) else ()
    over, under = (
        multiply(*(power(base, sign * exponent) for base, exponent in factors if sign * exponent > 0)) for sign in (1, -1)
    )
    above, below = (expression.evaluate(quantities, EXACT_ROWS) for expression in (over, under))
    values = np.broadcast_arrays(above.values * below.denominator, below.values * above.denominator)
    common = 1
    for top, bottom in dict.fromkeys(zip(*(v.ravel().tolist() for v in values), strict=True)):
        common = lcm(common, bottom // gcd(top, bottom)) if bottom else 0
        if not 0 < common <= most:
            return False
    return True
