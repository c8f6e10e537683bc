"""SCIP expressions as a number system: what the cost model is evaluated in to state it to SCIP.

Numbers carry the range of their values, because SCIP branches on variables and so needs their
bounds. The operations that differ become variables:

- ``ceil(a/b)``, of integers, an integer c with ``a ≤ b·c ≤ a + b − 1``;
- a maximum a variable that is at least each argument, which is exact where the model pushes it
  down, and a minimum one that is at most each argument. Where nothing pushes, `scip_numbers` can be
  told to state them exactly, by binaries.

Powers of two are sums of binaries, and so are their reciprocals: dividing by a pack is then a
product.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.interval import Interval, greatest, least
from ithaca.formulations.algebra.number_systems import NumberSystem


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression of SCIP.

    Attributes
    ----------
    expression : pyscipopt expression or float
        The expression.
    range : Interval
        Of Fractions: it lies within.
    reciprocal : pyscipopt expression or None
        The same as 1 over the quantity, where that is linear.
    """

    expression: Any
    range: Interval
    reciprocal: Any = None

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.expression + other.expression, self.range + other.range)

    def __mul__(self, other: Quantity) -> Quantity:
        both = self.reciprocal is not None and other.reciprocal is not None
        reciprocal = self.reciprocal * other.reciprocal if both else None
        return Quantity(self.expression * other.expression, self.range * other.range, reciprocal)

    def __truediv__(self, other: Quantity) -> Quantity:
        if other.reciprocal is None:
            return Quantity(self.expression / other.expression, self.range / other.range)
        return Quantity(self.expression * other.reciprocal, self.range / other.range)


def constant(value: Fraction) -> Quantity:
    """A number."""
    return Quantity(float(value), Interval(value, value), 1 / float(value) if value else None)


def integer(model: Any, low: int, high: int) -> Quantity:
    """A new integer variable."""
    return Quantity(
        model.addVar(vtype="I", lb=low, ub=high), Interval(Fraction(low), Fraction(high))
    )


def power_of_two(model: Any, most: int) -> Quantity:
    """A new power of two up to some number, chosen by binaries."""
    choices = [model.addVar(vtype="B") for _ in range(most.bit_length())]
    model.addCons(sum(choices) == 1)
    value = sum(2.0**exponent * chosen for exponent, chosen in enumerate(choices))
    reciprocal = sum(0.5**exponent * chosen for exponent, chosen in enumerate(choices))
    return Quantity(value, Interval(Fraction(1), Fraction(2 ** (len(choices) - 1))), reciprocal)


def scip_numbers(model: Any, *, exact_extremes: bool = False) -> NumberSystem:
    """The number system that adds what it needs to a model.

    Parameters
    ----------
    model : pyscipopt.Model
        Receives variables and constraints.
    exact_extremes : bool
        Whether maxima and minima are stated by binaries.
    """

    def ceil_div(a: Quantity, b: Quantity) -> Quantity:
        low, high = (-(-end // 1) for end in ((a.range / b.range).low, (a.range / b.range).high))
        if low == high:
            return constant(Fraction(low))
        result = integer(model, int(low), int(high))
        product = result.expression * b.expression
        model.addCons(product >= a.expression)
        model.addCons(product <= a.expression + b.expression - 1)
        return result

    def extreme(arguments: tuple[Quantity, ...], sign: int) -> Quantity:
        pick = greatest if sign > 0 else least
        low, high = (
            pick(*(a.range.low for a in arguments)),
            pick(*(a.range.high for a in arguments)),
        )
        if low == high:
            return constant(low)
        variable = model.addVar(vtype="C", lb=float(low), ub=float(high))
        chosen = [model.addVar(vtype="B") for _ in arguments] if exact_extremes else []
        for argument in arguments:
            model.addCons(sign * (variable - argument.expression) >= 0)
        for argument, binary in zip(arguments, chosen, strict=False):
            apart = high - argument.range.low if sign > 0 else argument.range.high - low
            model.addCons(sign * (variable - argument.expression) <= float(apart) * (1 - binary))
        if chosen:
            model.addCons(sum(chosen) == 1)
        return Quantity(variable, Interval(low, high))

    return NumberSystem(
        "scip", constant, ceil_div, lambda *v: extreme(v, 1), lambda *v: extreme(v, -1)
    )
