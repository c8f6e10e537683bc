"""The direction in which an expression moves when a part of it grows.

A smooth model states a maximum by a variable that is at least each argument. That is right only
where the model has no use for a larger one: where what is minimised or limited grows with the
maximum. The same holds for ceilings, for a quantity that is defined as one, and the other way round
for minima.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
    add,
    maximum,
    minimum,
    multiply,
    power,
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
    return _trends(expression, lambda node: _sign(node, ranges))


def _trends(expression: Expression, sign: Callable[[Expression], int]) -> dict[Expression, int]:
    """The `trends` of an expression whose parts have known signs."""
    directions: dict[Expression, int] = {}

    def visit(node: Expression, trend: int) -> None:
        if node in directions and directions[node] != trend:
            trend = 0  # the part stands in several places that pull it different ways
        if directions.get(node) == trend:
            return
        directions[node] = trend
        for child, direction in _directions(node, sign):
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


@lru_cache(maxsize=1 << 12)  # designs and layers share columns
def never_falls(expression: Expression, names: frozenset[str], way: int = 1) -> bool:
    """Whether an expression over whole numbers from 1 on never falls as some of them grow; with -1
    as ``way``, never rises.

    Parameters
    ----------
    expression : Expression
        The expression.
    names : frozenset of str
        The quantities that grow.
    way : int, optional
        The direction.
    """
    inside = names & expression.symbols
    directions = _trends(expression, _whole_sign) if inside else {}
    return all(directions[Symbol(name)] == way for name in inside)


@lru_cache(maxsize=1 << 14)
def _whole_sign(node: Expression) -> int:
    return _sign(node, dict.fromkeys(node.symbols, WHOLE))


def rising(
    expression: Expression, names: frozenset[str], ranges: Mapping[str, Interval]
) -> Expression:
    """A lower bound of an expression that never falls as some quantities grow: parts that may are
    replaced by the least that they may be.

    Parameters
    ----------
    expression : Expression
        The expression.
    names : frozenset of str
        The quantities, of which none is below 1.
    ranges : mapping of str to Interval
        What all quantities are between.
    """

    def moves(node: Expression) -> bool:
        return never_falls(node, names)

    def least(node: Expression) -> Expression:
        span = bounds(node, ranges)
        return Constant(Fraction(-(10**300)) if span is None else Fraction(span.low))

    @cache
    def bound(node: Expression, outermost: bool) -> Expression:
        if moves(node):
            return node
        parts = None
        if isinstance(node, Maximum):
            # within others, those that never fall say nearly all, and briefly
            rises = [*filter(moves, node.arguments)]
            kept = node.arguments if outermost or not rises else rises
            parts = maximum(*(bound(each, not rises and outermost) for each in kept))
        elif isinstance(node, Minimum):
            parts = minimum(*(bound(each, outermost) for each in node.arguments))
        elif isinstance(node, Sum):
            parts = add(*(bound(each, outermost) for each in node.terms))
        elif (
            isinstance(node, Product)
            and node.coefficient > 0
            and len(node.factors) > 1
            and all(_whole_sign(base) == 1 for base, _ in node.factors)
        ):
            powers = (
                power(maximum(bound(base, outermost), 0), exponent)
                if exponent > 0
                else maximum(bound(power(base, exponent), outermost), 0)
                for base, exponent in node.factors
            )
            parts = multiply(node.coefficient, *powers)
        return least(node) if parts is None else maximum(parts, least(node))

    return bound(expression, True)


def misplaced(directions: Mapping[Expression, int]) -> tuple[Expression, ...]:
    """Ceilings and maxima that an expression may fall with, and minima that it may grow with, by
    its `trends`."""
    wanted = {Maximum: 1, CeilingDivision: 1, Minimum: -1}
    return tuple(
        node for node, trend in directions.items() if trend != wanted.get(type(node), trend)
    )


def _directions(
    node: Expression, sign: Callable[[Expression], int]
) -> list[tuple[Expression, int]]:
    """The direct parts of a node, and how the node moves with each."""
    if isinstance(node, CeilingDivision):
        # divided by what may be on either side of 0, it may do either
        side = sign(node.denominator)
        return [(node.numerator, side), (node.denominator, -sign(node.numerator) * abs(side))]
    if isinstance(node, Product):
        signs = [sign(base) ** (abs(exponent) % 2 or 2) for base, exponent in node.factors]
        pairs = []
        for place, (base, exponent) in enumerate(node.factors):
            # the derivative of b**e is e·b**(e - 1)
            side = sign(base)
            own = side if exponent % 2 == 0 else abs(side) if exponent < 0 else 1
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
