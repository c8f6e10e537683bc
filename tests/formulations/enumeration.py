"""A run of a design, iteration by iteration: what PEs touch, and how often tiles come and go.

Nothing of the derivation is used: PEs, tiles and elements follow from the loop nest, the loops in
space, the order of the tile loops and the factors alone. Every loop must have two tiles or more,
so that what is reused is what the order of the loops says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby, product
from math import prod

from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class Run:
    """A nest, the loops in space, the order of the tile loops, and the factors t1 and t2 of every
    band loop."""

    nest: LoopNest
    dataflow: tuple[str, ...]
    order: tuple[str, ...]
    t1: Mapping[str, int]
    t2: Mapping[str, int]

    # -- where things happen ---------------------------------------------------------------

    @property
    def pes(self):
        """All PEs by their place along each loop in space."""
        return list(product(*(range(self.t1[x] // self.t2[x]) for x in self.dataflow)))

    @property
    def tiles(self):
        """All tiles in the order they are worked on: a tile number per band loop."""
        counts = [range(-(-self.nest.sizes[x] // self.t1[x])) for x in self.order]
        return [dict(zip(self.order, numbers, strict=True)) for numbers in product(*counts)]

    def iterations(self, tile, pe):
        """The iterations of a PE in a tile."""
        ranges = []
        for loop in self.nest.loops:
            if loop in self.nest.untiled:
                ranges.append(range(self.nest.sizes[loop]))
                continue
            begin, length = tile[loop] * self.t1[loop], self.t1[loop]
            if loop in self.dataflow:
                begin, length = begin + pe[self.dataflow.index(loop)] * self.t2[loop], self.t2[loop]
            ranges.append(range(begin, begin + length))
        for point in product(*ranges):
            yield dict(zip(self.nest.loops, point, strict=True))

    def elements(self, access, tile, pe):
        """The elements of an array that a PE touches in a tile."""
        return frozenset(element(access, at) for at in self.iterations(tile, pe))

    # -- what follows ----------------------------------------------------------------------

    def box(self, access):
        """Words of the smallest box around what a PE touches in a tile (the same for all)."""
        sizes = set()
        for tile in (self.tiles[0], self.tiles[-1]):
            for pe in (self.pes[0], self.pes[-1]):
                columns = zip(*self.elements(access, tile, pe), strict=True)
                sizes.add(prod(max(column) - min(column) + 1 for column in columns))
        (size,) = sizes
        return size

    def sharing(self, access):
        """The first loop in space along which all PEs touch the same elements; None if there is
        none."""
        tile = self.tiles[0]
        for index, loop in enumerate(self.dataflow):
            lines = {}
            for pe in self.pes:
                lines.setdefault(pe[:index] + pe[index + 1 :], set()).add(
                    self.elements(access, tile, pe)
                )
            if all(len(touched) == 1 for touched in lines.values()):
                return loop
        return None

    def buffers(self, access):
        """The number of buffers that feed an array to the PEs: one for those that share, else one
        each."""
        shared = self.sharing(access)
        return (
            len(self.pes)
            if shared is None
            else len(self.pes) // (self.t1[shared] // self.t2[shared])
        )

    def changes(self, access):
        """The number of times that what a PE needs differs from what it needed for the tile before,
        the first included."""
        needed = (self.elements(access, tile, self.pes[0]) for tile in self.tiles)
        return sum(1 for _ in groupby(needed))

    def output_tiles(self):
        """The number of different tiles of the output."""
        return len({self.elements(self.nest.output, tile, self.pes[0]) for tile in self.tiles})

    def cycles(self):
        """Cycles of a PE over all tiles, with a vector of SIMD iterations each."""
        simd = self.t2[self.nest.simd]
        work = {sum(1 for _ in self.iterations(tile, pe)) for tile in self.tiles for pe in self.pes}
        (iterations,) = work
        assert iterations % simd == 0
        return len(self.tiles) * iterations // simd

    def sums_in_time(self):
        """Whether a PE adds to an element of the output more than once, in different cycles of a
        tile."""
        cycles = {}
        for at in self.iterations(self.tiles[0], self.pes[0]):
            cycle = tuple(n // self.t2[x] if x == self.nest.simd else n for x, n in at.items())
            cycles.setdefault(element(self.nest.output, at), set()).add(cycle)
        return any(len(found) > 1 for found in cycles.values())


def element(access, at):
    """The element that an access touches in an iteration."""
    return tuple(s.constant + sum(c * at[loop] for loop, c in s.terms) for s in access)
