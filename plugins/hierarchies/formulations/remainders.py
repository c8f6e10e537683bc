"""Loops that end with what is left: which may, their trips on average, and in last iterations.

Outside the outermost mesh a loop of n iterations has ⌈n/e⌉ tiles of e, the last of which is what is
left. Inside it tiles are whole, since lanes run in step: there a loop is padded to a multiple of
what a lane covers. If it has lanes, levels outside have its true extent all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import prod
from operator import mul

from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.plugins.hierarchies.formulations.counts import Number
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.workloads.nest import LoopNest


def ending(nest: LoopNest, moving: Collection[str]) -> frozenset[str]:
    """The loops that may have fewer trips in last iterations: those with subscripts of their own,
    whose tiles neither overlap nor have holes."""
    shared = {
        loop
        for access in nest.accesses
        for subscript in access
        for loop, c in subscript.terms
        if c > 1 or set(subscript.loops) & set(moving) - {loop}
    }
    return frozenset(moving) - shared


@dataclass(frozen=True)
class Tails:
    """The last iterations of loops."""

    nest: LoopNest
    """Their nest."""
    slots: tuple[Slot, ...]
    """All places for factors, outermost first."""
    ends: tuple[Slot, ...]
    """The slots of time outside all lanes."""
    loops: Collection[str]
    """The loops that end with what is left."""

    @property
    def _inner(self) -> tuple[Slot, ...]:
        return self.slots[len(self.ends) :]

    def numbers(
        self, factor: Callable[[Slot, str], Number], numbers: NumberSystem
    ) -> tuple[Callable[[Slot, str], Number], Callable[[int, str], Number]]:
        """Trips on average, by slot and loop; and what a level has of what lanes run in step.

        Parameters
        ----------
        factor : callable
            Trips by slot and loop.
        numbers : NumberSystem
            Their number system.
        """
        one, extents = numbers.number(Fraction(1)), self.nest.sizes

        def covered(loop: str, slots: Sequence[Slot]) -> Number:
            return reduce(mul, (factor(slot, loop) for slot in slots), one)

        def tiles(loop: str, slots: Sequence[Slot]) -> Number:
            return numbers.ceil_div(numbers.number(Fraction(extents[loop])), covered(loop, slots))

        def average(slot: Slot, loop: str) -> Number:
            if loop not in self.loops or slot not in self.ends:
                return factor(slot, loop)
            place = self.slots.index(slot)
            return tiles(loop, self.slots[place + 1 :]) / tiles(loop, self.slots[place:])

        def share(level: int, loop: str) -> Number:
            inner = self._inner
            if loop not in self.loops or not inner or level != len(self.ends) - 1:
                return one
            run = covered(loop, inner) * tiles(loop, inner)
            left = numbers.number(Fraction(extents[loop])) / run
            several = numbers.minimum(covered(loop, inner[:2]) - 1, one)
            return one + several * (left - 1)

        return average, share

    def remainders(self, factors: Mapping[Slot, Mapping[str, int]]) -> dict[Slot, dict[str, int]]:
        """Trips in last iterations, where they are fewer; of loops without lanes in the outermost
        mesh outside it alone."""
        fewer: dict[Slot, dict[str, int]] = {}
        for loop in self.loops:
            lanes = any(factors[slot][loop] > 1 for slot in self._inner[:2])
            inside = 1 if lanes else prod(factors[slot][loop] for slot in self._inner)
            rest = -(-self.nest.sizes[loop] // inside) - 1
            for slot in reversed(self.slots if lanes else self.ends):
                rest, last = divmod(rest, factors[slot][loop])
                if last + 1 < factors[slot][loop]:
                    fewer.setdefault(slot, {})[loop] = last + 1
        return fewer
