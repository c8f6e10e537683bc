"""Pieces of programs: ranges of quantities, sides of limits, numbers and fields of Pyomo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Maximum,
    Product,
    multiply,
    power,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.problem import Problem
from ithaca.solver.combination import quantity_ranges

#: Share by which ends of ranges are moved outwards before they are rounded.
ROUNDED = 1e-6


def spans_of(problem: Problem) -> Mapping[str, Interval]:
    """The values of quantities, as far as limits leave them open; ends are whole."""
    spans, ranges = dict(problem.intervals), quantity_ranges(problem) or {}
    for name, (low, high) in ranges.items():
        least, most = ceil(low * (1 - ROUNDED)), floor(high * (1 + ROUNDED))
        span = Interval(
            max(spans[name].low, Fraction(least)), min(spans[name].high, Fraction(most))
        )
        spans[name] = span if span.low <= span.high else spans[name]
    return spans


def sides(
    form: Expression, bound: Fraction, spans: Mapping[str, Interval]
) -> Iterable[tuple[Expression, Expression]]:
    """The sides of ``form ≤ bound``, of each part of a maximum, times what is divided by.

    Parameters
    ----------
    form : Expression
        What is limited, over quantities.
    bound : Fraction
        The limit.
    spans : mapping of str to Interval
        The ranges of quantities.
    """
    for part in form.arguments if isinstance(form, Maximum) else (form,):
        under: Expression = Constant(Fraction(1))
        for base, exponent in part.factors if isinstance(part, Product) else ():
            span = bounds(base, spans)
            if exponent < 0 and span is not None and span.low > 0:
                under = multiply(under, power(base, -exponent))
        yield multiply(part, under), multiply(bound, under)


def set_field(data: Any, field: str, value: Any) -> None:
    """Set a field of a component of Pyomo.

    Parameters
    ----------
    data : component
        The component.
    field : str
        ``bounds``, ``expr``, or an attribute.
    value : object
        Its value.
    """
    if field == "bounds":
        data.setlb(value[0])
        data.setub(value[1])
    elif field == "expr":
        data.set_value(value)
    else:
        setattr(data, field, value)


def number(value: Fraction) -> int | float:
    """A number as Pyomo takes it."""
    return int(value) if value.denominator == 1 else float(value)
