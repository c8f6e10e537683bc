"""The direction in which an expression moves when a part of it grows.

A smooth model states a maximum by a variable that is at least each argument. That is right only
where the model has no use for a larger one: where what is minimised or limited grows with the
maximum. The same holds for ceilings, for a quantity that is defined as one, and the other way round
for minima.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import INTERVAL


def bounds(node: Expression, ranges: Mapping[str, Interval]) -> Interval | None:
    """An interval that holds every value of an expression; None where it may divide by zero."""
    try:
        return as_interval(node.evaluate(ranges, INTERVAL))
    except ZeroDivisionError:
        return None


def trends(expression: Expression, ranges: Mapping[str, Interval]) -> dict[Expression, int]:
    """The direction in which an expression moves as each of its parts grows, in given ranges.

    For every part: 1 if the expression never falls, -1 if it never rises, 0 if neither is known.
    """
    directions: dict[Expression, int] = {}

    def visit(node: Expression, trend: int) -> None:
        if node in directions and directions[node] != trend:
            trend = 0  # the part stands in several places that pull it different ways
        if directions.get(node) == trend:
            return
        directions[node] = trend
        for child, direction in _directions(node, ranges):
            visit(child, trend * direction)

    visit(expression, 1)
    return directions


#: Where metrics are, for all that is known of them when it is asked which way expressions over them
#: move.
POSITIVE = Interval(Fraction(1, 10**30), Fraction(10**60))

#: Where quantities and extents are.
WHOLE = Interval(Fraction(1), POSITIVE.high)


@lru_cache(maxsize=1024)  # thousands of problems of a network have the same expressions
def falling(*expressions: Expression) -> frozenset[str]:
    """The metrics that some of these expressions may fall with."""
    names = set[str]()
    for expression in expressions:
        moves = trends(expression, dict.fromkeys(expression.symbols, POSITIVE))
        names |= {name for name in expression.symbols if moves.get(Symbol(name), 0) != 1}
    return frozenset(names)


def misplaced(directions: Mapping[Expression, int]) -> tuple[Expression, ...]:
    """Ceilings and maxima that an expression may fall with, and minima that it may grow with, by
    its `trends`."""
    wanted = {Maximum: 1, CeilingDivision: 1, Minimum: -1}
    return tuple(
        node for node, trend in directions.items() if trend != wanted.get(type(node), trend)
    )


def _directions(node: Expression, ranges: Mapping[str, Interval]) -> list[tuple[Expression, int]]:
    """The direct parts of a node, and how the node moves with each."""
    if isinstance(node, CeilingDivision):
        side = _sign(
            node.denominator, ranges
        )  # divided by what may be on either side of 0, it may do either
        return [
            (node.numerator, side),
            (node.denominator, -_sign(node.numerator, ranges) * abs(side)),
        ]
    if isinstance(node, Product):
        signs = [_sign(base, ranges) ** (abs(exponent) % 2 or 2) for base, exponent in node.factors]
        pairs = []
        for place, (base, exponent) in enumerate(node.factors):
            # the derivative of b**e is e·b**(e - 1)
            sign = _sign(base, ranges)
            own = sign if exponent % 2 == 0 else abs(sign) if exponent < 0 else 1
            direction = (1 if node.coefficient > 0 else -1) * (1 if exponent > 0 else -1) * own
            for other in (*signs[:place], *signs[place + 1 :]):
                direction *= other
            pairs.append((base, direction))
        return pairs
    return (
        [(child, 1) for child in node.children] if isinstance(node, Sum | Maximum | Minimum) else []
    )


def _sign(node: Expression, ranges: Mapping[str, Interval]) -> int:
    """1 if an expression is never negative, -1 if it is never positive, 0 if neither is known."""
    values: Any = bounds(node, ranges)
    if values is None:
        return 0
    return 1 if values.low >= 0 else -1 if values.high <= 0 else 0
