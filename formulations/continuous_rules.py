"""Rules of a space for continuous quantities, in geometric and nonlinear programs.

Quantities that are products of others are put in. Of the other rules, one whose sides take
ceilings, maxima or minima is replaced by rules between parts of its sides, which every
configuration meets as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Expression,
    Maximum,
    Minimum,
    multiply,
    power,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.algebra.posynomial import as_product
from ithaca.formulations.space import Link, Relation, Space

Spans = Mapping[str, Interval]


def definitions(space: Space) -> dict[str, Expression]:
    """The expression of every quantity that follows from others."""
    return {
        **space.definitions,
        **{name: e for axis in space.axes for name, e in axis.definitions.items()},
    }


def products(space: Space) -> dict[str, Expression]:
    """The quantities that are defined as products of others, as products of such that are not."""
    defined = {name: e for name, e in definitions(space).items() if is_plain_product(e)}
    while any(e.symbols & defined.keys() for e in defined.values()):
        defined = {name: e.substitute(defined) for name, e in defined.items()}
    return {name: defined[name] for name in space.quantities if name in defined}


def rules(space: Space) -> list[Link]:
    """The rules of all axes, and those across."""
    return [*(link for axis in space.axes for link in axis.links), *space.links]


def quantity_spans(space: Space) -> dict[str, Interval]:
    """Smallest and largest value of every quantity, by its range and its definition alone."""
    spans = {
        name: Interval(Fraction(low), Fraction(high)) for name, (low, high) in space.ranges.items()
    }
    defined = definitions(space)
    for name, span in spans.items():
        values = bounds(defined[name], spans) if name in defined else None
        if values is not None:
            spans[name] = Interval(max(span.low, values.low), min(span.high, values.high))
    return spans


def continuous_rules(space: Space, spans: Spans) -> list[Link]:
    """Equalities and inequalities of continuous quantities, but for definitions of products.

    What the spans of the quantities imply is left out.
    """
    links, known, defined = rules(space), products(space), definitions(space)
    divides = {(link.left, link.right) for link in links if link.relation is Relation.DIVIDES}
    quotients = {
        (e.denominator, e.numerator)
        for link in links
        if isinstance(e := link.right, CeilingDivision)
    }

    def at_most(small: Expression, large: Expression) -> bool:
        least, most = bounds(large, spans), bounds(small, spans)
        if least is None or most is None:
            return False
        ratio = (
            bounds(multiply(large, power(small, -1)).substitute(known), spans)
            if most.low > 0
            else None
        )
        return bool(most.high <= least.low or (ratio is not None and ratio.low >= 1))

    def below(node: Expression) -> list[Expression]:
        """Expressions that are never above another."""
        if isinstance(node, CeilingDivision):
            return [node.numerator / node.denominator]
        if isinstance(node, Maximum):
            return [part for argument in node.arguments for part in below(argument)]
        if isinstance(node, Minimum):
            smallest = [
                a for a in node.arguments if all(at_most(a, other) for other in node.arguments)
            ]
            return [part for argument in smallest for part in below(argument)]
        return [node]

    def above(node: Expression) -> list[Expression]:
        """Expressions that are never below another."""
        if isinstance(node, CeilingDivision):
            over, under = node.numerator, node.denominator
            return [over / under if (under, over) in divides else (over + under - 1) / under]
        if isinstance(node, Minimum):
            return [part for argument in node.arguments for part in above(argument)]
        if isinstance(node, Maximum):
            parts = [(part, argument) for argument in node.arguments for part in above(argument)]
            return [
                part
                for part, own in parts
                if all(at_most(a, part) for a in node.arguments if a is not own)
            ]
        return [node]

    relations: list[Link] = []
    for link in links:
        whole = link.relation is Relation.DIVIDES and (link.left, link.right) in quotients
        if whole or (link.defined in known and link.right is defined[link.defined]):
            continue  # the quotient's definition says as much; products are put in
        pairs = [(left, right) for left in below(link.left) for right in above(link.right)]
        if link.relation is Relation.EQUAL:
            back = [(right, left) for right in below(link.right) for left in above(link.left)]
            equal = [(left, right) for left, right in pairs if (right, left) in back]
            relations += [Link(left, Relation.EQUAL, right) for left, right in equal]
            pairs = [] if equal else [*pairs, *back]
        relations += [
            Link(left, Relation.AT_MOST, right) for left, right in pairs if not at_most(left, right)
        ]
    return relations


def is_plain_product(expression: Expression) -> bool:
    """Whether an expression is a product of quantities, without a factor or a divisor."""
    product = as_product(expression)
    return product is not None and all(
        c == 1 and p and min(e for _, e in p) > 0 for p, c in product.terms.items()
    )
