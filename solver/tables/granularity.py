"""The grid on which the values of an expression lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
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


def granularity(node: Expression, powers: Mapping[str, int]) -> Fraction:
    """Largest proven step of which every value of an expression is a multiple; 0 if unknown.

    Quantities are integers; those that are ``powers`` of two divide their largest value, so their
    reciprocals are multiples of its reciprocal. A search may discard what cannot improve the
    incumbent by at least one step.
    """

    @cache  # expressions share most of their parts
    def of(part: Expression) -> Fraction:
        return _granularity(part, powers, of)

    return of(node)


def _granularity(
    node: Expression, powers: Mapping[str, int], of: Callable[[Expression], Fraction]
) -> Fraction:
    """The granularity of a node, from those of its parts."""
    if isinstance(node, Constant):
        return abs(node.value)
    if isinstance(node, Symbol | CeilingDivision):
        return Fraction(1)
    if isinstance(node, Sum | Maximum | Minimum):
        return common_step(
            [of(c) for c in node.children if not (isinstance(c, Constant) and not c.value)]
        )
    if isinstance(node, Product):
        step = abs(node.coefficient)
        for base, exponent in node.factors:
            if exponent > 0:
                step *= of(base) ** exponent
            elif (widest := _largest_power(base, powers)) is not None:
                step /= Fraction(widest) ** -exponent
            else:
                return Fraction(0)
        return step
    raise TypeError(f"no granularity of {node}")


def _largest_power(node: Expression, powers: Mapping[str, int]) -> int | None:
    """The largest value of what is always a power of two; None of anything else."""
    if isinstance(node, Minimum):
        known = [_largest_power(argument, powers) for argument in node.arguments]
        return None if None in known else min(value for value in known if value is not None)
    if isinstance(node, Constant):
        return (
            int(node.value)
            if node.value.denominator == 1 and node.value > 0 and int(node.value).bit_count() == 1
            else None
        )
    return powers.get(node.name) if isinstance(node, Symbol) else None


def common_step(steps: list[Fraction]) -> Fraction:
    """Greatest common divisor of steps; 0 if any is unknown."""
    return common_divisor(steps) if all(steps) else Fraction(0)


def common_divisor(numbers: Iterable[Fraction]) -> Fraction:
    """Greatest common divisor of rationals: all are integer multiples of it; 0 if all are 0."""
    known = [n for n in numbers if n]
    bottom = lcm(*(n.denominator for n in known))
    return Fraction(gcd(*(int(n * bottom) for n in known)), bottom)
