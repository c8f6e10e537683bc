"""The factors of a loop as an axis of a space."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Operand,
    Symbol,
    as_expression,
    ceiling_division,
    minimum,
    multiply,
)
from ithaca.formulations.space import Axis, Link, Quantity, Relation
from ithaca.plugins.hierarchies.formulations.constraints import FactorRange
from ithaca.plugins.hierarchies.formulations.mapping import Slot


class Factored(Protocol):
    """The interface of a space that offers factors of loops."""

    def span(self, slot: Slot, loop: str) -> FactorRange:
        """The range of a factor that is asked for."""

    @property
    def ending(self) -> Collection[str]:
        """The loops that may have fewer trips in last iterations."""

    def ordered(self, slot: Slot, loop: str) -> bool:
        """Whether no other choice decides which places of a loop are inside one."""

    def slots_of(self, loop: str) -> tuple[Slot, ...]:
        """Places for factors of a loop, outermost first."""

    def highest(self, slot: Slot, loop: str) -> int | None:
        """The largest factor of a loop that a slot allows; None: any."""


def factor_axis(
    design: Factored, loop: str, extent: int, *, divides: bool, one_direction: bool
) -> Axis:
    """The factors of a loop, innermost first; the outermost temporal one follows from the
    others.

    Parameters
    ----------
    design : Factored
        The design, with its slots.
    loop : str
        The loop.
    extent : int
        Its extent (iterations).
    divides : bool
        Whether factors divide what is left of the extent.
    one_direction : bool
        Whether a mesh has lanes of the loop in one direction only.
    """
    names: list[str] = []
    quantities: list[Quantity] = []
    links: list[Link] = []
    slots, ends = design.slots_of(loop), loop in design.ending
    for slot in reversed(slots):
        name, span = slot.quantity(loop), design.span(slot, loop)
        highs = [high for high in (design.highest(slot, loop), span.high) if high is not None]
        low = span.low if slot.temporal else 1
        rest = ceiling_division(extent, multiply(*map(Symbol, names)))
        most = rest if slot == slots[0] else minimum(*highs, rest)
        quantities.append(
            Quantity(name, low, int(most.value) if isinstance(most, Constant) else most)
        )
        names.append(name)
        if ends and design.ordered(
            slot, loop
        ):  # the least for as many tiles: whatever lies outside is the same then
            tiles = ceiling_division(extent, multiply(*map(Symbol, names)))
            links.append(at_most((Symbol(name) - 1) * tiles, as_expression(rest) - 1))
        if slot == slots[0]:
            links.append(Link(Symbol(name), Relation.EQUAL, rest))
            links += [at_most(Symbol(name), high) for high in highs]
        if divides:
            links.append(
                Link(multiply(*map(Symbol, names)), Relation.DIVIDES, as_expression(extent))
            )
        if slot.direction == "x":
            x, y = Symbol(name), Symbol(Slot(slot.level, "y").quantity(loop))
            if one_direction:
                links.append(at_most((x - 1) * (y - 1), 0))
            links += [at_most(as_expression(span.low), x * y)] if span.low > 1 else []
    if not divides and not ends:
        # no factor could be less with the others as they are: less padding never costs more
        product = multiply(*map(Symbol, names))
        links += [at_most(product - product / Symbol(name), extent - 1) for name in names[:-1]]
    return Axis(loop, tuple(quantities), tuple(links))


def at_most(used: Expression, bound: Operand) -> Link:
    """The rule that an expression does not exceed a bound."""
    return Link(used, Relation.AT_MOST, as_expression(bound))
