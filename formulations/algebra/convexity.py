"""Whether a design's nonlinear program is convex in the logarithms of its quantities.

It is if everything in it is posynomial: the one cost model is evaluated in the number system of
posynomials, where a maximum is a quantity of its own. What is refused there (subtraction, division
by a sum) is not convex.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from ithaca.formulations.algebra.expression import (
    ZERO,
    Expression,
    gains_and_losses,
    multiply,
    power,
)
from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.formulations.algebra.posynomial import NotPosynomialError, Posynomial


def posynomial_numbers() -> NumberSystem:
    """The number system of posynomials; what is none raises `NotPosynomialError`."""
    names = count()

    def maximum(*arguments: Posynomial) -> Posynomial:
        return Posynomial.quantity(f"max.{next(names)}")

    def minimum(*arguments: Posynomial) -> Posynomial:
        for argument in arguments:
            # m ≤ a is m/a ≤ 1, which is posynomial where a can be divided by
            argument**-1
        return Posynomial.quantity(f"min.{next(names)}")

    def ceil_div(a: Posynomial, b: Posynomial) -> Posynomial:
        return maximum(a * b**-1, Posynomial.constant(1))

    return NumberSystem("posynomial", Posynomial.constant, ceil_div, maximum, minimum)


def is_posynomial(expression: Expression) -> bool:
    """Whether an expression is posynomial once its maxima are quantities of their own."""
    # a quantity that is the product of others is a single term, too
    values = {name: Posynomial.quantity(name) for name in expression.symbols}
    try:
        expression.evaluate(values, posynomial_numbers())
    except NotPosynomialError:
        return False
    return True


def is_convex_goal(objective: Expression) -> bool:
    """Whether minimising is convex: a posynomial, or minus one over such an expression."""
    return is_posynomial(objective) or is_posynomial(power(multiply(-1, objective), -1))


def is_convex_limit(expression: Expression, bound: Fraction) -> bool:
    """Whether ``expression ≤ bound`` holds on a convex set, its losses moved to the right.

    There it must be a single product, by which the rest can be divided.
    """
    kept, moved = gains_and_losses(expression - bound)
    if moved == ZERO:
        return is_posynomial(kept)
    return is_posynomial(multiply(kept, power(moved, -1))) and is_posynomial(power(moved, -1))
