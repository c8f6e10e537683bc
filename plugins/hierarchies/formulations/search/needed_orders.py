"""Orders of loops that boxes of mappings need: of those that cost the same, one.

In a box it is decided which loops have more than one trip in every level. With that it is decided
up to which level a tile stays, whatever the orders: up to a loop that moves its tensor and has more
than one trip. Orders only decide which loops lie inside that one, where their trips cost the tensor
nothing. So an order of a level is spared where another one has, for every tensor that is still
open there, at least these loops inside; this holds level by level, as costs fall with each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from ithaca.formulations.algebra.array_types import Integers, Mask
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy


class NeededOrders:
    """The orders of levels that suffice for boxes of each kind of mappings.

    Parameters
    ----------
    hierarchy : Hierarchy
        The levels, tensors and orders; tiles of no tensor overlap.
    several : sequence of mapping
        By loop and level, whether each kind of the loop has more than one trip there; where kinds
        do not tell, as of loops that move nothing that counts, the level is left out.
    """

    def __init__(self, hierarchy: Hierarchy, several: Sequence[Mapping[int, Mask]]) -> None:
        self._hierarchy, self._several = hierarchy, several

    def mask(self, orders: Sequence[int], kinds: Integers) -> Mask:
        """Whether boxes need these orders.

        Parameters
        ----------
        orders : sequence of int
            The order of every level.
        kinds : ndarray
            The kind of every loop, shape (loops, boxes).
        """
        needed = np.ones(kinds.shape[1], bool)
        for level, order in enumerate(orders):
            if len(self._hierarchy.orders[level]) > 1:
                running = [self._running(d, level, kinds, True) for d in range(len(kinds))]
                # bits of the loops with several trips, then of the tensors that are open
                bits = [*running, *self._open(level, kinds)]
                cases = sum(bit.astype(np.int64) << place for place, bit in enumerate(bits))
                which, places = np.unique(cases, return_inverse=True)
                own = [order in self._sufficient(level, int(case)) for case in which]
                needed &= np.array(own, bool)[np.ravel(places)]
        return needed

    def _open(self, level: int, kinds: Integers) -> list[Mask]:
        """By tensor, whether its outermost tile inside a level stays up to there."""
        masks, keeps = [], self._hierarchy.keeps
        for v, tensor in enumerate(self._hierarchy.tensors):
            child = next((n for n in range(level + 1, len(keeps)) if keeps[n][v]), None)
            # multipliers keep no tile: they are given every word anew
            open_ = np.full(kinds.shape[1], child is not None)
            for around in range(level + 1, child or 0):
                for d, moved in enumerate(tensor.moved):
                    if moved:
                        open_ &= ~self._running(d, around, kinds, False)
            masks.append(open_)
        return masks

    def _running(self, loop: int, level: int, kinds: Integers, unknown: bool) -> Mask:
        """Whether a loop has more than one trip in a level, ``unknown`` where kinds do not tell.

        Orders that suffice where such loops run do so where they rest; that its tile stays makes
        one more tensor count. Neither leaves out an order that is needed.
        """
        known = self._several[loop].get(level)
        return np.full(kinds.shape[1], unknown) if known is None else known[kinds[loop]]

    @remembered
    def _sufficient(self, level: int, case: int) -> frozenset[int]:
        """The orders of a level that suffice in a case: the first of those that are as good."""
        loops, tensors = self._loops, self._hierarchy.tensors
        running = {d for d in range(loops) if case >> d & 1}
        open_ = [v for v in range(len(tensors)) if case >> loops + v & 1]
        kept: list[tuple[int, list[set[int]]]] = []
        for number, order in enumerate(self._hierarchy.orders[level]):
            free = [self._free(order, running, v) for v in open_]
            if not any(_covers(other, free) for _, other in kept):
                kept = [(n, other) for n, other in kept if not _covers(free, other)]
                kept.append((number, free))
        return frozenset(number for number, _ in kept)

    def _free(self, order: Sequence[int], running: set[int], tensor: int) -> set[int]:
        """The loops that cost a tensor nothing."""
        free: set[int] = set()
        for d in order:  # innermost first
            if d in running:
                if self._hierarchy.tensors[tensor].moved[d]:
                    break
                free.add(d)
        return free

    @cached_property
    def _loops(self) -> int:
        return len(self._hierarchy.loops)


def _covers(one: Sequence[set[int]], other: Sequence[set[int]]) -> bool:
    """Whether every tensor has at least the loops for nothing that it has there."""
    return all(there <= here for here, there in zip(one, other, strict=True))
