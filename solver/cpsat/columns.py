"""What CP-SAT needs of columns: exact values of single-axis expressions, as integers and the step they count."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from ithaca.formulations.algebra.expression import Expression, Product, multiply, power
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.solver.cpsat.linear import NotExpressibleError


def column_values(expression: Expression, quantities: Mapping[str, Rationals], count: int) -> tuple[tuple[int, ...], Fraction]:
    """Values of an expression over a table's quantities on all its (``count``) rows, as integers and the step they count."""
    try:
        exact: Rationals = expression.evaluate(quantities, RATIONAL_ARRAYS)
    except ZeroDivisionError:
        raise NotExpressibleError("CP-SAT: a quantity is divided by another that can be 0") from None
    numerators, denominator = exact.over_one_denominator(count)
    values = [int(v) for v in numerators]
    divisor = gcd(*values) or 1
    return tuple(v // divisor for v in values), Fraction(divisor, denominator)


def divides_finely(product: Expression, quantities: Mapping[str, Rationals], most: int) -> bool:
    """Whether a product of powers is, on every row of a table, a multiple of ``1/n`` for one n up to ``most``."""
    factors = product.factors if isinstance(product, Product) else ()
    over, under = (
        multiply(*(power(base, sign * exponent) for base, exponent in factors if sign * exponent > 0)) for sign in (1, -1)
    )
    above, below = (expression.evaluate(quantities, RATIONAL_ARRAYS) for expression in (over, under))
    values = np.broadcast_arrays(*(np.asarray(v, object) for v in (above.over * below.under, below.over * above.under)))
    common = 1
    for top, bottom in dict.fromkeys(zip(*(v.ravel().tolist() for v in values), strict=True)):
        common = lcm(common, bottom // gcd(top, bottom)) if bottom else 0
        if not 0 < common <= most:
            return False
    return True
