"""Limits that a configuration exceeds, and those on quotients that all do: by terms, without a
search."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Product,
    Symbol,
    quotient,
)
from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName
from ithaca.formulations.algebra.quotients import quotient_floor
from ithaca.formulations.design import Design
from ithaca.formulations.goals import Limit
from ithaca.formulations.remembered import latest


def exceeded(limits: Iterable[Limit], metrics: NumbersByName) -> tuple[Limit, ...]:
    """The limits that metrics exceed."""
    return tuple(limit for limit in limits if limit.used(metrics) > limit.bound)


def all_exceed(limits: Iterable[tuple[Expression, Fraction]], design: Design) -> bool:
    """Whether every configuration exceeds some limit on a quotient."""
    # what is met where all is least is met somewhere
    lowest = {name: Fraction(span.low) for name, span in design.intervals.items()}
    for expression, bound in limits:
        if quotient(expression) and expression.evaluate(lowest, FRACTION) > bound:
            floor = _floor(expression, design)
            if floor is not None and floor > bound:
                return True
    return False


def least_quotient(expression: Expression, design: Design) -> Fraction | None:
    """A value that an expression over quantities is not below in any configuration, where it is a
    quotient; None where it is none, or its terms do not say."""
    return _floor(expression, design) if quotient(expression) else None


def _floor(expression: Expression, design: Design) -> Fraction | None:
    """The floor of a quotient over quantities, kept for the problems of its design."""
    return latest(design, expression, lambda: _floor_of(expression, design))


def _floor_of(expression: Expression, design: Design) -> Fraction | None:
    """The floor of a quotient over quantities, those that are products of others written out."""
    ranges = design.intervals
    nodes = {name: node for axis in design.space.axes for name, node in axis.definitions.items()}
    products = {
        name: node
        for name, node in nodes.items()
        if isinstance(node, Product)
        and node.coefficient == 1
        and all(isinstance(base, Symbol) and exponent == 1 for base, exponent in node.factors)
    }
    between: list[tuple[tuple[str, ...], Fraction, Fraction]] = []
    for name, node in nodes.items():
        if isinstance(node, CeilingDivision) and isinstance(node.denominator, Symbol):
            # tiles times their size: less than one tile more than there is
            size, all_ = node.denominator, node.numerator
            if isinstance(all_, Constant) and all_.value > 0 and all_.value.denominator == 1:
                names = tuple(sorted(products.get(size.name, size).symbols))
                most = all_.value + Fraction(ranges[size.name].high) - Fraction(1)
                between.append(((name, *names), all_.value, most))
    between += [
        (tuple(node.symbols), Fraction(ranges[name].low), Fraction(ranges[name].high))
        for name, node in products.items()
    ]
    return quotient_floor(expression.substitute(products), ranges, between)
