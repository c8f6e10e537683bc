"""Numbers over the options of several *axes*: the largest of sums of products, each factor an array
over the options of one axis.

A model that is evaluated in them says at once what every combination of options costs. Quotients by
a number are not rounded up: these numbers bound from below. Those of a number by what one axis
decides are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.number_systems import NumberSystem


@dataclass(frozen=True)
class Term:
    """A product of a scale and of one factor per axis."""

    scale: Fraction
    """The factor of the term."""
    factors: Mapping[int, Floats]
    """By axis, its factor for every option: whole numbers, never negative, exact below `EXACT`."""

    def times(self, other: Term) -> Term:
        """The product of this term and another."""
        factors = dict(self.factors)
        for axis, values in other.factors.items():
            factors[axis] = factors[axis] * values if axis in factors else values
        return Term(self.scale * other.scale, factors)

    def plus(self, other: Term) -> Term | None:
        """The sum of two terms, where it is a product: they differ along one axis at most."""
        differing = [
            axis
            for axis in self.factors.keys() | other.factors.keys()
            if axis not in self.factors
            or axis not in other.factors
            or not np.array_equal(self.factors[axis], other.factors[axis])
        ]
        if not differing:
            return Term(self.scale + other.scale, self.factors)
        if len(differing) > 1:
            return None
        axis = differing[0]
        unit = Fraction(
            gcd(self.scale.numerator, other.scale.numerator),
            lcm(self.scale.denominator, other.scale.denominator),
        )
        one, another = (
            float(t.scale / unit) * t.factors.get(axis, np.ones(1)) for t in (self, other)
        )
        total = one + another
        if (total < 0).any() and (total > 0).any():
            return None
        sign = -1 if (total < 0).any() else 1
        return Term(sign * unit, {**self.factors, axis: sign * total})


#: Terms that are added up.
Sum = tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Separable:
    """A number over the options of several axes."""

    sums: tuple[Sum, ...]
    """The sums of which the function is the largest."""

    @staticmethod
    def of(axis: int, values: Integers) -> Separable:
        """The separable sum that depends on one axis alone: a value for each of its options."""
        known = values.astype(np.float64)
        if (known == known[0]).all():
            return _separable(int(values[0]))
        return Separable(((Term(Fraction(1), {axis: known}),),))

    def __mul__(self, other: Any) -> Separable:
        pairs = product(self.sums, _separable(other).sums)
        return Separable(tuple(_added(a.times(b) for a, b in product(*pair)) for pair in pairs))

    def __add__(self, other: Any) -> Separable:
        pairs = product(self.sums, _separable(other).sums)
        return Separable(tuple(_added((*one, *another)) for one, another in pairs))

    def __sub__(self, other: Any) -> Separable:
        (terms,) = _separable(other).sums
        return self + Separable((tuple(Term(-term.scale, term.factors) for term in terms),))

    def __rsub__(self, other: Any) -> Separable:
        return _separable(other) - self

    __radd__ = __add__
    __rmul__ = __mul__

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of all sums."""
        return tuple(term for each in self.sums for term in each)


def _separable(value: Any) -> Separable:
    return value if isinstance(value, Separable) else Separable(((Term(Fraction(value), {}),),))


def _added(terms: Any) -> Sum:
    """Terms of a sum, those that differ along one axis at most added up."""
    kept: list[Term] = []
    for term in terms:
        if not term.scale:
            continue
        for place, other in enumerate(kept):
            if (both := other.plus(term)) is not None:
                kept[place] = both
                break
        else:
            kept.append(term)
    return tuple(kept)


def _largest(*values: Any) -> Separable:
    return Separable(tuple(each for value in values for each in _separable(value).sums))


def _smallest(*values: Any) -> Separable:
    raise NotImplementedError("these numbers bound from below")


def _quotient(over: Any, under: Any) -> Separable:
    (term,) = _separable(under).terms
    if not term.factors:
        return _separable(over) * (1 / term.scale)
    (number,), ((axis, values),) = _separable(over).terms, term.factors.items()
    whole = -(-int(number.scale) // (int(term.scale) * values.astype(np.int64)))
    return Separable.of(axis, whole)


#: Their operations.
SEPARABLE = NumberSystem(
    "separable", lambda value: _separable(Fraction(value)), _quotient, _largest, _smallest
)
