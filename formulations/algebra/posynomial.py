"""Posynomials: sums of positive constants times powers of positive quantities.

In the logarithms of its quantities a posynomial is a log-sum-exp of affine functions, hence
convex (Boyd, Kim, Vandenberghe, Hassibi: A tutorial on geometric programming, 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.workloads.errors import InputError

#: Powers of quantities, sorted by name, none of them zero: ``(("lanes.i", 1), ("pack.A", -1))``.
Exponents: TypeAlias = tuple[tuple[str, int], ...]


class NotPosynomialError(InputError):
    """An expression is no posynomial, and has no posynomial lower bound either."""


@dataclass(frozen=True)
class Posynomial:
    """A sum of monomials with positive coefficients.

    Attributes
    ----------
    terms : mapping of Exponents to Fraction
        Coefficient of each monomial; all positive. Without terms it is zero.
    """

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
        """Whether it has exactly one term."""
        return len(self.terms) == 1

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of the quantities it depends on."""
        return frozenset(name for exponents in self.terms for name, _ in exponents)

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
        """Whether it is never smaller than the other because each of the other's terms is in it."""
        return all(self.terms.get(e, Fraction(0)) >= c for e, c in other.terms.items())

    def evaluate(self, values: Mapping[str, Any], numbers: NumberSystem) -> Any:
        """Value in a number system (`ithaca.formulations.algebra.number_systems`)."""
        total: Any = numbers.number(Fraction(0))
        for exponents, coefficient in self.terms.items():
            term: Any = numbers.number(coefficient)
            for name, exponent in exponents:
                for _ in range(abs(exponent)):
                    term = term * values[name] if exponent > 0 else term / values[name]
            total = total + term
        return total


def _combine(left: Exponents, right: Exponents) -> Exponents:
    if not left or not right:
        return left or right
    powers = dict(left)
    for name, exponent in right:
        powers[name] = powers.get(name, 0) + exponent
    return tuple(sorted((n, e) for n, e in powers.items() if e))
