"""Exact linear forms over CP-SAT variables.

CP-SAT computes with integers, the cost model with rationals. A `LinearForm` keeps every
coefficient as a Fraction; only when a constraint is written is the whole form multiplied by a
common denominator of its coefficients. So nothing is ever rounded, least of all to zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.solver.tables.granularity import common_divisor


@dataclass(frozen=True, slots=True)
class LinearForm:
    """``constant + Σ coefficient · variable``, with bounds on its value."""

    terms: Mapping[int, Fraction]
    """Coefficient, never 0, by the variable's index in the CP-SAT model."""
    constant: Fraction
    """The constant that is added."""
    low: Fraction
    """The value lies between them in every assignment the model allows."""
    high: Fraction

    @property
    def is_constant(self) -> bool:
        """Whether the form has no variables."""
        return not self.terms

    def scaled(self, factor: Fraction | int) -> LinearForm:
        """The form times a number."""
        if not factor:
            return constant_form(Fraction(0))
        low, high = sorted((self.low * factor, self.high * factor))
        return LinearForm(
            {v: c * factor for v, c in self.terms.items()}, self.constant * factor, low, high
        )

    def without_constant(self) -> LinearForm:
        """The form minus its constant."""
        return LinearForm(
            self.terms, Fraction(0), self.low - self.constant, self.high - self.constant
        )

    def value(self, values: Mapping[int, int]) -> Fraction:
        """The form's value for values of its variables, by index."""
        return sum((c * values[v] for v, c in self.terms.items()), start=self.constant)


def constant_form(value: Fraction) -> LinearForm:
    """The form without variables."""
    return LinearForm({}, value, value, value)


def add_forms(*forms: LinearForm) -> LinearForm:
    """Sum of forms; its bounds add up theirs."""
    terms: dict[int, Fraction] = {}
    for form in forms:
        for variable, coefficient in form.terms.items():
            terms[variable] = terms.get(variable, Fraction(0)) + coefficient
    terms = {variable: coefficient for variable, coefficient in terms.items() if coefficient}
    constant = sum((form.constant for form in forms), start=Fraction(0))
    if not terms:
        return constant_form(constant)
    low = sum((form.low for form in forms), start=Fraction(0))
    high = sum((form.high for form in forms), start=Fraction(0))
    return LinearForm(terms, constant, low, high)


def grid(*forms: LinearForm) -> Fraction:
    """Largest step of which the values of all forms are integer multiples; 1 if all are 0."""
    return common_divisor(
        n for form in forms for n in (*form.terms.values(), form.constant)
    ) or Fraction(1)
