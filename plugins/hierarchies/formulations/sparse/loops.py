"""A mapping as loops in a row, each with the iterations that it and all inside it cover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.workloads.nest import LoopNest

#: Iterations by loop.
Extents = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LevelLoop:
    """A loop of a level."""

    name: str
    trips: int
    spatial: bool
    inside: Extents
    """Iterations of every loop that it and all inside it cover."""


def loops_of(nest: LoopNest, mapping: LoopMapping) -> tuple[tuple[LevelLoop, ...], ...]:
    """The loops of every level, outermost level first, its innermost loop first: those of its mesh,
    along X and along Y, then those in time; those of one trip, too."""
    covered = dict.fromkeys(nest.loops, 1)
    levels: list[tuple[LevelLoop, ...]] = []
    for level, order in reversed([*mapping.orders.items()]):
        loops = []
        for slot in (Slot(level, "x"), Slot(level, "y"), Slot(level)):
            names = reversed(order) if slot.temporal else mapping.factors.get(slot, ())
            for name in names:
                trips = mapping.factor(slot, name)
                covered = covered | {name: covered[name] * trips}
                loops.append(LevelLoop(name, trips, not slot.temporal, covered))
        levels.append(tuple(loops))
    return tuple(reversed(levels))
