"""The grid on which the values of an expression lie."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from ithaca.formulations.algebra.expression import (
    CeilingDivision,
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    Symbol,
)
from ithaca.formulations.data_types import DataType


def granularity(node: Expression, data: DataType) -> Fraction:
    """Largest proven step of which every value of an expression is a multiple; 0 if unknown.

    Quantities are integers; packs and the SIMD factor divide a power of two, so their
    reciprocals are multiples of its reciprocal. A search may discard what cannot improve the
    incumbent by at least one step.
    """
    widest = Fraction(max(data.port_words, data.max_simd))
    if isinstance(node, Constant):
        return abs(node.value)
    if isinstance(node, Symbol | CeilingDivision):
        return Fraction(1)
    if isinstance(node, Sum | Maximum | Minimum):
        return _common([granularity(c, data) for c in node.children if not (isinstance(c, Constant) and not c.value)])
    if isinstance(node, Product):
        step = abs(node.coefficient)
        for base, exponent in node.factors:
            if exponent > 0:
                step *= granularity(base, data) ** exponent
            elif _is_power_of_two(base) or (isinstance(base, Minimum) and _is_capped_pack(base)):
                step /= widest**-exponent
            else:
                return Fraction(0)
        return step
    raise TypeError(f"no granularity of {node}")


def _is_capped_pack(node: Minimum) -> bool:
    """min(pack, port): the smaller of powers of two."""
    return all(_is_power_of_two(a) for a in node.arguments)


def _is_power_of_two(node: Expression) -> bool:
    if isinstance(node, Constant):
        return node.value.denominator == 1 and node.value > 0 and int(node.value).bit_count() == 1
    return isinstance(node, Symbol) and node.name.startswith("pack.")


def _common(steps: list[Fraction]) -> Fraction:
    """Greatest common divisor of rationals; 0 if any step is unknown."""
    known = [s for s in steps if s]
    if len(known) < len(steps):
        return Fraction(0)
    bottom = lcm(*(s.denominator for s in known))
    return Fraction(gcd(*(int(s * bottom) for s in known)), bottom)
