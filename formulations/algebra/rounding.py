"""How far a bound computed in floats may be from the exact one."""

from __future__ import annotations

from fractions import Fraction

from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    add,
    maximum,
    multiply,
    power,
    walk,
)

#: Relative rounding of a bound: a few dozen operations of 2**-53 each, with a wide margin.
ROUNDING = 2.0**-40


def loosened(bound: Fraction) -> float:
    """An upper limit in floats that excludes nothing which meets the exact one."""
    return float(bound) + ROUNDING * max(1.0, float(abs(bound)))


def subtracts(node: Expression) -> bool:
    """Whether evaluating the expression may cancel digits: whether anything in it is negative."""
    return any((isinstance(n, Product) and n.coefficient < 0) or (isinstance(n, Constant) and n.value < 0) for n in walk(node))


def magnitude(node: Expression) -> Expression:
    """An expression no smaller than any intermediate result of evaluating ``node``.

    Rounding is relative to intermediate results. Where terms of opposite sign cancel, those are
    larger than the final one; their sum of absolute values bounds them.
    """
    if isinstance(node, Constant):
        return Constant(abs(node.value))
    if isinstance(node, Sum):
        return add(*(magnitude(t) for t in node.terms))
    if isinstance(node, Maximum | Minimum):
        return maximum(*(magnitude(a) for a in node.arguments))
    if isinstance(node, Product):
        # a divisor that cancels would need its own analysis; bounds divide by positive quantities only
        factors = (power(magnitude(b) if e > 0 else b, e) for b, e in node.factors)
        return multiply(abs(node.coefficient), *factors)
    return node
