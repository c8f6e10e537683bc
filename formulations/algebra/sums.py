"""Terms of sums of expressions."""

from __future__ import annotations

from ithaca.formulations.algebra.expression import (
    Expression,
    Product,
    Sum,
    add,
    multiply,
    split_coefficient,
)


def summands(node: Expression) -> list[Expression]:
    """Terms of a sum, a constant times a sum multiplied out; of anything else itself."""
    if (
        isinstance(node, Product)
        and len(node.factors) == 1
        and isinstance(node.factors[0][0], Sum)
        and node.factors[0][1] == 1
    ):
        return [multiply(node.coefficient, t) for t in node.factors[0][0].terms]
    if isinstance(node, Sum):
        return [
            t
            for term in node.terms
            for t in (summands(term) if isinstance(term, Product) else [term])
        ]
    return [node]


def gains_and_losses(node: Expression) -> tuple[Expression, Expression]:
    """The terms of a sum that are added, and those that are subtracted."""
    terms = summands(node)
    gains = add(*(t for t in terms if split_coefficient(t)[0] >= 0))
    return gains, multiply(-1, add(*(t for t in terms if split_coefficient(t)[0] < 0)))
