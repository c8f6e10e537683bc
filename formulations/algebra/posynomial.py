"""Posynomials: sums of positive constants times powers of positive quantities.

In the logarithms of its quantities a posynomial is a log-sum-exp of affine functions, hence
convex (Boyd, Kim, Vandenberghe, Hassibi: A tutorial on geometric programming, 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Constant, Expression, Product, Symbol

#: Powers of quantities, sorted by name, none of them zero: ``(("x", 1), ("y", -1))``.
Exponents: TypeAlias = tuple[tuple[str, int], ...]


class NotPosynomialError(InputError):
    """An expression is no posynomial, and has no posynomial lower bound either."""


@dataclass(frozen=True)
class Posynomial:
    """A sum of monomials by exponents, with positive coefficients; zero without terms."""

    terms: Mapping[Exponents, Fraction]

    @staticmethod
    def constant(value: Fraction | int) -> Posynomial:
        """A constant; raises `NotPosynomialError` if it is negative."""
        if value < 0:
            raise NotPosynomialError(f"the constant {value} is negative")
        return Posynomial({(): Fraction(value)} if value else {})

    @staticmethod
    def quantity(name: str, exponent: int = 1) -> Posynomial:
        """A power of one quantity."""
        return Posynomial({((name, exponent),): Fraction(1)})

    @property
    def is_monomial(self) -> bool:
        """Whether the posynomial has exactly one term."""
        return len(self.terms) == 1

    def __add__(self, other: Posynomial) -> Posynomial:
        terms = dict(self.terms)
        for exponents, coefficient in other.terms.items():
            terms[exponents] = terms.get(exponents, Fraction(0)) + coefficient
        return Posynomial(terms)

    def __mul__(self, other: Posynomial) -> Posynomial:
        terms: dict[Exponents, Fraction] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                exponents = _combine(left, right)
                terms[exponents] = terms.get(exponents, Fraction(0)) + a * b
        return Posynomial(terms)

    def __pow__(self, exponent: int) -> Posynomial:
        """Integer power; raises `NotPosynomialError` for a negative power of a proper sum."""
        if exponent < 0:
            if not self.is_monomial:
                raise NotPosynomialError("division by something else than a product")
            ((exponents, coefficient),) = self.terms.items()
            inverse = Posynomial({tuple((n, -e) for n, e in exponents): 1 / coefficient})
            return inverse**-exponent
        result = Posynomial.constant(1)
        for _ in range(exponent):
            result = result * self
        return result

    def __truediv__(self, other: Posynomial) -> Posynomial:
        return self * other**-1

    def scaled(self, factor: Fraction) -> Posynomial:
        """Multiply by a positive constant."""
        return Posynomial({e: c * factor for e, c in self.terms.items()})

    def dominates(self, other: Posynomial) -> bool:
        """Whether the posynomial is never smaller than another one because each of the other's
        terms is in it."""
        return all(self.terms.get(e, Fraction(0)) >= c for e, c in other.terms.items())


def as_product(node: Expression) -> Posynomial | None:
    """A constant times powers of quantities, as a posynomial of one term, or None."""
    if isinstance(node, Constant):
        return Posynomial.constant(node.value) if node.value > 0 else None
    if isinstance(node, Symbol):
        return Posynomial.quantity(node.name)
    if (
        isinstance(node, Product)
        and node.coefficient > 0
        and all(isinstance(base, Symbol) for base, _ in node.factors)
    ):
        powers = tuple(
            sorted(
                (base.name, exponent) for base, exponent in node.factors if isinstance(base, Symbol)
            )
        )
        return Posynomial({powers: node.coefficient})
    return None


def _combine(left: Exponents, right: Exponents) -> Exponents:
    if not left or not right:
        return left or right
    powers = dict(left)
    for name, exponent in right:
        powers[name] = powers.get(name, 0) + exponent
    return tuple(sorted((n, e) for n, e in powers.items() if e))
