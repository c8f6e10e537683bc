"""What CP-SAT needs of columns: exact values of single-axis expressions, as integers and the step they count."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from ithaca.formulations.algebra.exact_rows import EXACT_ROWS, RowValues
from ithaca.formulations.algebra.expression import Expression, Product, multiply, power
from ithaca.solver.cpsat.linear import NotExpressibleError


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
    try:
        exact: RowValues = expression.evaluate(quantities, EXACT_ROWS)
    except ZeroDivisionError:
        raise NotExpressibleError("CP-SAT: a quantity is divided by another that can be 0") from None
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
