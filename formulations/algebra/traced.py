"""Numbers that remember how they came about, so that a model says what its costs are made of.

Unlike expressions, they keep the order in which the model computes, so that a number inside (a
level's cycles, say) is met again where it was used, as the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from ithaca.formulations.algebra.number_systems import FRACTION, NumberSystem

Operand: TypeAlias = "Traced | int | Fraction"


class How(Enum):
    """The operation by which a number came about."""

    GIVEN = "given"
    """An input, or the result of a division or a minimum, whose parts do not add up."""
    SUM = "sum"
    """The sum of its parts."""
    MAX = "max"
    """The largest of its parts."""
    PRODUCT = "product"
    """The product of its parts."""


@dataclass(frozen=True, eq=False, slots=True)
class Traced:
    """A number with those it was made of; equal only to itself as an object."""

    value: Fraction
    """The number."""
    how: How = How.GIVEN
    """How it came about."""
    parts: tuple[Traced, ...] = ()
    """From what."""

    def __add__(self, other: Operand) -> Traced:
        right = traced(other)
        return Traced(
            self.value + right.value, How.SUM, tuple(part for part in (self, right) if part.value)
        )

    __radd__ = __add__

    def __sub__(self, other: Operand) -> Traced:
        return self + -1 * traced(other)

    def __rsub__(self, other: Operand) -> Traced:
        return traced(other) + -1 * self

    def __neg__(self) -> Traced:
        return -1 * self

    def __mul__(self, other: Operand) -> Traced:
        right = traced(other)
        return Traced(self.value * right.value, How.PRODUCT, (self, right))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Traced:
        return self * (1 / traced(other).value)

    def __rtruediv__(self, other: Operand) -> Traced:
        return traced(other) / self


def traced(value: Operand) -> Traced:
    """A number without a past; those that have one stay as they are."""
    return value if isinstance(value, Traced) else Traced(Fraction(value))


def traced_values(values: Mapping[str, int]) -> dict[str, Traced]:
    """The values of a configuration as traced numbers."""
    return {name: traced(value) for name, value in values.items()}


def _ceil_div(top: Operand, bottom: Operand) -> Traced:
    """The rounding counts as a factor: each part is rounded as the whole is."""
    exact, by = traced(top), traced(bottom)
    rounded = FRACTION.ceil_div(exact.value, by.value)
    return exact * (rounded / exact.value) if exact.value else traced(rounded)


def _maximum(*values: Operand) -> Traced:
    parts = tuple(traced(value) for value in values)
    return Traced(
        max(part.value for part in parts), How.MAX, tuple(part for part in parts if part.value > 0)
    )


def _minimum(*values: Operand) -> Traced:
    least = min((traced(value) for value in values), key=lambda part: part.value)
    return Traced(least.value, How.MAX, (least,))


TRACED = NumberSystem("traced", traced, _ceil_div, _maximum, _minimum)
