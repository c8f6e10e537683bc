"""Lower bounds of the costs of labels, over all decisions that are left outside them.

Let x be the trips that are left of every loop, Q their product. What is settled costs Q times as
much in the end. The next temporal loop with more than one trip closes every tensor that it moves,
so only tensors that some one loop leaves alone may go on for nothing: for each such *group* of open
tensors, those in it are multiplied with the loops that move them at least, all others with Q (less
what tiles share along the loop that closes them). What levels further out take is bounded by the
least over all tiles that fit them (`OuterLevels`), whatever the tiles of the others are; but with
what a tensor that goes on for nothing is taken again by the tile of the next level.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Mask
from ithaca.formulations.algebra.number_systems import ceilings
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Count, Hierarchy, Mesh
from ithaca.plugins.hierarchies.formulations.search.label_layout import Item
from ithaca.plugins.hierarchies.formulations.search.meshes import Layouts
from ithaca.plugins.hierarchies.formulations.search.outer_levels import (
    MORE,
    OpenTensors,
    OuterLevels,
    Position,
    distinct_share,
    trips_left,
)
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import (
    Matrix,
    PartialMappings,
    Vector,
    box,
    counting_all,
)


def _over(left: Matrix, loops: Collection[int]) -> Vector:
    """The trips that are left of some loops, together."""
    trips: Vector = left[list(loops)].prod(axis=0)
    return trips


def groups(hierarchy: Hierarchy) -> tuple[OpenTensors, ...]:
    """One group for every set of tensors that some loop leaves alone."""
    loops_by_still: dict[frozenset[int], list[int]] = {}
    for loop in range(len(hierarchy.loops)):
        still = frozenset(v for v, tensor in enumerate(hierarchy.tensors) if not tensor.moved[loop])
        loops_by_still.setdefault(still, []).append(loop)
    return tuple(OpenTensors(still, tuple(loops)) for still, loops in loops_by_still.items())


class Bounds:
    """Lower bounds of all counts of labels."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        layouts: Layouts,
        values: Sequence[Vector],
        *,
        divisors: bool,
        tiles: int,
    ) -> None:
        self.hierarchy, self.layouts = hierarchy, layouts
        self.groups = groups(hierarchy)
        self.outer = OuterLevels(hierarchy, self.groups, values, tiles, divisors=divisors)

    def least(
        self, labels: PartialMappings, at: Position, numbers: Sequence[int]
    ) -> tuple[Vector, Vector, list[tuple[Mask, list[Vector]]]]:
        """Lower bounds: cycles of the multipliers; runs of what is covered; and by group whether it
        may come next, with the least of the counts that ``numbers`` says.

        Parameters
        ----------
        labels : PartialMappings
            Partial mappings.
        at : Position
            Where the search is.
        numbers : sequence of int
            Places of the counts that are wanted.
        """
        hierarchy = self.hierarchy
        labels = counting_all(labels, back=True) if labels.ended else labels
        left = trips_left(hierarchy, labels.rows("extent"))
        runs = left.prod(axis=0)
        moving = [
            left[[d for d, moved in enumerate(tensor.moved) if moved]].prod(axis=0)
            for tensor in hierarchy.tensors
        ]
        free = self._free(labels, at, left)
        tiles = self.outer.places(labels.rows("extent"))
        outer = self.outer.least(tiles, at, numbers)
        again = self._again(labels, tiles, at, numbers, free)
        settled = [self._settled(labels, number, runs, free) for number in numbers]
        wholes = [
            self._from_parent(labels, v, at, left, runs, moving[v], free)
            for v in range(len(hierarchy.tensors))
        ]
        first = self._first(labels, at, runs, moving[hierarchy.output])
        by_group = []
        for group in self.groups:
            shares = {item: self._share(labels, item, group, left) for item in labels.layout.items}
            wanted = []
            for v, (full, at_least) in enumerate(wholes):
                share = shares.get((v, labels.held[v]), 1.0)
                open_ = labels.row("closed", v) == 0
                wanted.append(
                    np.where(open_, (at_least if v in group.tensors else full) * share, full)
                )
            times = {
                item: (moving[item[0]] if item[0] in group.tensors else runs) * shares[item]
                for item in shares
            }
            counts = []
            for place, number in enumerate(numbers):
                count = hierarchy.counts[number]
                total = settled[place] + self._open(
                    labels, number, group, times, runs, moving[hierarchy.output], free
                )
                total = np.maximum(total, 0)
                more: Vector | float = 0.0
                for v, words in enumerate(wanted):
                    parent = hierarchy.parent(at.level + 1, v)
                    read = self._read(count, v, parent, words, first)
                    total = total + read
                    if (number, v) in again:
                        staying, moved = again[number, v]
                        moved = moved + hierarchy.least_words(count, parent, v) - read
                        open_ = (labels.row("closed", v) == 0) & (v in group.tensors)
                        more = np.maximum(more, np.where(open_, staying, moved))
                counts.append(total + outer[place] + more)
            by_group.append((group.possible(left), counts))
        return labels.row("steps") * np.maximum(ceilings(runs, free), 1), runs, by_group

    def _again(
        self,
        labels: PartialMappings,
        tiles: NDArray[np.intp],
        at: Position,
        numbers: Sequence[int],
        free: Vector,
    ) -> dict[tuple[int, int], tuple[Vector, Vector]]:
        """Words, by count and tensor, that are taken again: though no next loop moves the tensor,
        and if one does."""
        hierarchy, later = self.hierarchy, self.hierarchy.meshes[labels.meshes :]
        taken = {}
        for v, tensor in enumerate(hierarchy.tensors):
            parent = hierarchy.parent(at.level + 1, v)
            if parent is None or tensor.windows or hierarchy.ending:
                continue
            for number in numbers:
                if not hierarchy.counts[number].adds:
                    continue
                staying, moved = np.zeros(labels.count), np.zeros(labels.count)
                between = [mesh.level for mesh in later if mesh.level >= parent]
                # lanes outside a tile may want the same, and are given it once
                for level in range(parent + 1, min([at.level, *between]) + 1):
                    inside = self._lanes([mesh for mesh in later if mesh.level >= level])
                    lanes = 4 ** np.ceil(np.log2(np.clip(free, 1, inside)) / 2)
                    for most in np.unique(lanes):
                        own = lanes == most
                        again = self.outer.again(tiles[own], at, number, v, level, int(most))
                        staying[own] = np.maximum(staying[own], again)
                    again = self.outer.again(tiles, at, number, v, level, 0)
                    moved = np.maximum(moved, again)
                taken[number, v] = staying, moved
        return taken

    def _lanes(self, meshes: Sequence[Mesh]) -> int:
        """Lanes of meshes at most, innermost first, whatever is inside."""
        if self.layouts.within_parent:
            return prod(mesh.own[0] * mesh.own[1] for mesh in meshes)
        return meshes[0].x * meshes[0].y if meshes else 1

    def _free(self, labels: PartialMappings, at: Position, left: Matrix) -> Vector:
        """An upper bound of the lanes that may still be added."""
        meshes, seen = self.hierarchy.meshes, labels.meshes + at.lanes_open
        room = self.layouts.room(labels.row("mesh")) if seen else np.full(labels.count, inf)
        here = np.ones(labels.count)
        if at.lanes_open:
            here = _over(left, at.open_loops(self.hierarchy))
        later = meshes[seen:]
        if self.layouts.within_parent:
            return (np.minimum(room, here) if at.lanes_open else here) * self._lanes(later)
        around = self._lanes(later)
        return np.minimum(room, here * around) if later or at.lanes_open else here

    def _settled(
        self, labels: PartialMappings, number: int, runs: Vector, free: Vector
    ) -> Vector | float:
        if number not in labels.layout.counts:
            return 0.0
        settled: Vector = labels.rows("settled")[labels.layout.counts.index(number)] * runs
        return settled if self.hierarchy.counts[number].adds else settled / free

    def _open(
        self,
        labels: PartialMappings,
        number: int,
        group: OpenTensors,
        times: Mapping[Item, Vector],
        runs: Vector,
        moving: Vector,
        free: Vector,
    ) -> Vector | float:
        """The cost of open tensors in the end, less what is written for the first time."""
        layout, output = labels.layout, self.hierarchy.output
        if number not in layout.counts:
            return 0.0
        place, adds = layout.counts.index(number), self.hierarchy.counts[number].adds
        total: Vector | float = 0.0
        pending: Vector | float = 0.0
        for item in layout.items:
            rows = labels.rows(item)[place]
            if item[0] == output:
                pending = pending + rows
            else:
                total = total + rows * (times[item] if adds else np.maximum(times[item] / free, 1))
        own = labels.rows("first")[place]
        # so often it is subtracted, if the lanes left are all of loops that do not move the output
        most = MORE * (
            moving * np.minimum(free, runs / moving) if adds else np.minimum(moving, runs / free)
        )
        plain = pending * (runs if adds else runs / free) - own * most
        if output in group.tensors:
            net, least = pending - own, moving if adds else moving / free
            plain = np.where(
                labels.row("closed", output) == 0, np.where(net > 0, net * least, net * most), plain
            )
        cost: Vector = total + plain
        return cost

    def _share(
        self, labels: PartialMappings, item: Item, group: OpenTensors, left: Matrix
    ) -> Vector | float:
        """The least cost of filling an open tensor anew in each trip, relative to tiles that share
        nothing."""
        tensor, extents = self.hierarchy.tensors[item[0]], labels.rows("extent")
        least: Vector | float = 1.0
        for d in (
            tensor.windows
            if item[0] in group.tensors
            else [d for d in group.loops if d in tensor.windows]
        ):
            rank, c = tensor.windows[d]
            w = np.maximum(labels.row((*item, rank)), 1)
            least = np.minimum(
                least, (w + (left[d] - 1) * np.minimum(c * extents[d], w)) / (left[d] * w)
            )
        return least

    def _from_parent(
        self,
        labels: PartialMappings,
        v: int,
        at: Position,
        left: Matrix,
        runs: Vector,
        moving: Vector,
        free: Vector,
    ) -> tuple[Vector, Vector]:
        """Words that the next level around gives of a tensor, by all its instances: anew in each
        trip, and where it is open."""
        parent, words = self.hierarchy.parent(at.level + 1, v), labels.row("wanted", v)
        if parent is None:
            return words, words
        # lanes that want the same are given it once
        between = [mesh for mesh in self.hierarchy.meshes[labels.meshes :] if mesh.level >= parent]
        if not between:
            return words * runs, words * moving
        # of a mesh that is being decided, some lanes are decided already
        most = (
            np.broadcast_to(np.array(self.hierarchy.extents, float)[:, None], left.shape)
            if at.lanes_open
            else left
        )
        words = words * distinct_share(self.hierarchy, v, between, most)
        if at.lanes_open and between[-1].level == at.level:
            moved = self.hierarchy.tensors[v].moved
            still = [d for d in at.open_loops(self.hierarchy) if not moved[d]]
            free = np.minimum(free, _over(left, still))
        return words * np.maximum(runs / free, moving), words * moving

    def _first(
        self, labels: PartialMappings, at: Position, runs: Vector, moving: Vector
    ) -> Vector | float:
        """An upper bound of the words of the output that the next level around takes for the first
        time, by all its instances."""
        output = self.hierarchy.output
        parent = self.hierarchy.parent(at.level + 1, output)
        if parent is None:
            return 0.0
        most = np.minimum(runs / moving, float(self.hierarchy.levels[parent].instances))
        most_first: Vector = (
            box(self.hierarchy, labels.rows("extent"), output) * moving * most * MORE
        )
        return most_first

    def _read(
        self, count: Count, v: int, parent: int | None, words: Vector, first: Vector | float
    ) -> Vector | float:
        """The count of words that the next level around gives, or takes."""
        if parent is None:
            return 0.0
        read = count.reads.get((parent, v), 0)
        outside = 1.0 if count.adds else float(self.hierarchy.levels[parent].instances)
        if v != self.hierarchy.output:
            return words * (read / outside) if read else 0.0
        update = count.updates.get((parent, v), 0)
        if not read + update:
            return 0.0
        words_outside: Vector = (update * words + read * np.maximum(words - first, 0)) / outside
        return words_outside
