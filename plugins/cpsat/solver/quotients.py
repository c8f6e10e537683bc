"""Expressions over one denominator.

Every expression of ``+ − × ÷``, maxima and minima with positive divisors is a quotient of two that
do not divide: sums and maxima are brought to a common denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Maximum,
    Minimum,
    Product,
    Sum,
    add,
    maximum,
    minimum,
    multiply,
    power,
)
from ithaca.solver.engines import NotExpressibleError

#: More terms than this, products distributed, take minutes to prepare.
MOST_TERMS = 5000

#: Names the bases that a product may not divide by.
Clears: TypeAlias = Callable[[Product], Collection[Expression]]


@dataclass(frozen=True, slots=True)
class Quotient:
    """``over / Π base^exponent``."""

    over: Expression
    """The numerator."""
    divisors: Mapping[Expression, int]
    """Exponent, positive, of each base of the denominator."""

    @property
    def under(self) -> Expression:
        """The denominator; 1 without divisors."""
        return multiply(*(power(base, exponent) for base, exponent in self.divisors.items()))

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Let refusals say that the expression was brought over this denominator."""
        try:
            yield
        except NotExpressibleError as error:
            if not self.divisors:
                raise
            count = len(self.divisors)
            raise NotExpressibleError(
                f"{error} (over a common denominator of {count} factor{'s' * (count > 1)})"
            ) from None


def as_quotient(node: Expression, cleared: Clears) -> Quotient:
    """Bring an expression over one denominator, which products may have of all bases but those
    ``cleared`` names.

    Ceiling divisions are left as they are. The result equals the expression wherever all divisors
    are positive. Refused if it gets too long.
    """
    quotient = _quotient(node, cleared)
    terms = (
        max(_expanded(part) for part in (quotient.over, quotient.under)) if quotient.divisors else 0
    )
    if terms > MOST_TERMS:
        raise NotExpressibleError(
            f"CP-SAT: over a common denominator, objective or limit has up to {terms} "
            f"terms; it takes up to {MOST_TERMS}; "
            "use another method"
        )
    return quotient


def _quotient(node: Expression, cleared: Clears) -> Quotient:
    if isinstance(node, Sum):
        overs, divisors = _over_one_denominator(node.terms, cleared)
        return Quotient(add(*overs), divisors)
    if isinstance(node, Maximum | Minimum):
        overs, divisors = _over_one_denominator(node.arguments, cleared)
        return Quotient((maximum if isinstance(node, Maximum) else minimum)(*overs), divisors)
    if isinstance(node, Product):
        return _of_product(node, cleared)
    return Quotient(node, {})


def _expanded(node: Expression) -> int:
    """The number of terms if products are distributed over sums and maxima."""
    if isinstance(node, Sum | Maximum | Minimum):
        return sum(_expanded(child) for child in node.children)
    if isinstance(node, Product):
        return prod(_expanded(base) ** max(exponent, 0) for base, exponent in node.factors)
    return 1


def _of_product(node: Product, cleared: Clears) -> Quotient:
    leaving = cleared(node)
    over: list[Expression] = [Constant(node.coefficient)]
    divisors: dict[Expression, int] = {}
    for base, exponent in node.factors:
        if exponent < 0 and base not in leaving:
            over.append(power(base, exponent))
            continue
        inner = _quotient(base, cleared)
        top, bottom = (
            (inner.over, inner.divisors) if exponent > 0 else (inner.under, _factors(inner.over))
        )
        over.append(power(top, abs(exponent)))
        for divisor, times in bottom.items():
            if isinstance(divisor, Constant):
                over.append(power(divisor, -times * abs(exponent)))
            else:
                divisors[divisor] = divisors.get(divisor, 0) + times * abs(exponent)
    return _cancelled(multiply(*over), divisors)


def _cancelled(over: Expression, divisors: Mapping[Expression, int]) -> Quotient:
    """The quotient without the factors that both parts share."""
    factors = dict(over.factors) if isinstance(over, Product) else {over: 1}
    shared = {base: min(exponent, factors.get(base, 0)) for base, exponent in divisors.items()}
    shared = {base: exponent for base, exponent in shared.items() if exponent > 0}
    left = {base: exponent - shared.get(base, 0) for base, exponent in divisors.items()}
    over = multiply(over, *(power(base, -exponent) for base, exponent in shared.items()))
    return Quotient(over, {base: exponent for base, exponent in left.items() if exponent})


def _factors(node: Expression) -> Mapping[Expression, int]:
    """Bases and exponents of a product whose exponents are positive."""
    if isinstance(node, Product) and all(exponent > 0 for _, exponent in node.factors):
        constant: dict[Expression, int] = (
            {} if node.coefficient == 1 else {Constant(node.coefficient): 1}
        )
        return constant | dict(node.factors)
    return {node: 1}


def _over_one_denominator(
    nodes: Sequence[Expression], cleared: Clears
) -> tuple[list[Expression], Mapping[Expression, int]]:
    parts = [_quotient(node, cleared) for node in nodes]
    common: dict[Expression, int] = {}
    for part in parts:
        for base, exponent in part.divisors.items():
            common[base] = max(common.get(base, 0), exponent)
    overs = [
        multiply(
            part.over,
            *(
                power(base, exponent - part.divisors.get(base, 0))
                for base, exponent in common.items()
            ),
        )
        for part in parts
    ]
    return overs, common
