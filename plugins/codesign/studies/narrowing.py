"""Quantities whose best value is known beforehand: what only helps and costs nothing, and what
costs and helps nobody."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from ithaca.formulations.hardware.accelerator import Trend
from ithaca.formulations.hardware.kind import Figure, moves
from ithaca.formulations.region import Region
from ithaca.formulations.space import Quantity
from ithaca.plugins.codesign.studies.question import CodesignQuestion

#: What a larger figure of a trend is worth.
WORTH = {Trend.HELPS: -1, Trend.HURTS: 1}


def narrowed(question: CodesignQuestion) -> Region:
    """A box that holds an accelerator at least as good as any other of the space.

    A quantity that no rule speaks of is fixed at an end where every figure that matters to layers,
    and every cost that is minimised or limited, is at its best, whatever the other quantities are.
    """
    space, settled = question.space, {}
    ruled = frozenset[str]().union(*(rule.symbols for rule in space.rules))
    for quantity in space.quantities:
        worse = _worse(question, quantity)
        free = (
            quantity.name in ruled
            or quantity.name in question.enumerated
            or None in worse
            or len(worse) > 1
        )
        if not free:
            settled[quantity.name] = quantity.values[-1:] if -1 in worse else quantity.values[:1]
    return space.box.only(settled)


def _worse(question: CodesignQuestion, quantity: Quantity) -> set[int | None]:
    """Whether more of a quantity is worse (1) or better (-1), by whatever depends on it; None if it
    may be either."""
    space, effects = question.space, set[int | None]()
    for name, figure in space.figures.items():
        if (
            quantity.name in figure.symbols
            and (trend := space.accelerator.trends[name]) is not Trend.IDLE
        ):
            effects.add(_times(_direction(figure, quantity, space.box), WORTH.get(trend)))
    for directions in question.directions:
        for name, direction in directions.items():
            if name in space.named and quantity.name in space.named[name].symbols:
                effects.add(
                    _times(_direction(space.named[name], quantity, space.box), direction or None)
                )
    return effects


def _times(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a * b


def _direction(figure: Figure, quantity: Quantity, whole: Region) -> int | None:
    """1 if a figure never falls with a quantity, -1 if it never rises; None if neither is known."""
    if figure.symbols == {quantity.name}:
        values = [figure.at({quantity.name: Fraction(value)}) for value in quantity.values]
        if all(a <= b for a, b in pairwise(values)):
            return 1
        return -1 if all(a >= b for a, b in pairwise(values)) else None
    return (
        None
        if figure.table or figure.others
        else moves(figure.expression, whole).get(quantity.name) or None
    )
