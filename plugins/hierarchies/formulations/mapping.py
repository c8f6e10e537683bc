"""Mappings: how a loop nest is laid out over an architecture, and the quantities that say so.

Every level has a *slot* of temporal loops, and where a mesh lies directly inside it two slots of
spatial loops, X and Y. The loops of a level's slots lie inside those of the levels around it; its
own spatial loops lie inside its temporal ones.
"""

from __future__ import annotations

from collections.abc import Mapping as Mapped
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.workloads.nest import LoopNest

#: Trip counts of loops; loops that are left out have one trip.
Factors = Mapped[str, int]

#: Loops of a level, outermost first.
Order = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a factor of every loop."""

    level: str
    """The level it belongs to."""
    direction: str = ""
    """``x`` or ``y`` on the mesh inside the level; empty for its temporal loops."""

    def quantity(self, loop: str) -> str:
        """The name of a loop's factor here: ``P.Buffer``, ``P.Buffer.x``."""
        return f"{loop}.{self.level}.{self.direction}" if self.direction else f"{loop}.{self.level}"

    @property
    def temporal(self) -> bool:
        """Whether its loops run one trip after the other."""
        return not self.direction

    @property
    def kind(self) -> str:
        """The kind of the slot: ``temporal`` or ``spatial``."""
        return "temporal" if self.temporal else "spatial"


def order_quantity(level: str) -> str:
    """The name of a level's order: which of the orders that the space offers, from 1."""
    return f"order.{level}"


def keep_quantity(level: str, tensor: str) -> str:
    """The name of whether a level keeps a tensor: 2 if it does, else 1."""
    return f"keep.{level}.{tensor}"


def slots(architecture: Architecture) -> tuple[Slot, ...]:
    """All slots, outermost first."""
    outwards: list[Slot] = []
    for place, level in enumerate(architecture.levels):
        outwards.append(Slot(level.name))
        if architecture.inner_mesh(place) is not None:
            outwards += [Slot(level.name, "x"), Slot(level.name, "y")]
    return tuple(outwards)


@dataclass(frozen=True)
class Mapping:
    """A loop nest laid out over an architecture."""

    factors: Mapped[Slot, Factors]
    """Trip counts by slot and loop."""
    orders: Mapped[str, Order]
    """The temporal loops of every level, outermost first."""
    keeps: Mapped[str, frozenset[str]]
    """The tensors that every level keeps."""
    remainders: Mapped[Slot, Factors] = field(default_factory=dict)
    """Trips in the last iteration of the loops around, where they are fewer there."""

    def factor(self, slot: Slot, loop: str) -> int:
        """Trips of a loop in a slot."""
        return self.factors.get(slot, {}).get(loop, 1)

    def trips(self, slot: Slot, loop: str) -> str:
        """Trips of a loop in a slot as text, with those in the last iteration of all where they are
        fewer."""
        fewer = self.remainders.get(slot, {}).get(loop)
        return f"{self.factor(slot, loop)}" + ("" if fewer is None else f",{fewer}")

    def several(self, slot: Slot, order: Order) -> list[str]:
        """The loops of a slot with more than one trip, in some order: ``M=4``."""
        return [f"{n}={self.trips(slot, n)}" for n in order if self.factor(slot, n) > 1]

    def runs(self, loop: str) -> dict[Slot, int]:
        """The number of times that what is inside each slot's loop runs in all, outermost first."""
        runs, counts = 1, {}
        for slot in self.factors:
            trips = self.factor(slot, loop)
            last = self.remainders.get(slot, {}).get(loop, trips)
            counts[slot] = runs = (runs - 1) * trips + last
        return counts

    def average(self, slot: Slot, loop: str) -> Fraction:
        """Trips of a loop in a slot on average; along and inside its lanes, which run in step, all
        of them."""
        runs, slots = [1, *self.runs(loop).values()], [*self.factors]
        place = slots.index(slot)
        if self._lanes(loop) <= place:
            return Fraction(self.factor(slot, loop))
        return Fraction(runs[place + 1], runs[place])

    def _lanes(self, loop: str) -> int:
        """The place of the outermost slot with lanes of a loop."""
        places = enumerate(self.factors)
        lanes = (n for n, slot in places if not slot.temporal and self.factor(slot, loop) > 1)
        return next(lanes, len(self.factors))

    def share(self, level: str, loop: str) -> Fraction:
        """The part of a loop's iterations that a level just outside the loop's outermost lanes has,
        relative to those that the lanes run in step; 1 for other levels."""
        place, slots = self._lanes(loop), [*self.factors]
        if place == len(slots) or slots[place].level != level:
            return Fraction(1)
        runs = [1, *self.runs(loop).values()]
        inside = prod(self.factor(slot, loop) for slot in slots[place:])
        return Fraction(runs[-1], runs[place] * inside)

    def padded(self, nest: LoopNest) -> dict[str, int]:
        """The extents that run: the product of the factors of every loop, less what its last
        iterations lack."""
        return {loop: [1, *self.runs(loop).values()][-1] for loop in nest.loops}

    def check(self, nest: LoopNest, architecture: Architecture) -> None:
        """Refuse a mapping that is none of this nest onto this architecture; whether it fits is the
        model's to say."""
        known = slots(architecture)
        for slot, factors in self.factors.items():
            where = f"factors of {slot.level}{slot.direction and f' along {slot.direction}'}"
            if slot not in known:
                raise InputError(
                    f"{where}: there is no such slot; allowed: "
                    f"{', '.join(s.quantity('loop') for s in known)}"
                )
            for loop, trips in factors.items():
                if loop not in nest.loops:
                    raise InputError(
                        f"{where} name the unknown loop {quoted(loop)}{among(loop, nest.loops)}"
                    )
                if trips < 1:
                    raise InputError(
                        f"{where}: that of {loop} is {trips}; allowed: a positive integer"
                    )
                fewer = self.remainders.get(slot, {}).get(loop)
                if fewer is not None and not 1 <= fewer <= trips:
                    raise InputError(
                        f"{where}: {loop} is {trips},{fewer}; allowed: from 1 to {trips} trips in "
                        "the last iteration"
                    )
                if fewer is not None and self.runs(loop)[slot] == fewer:
                    raise InputError(
                        f"{where}: {loop} is {trips},{fewer}; allowed: {loop}={fewer}, as no loop "
                        f"of {loop} is around"
                    )
        for loop, extent in nest.extents:
            if (runs := self.padded(nest)[loop]) < extent:
                raise InputError(
                    f"factors of {loop} multiply to {runs}; allowed: at least {extent}, its extent"
                )
        for level in architecture.levels:
            if sorted(self.orders[level.name]) != sorted(nest.loops):
                raise InputError(
                    f"order of {level.name} is "
                    f"{' '.join(self.orders[level.name])}; allowed: every loop once"
                )
