"""Partial mappings ("labels"), decided from the multipliers outwards, thousands at a time.

A label knows what its loops cover so far, and what that costs *a run*: one pass over what is
covered. Everything it knows is a row of one matrix, a label is a column. All are whole numbers,
which doubles hold exactly.

Where loops end with what is left, labels outside the outermost mesh count all runs of these loops
instead, those of a last tile with what it has: of n iterations in tiles of e there are ⌈n/e⌉ runs,
whatever lies outside. A loop that moves a tensor then multiplies nothing: all tiles together are
counted already. One that does not, and costs nothing, takes out its runs. So numbers stay whole.

A tensor is *open* while no temporal loop outside the level that holds it has moved its tile:
further loops that do not move it cost nothing. What it will have cost is kept apart from what is
settled, and multiplied with the loops that count once it closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Hierarchy
from ithaca.plugins.hierarchies.formulations.search.label_layout import LabelLayout

#: Doubles; longer floats where doubles would round (`Hierarchy.dtype`).
Matrix = Floats
Vector = Floats
Places = NDArray[np.intp]


@dataclass(frozen=True)
class PartialMappings:
    """Labels of partial mappings, all decided up to the same point."""

    layout: LabelLayout
    data: Matrix
    """A column each."""
    meshes: int = 0
    """Meshes that they have been through."""
    held: tuple[int, ...] = ()
    """Per tensor, the number of meshes inside the level that holds it."""
    ended: bool = False
    """Whether they count all runs of the loops that end with what is left. ``reach`` is then what
    the levels outside have of these in all, and ``run`` what lanes run of them in step; before
    that ``reach`` is -1 of loops with lanes in the present mesh."""

    @property
    def hierarchy(self) -> Hierarchy:
        """The memory hierarchy of the partial mappings."""
        return self.layout.hierarchy

    @property
    def count(self) -> int:
        """The number of labels."""
        return int(self.data.shape[1])

    def rows(self, name: object) -> Matrix:
        """The rows of a name."""
        return self.data[self.layout.rows(name)]

    def row(self, name: object, place: int = 0) -> Vector:
        """A row of the labels by its name."""
        values: Vector = self.rows(name)[place]
        return values

    def take(self, which: Places | Mask) -> PartialMappings:
        """The partial mappings at some indices, or where a mask holds."""
        return replace(self, data=self.data[:, which])

    def relaid(self, layout: LabelLayout) -> PartialMappings:
        """The partial mappings in another layout; what is new there is 0."""
        if layout == self.layout:
            return self
        data = np.zeros((layout.size, self.count), self.data.dtype)
        places = {number: place for place, number in enumerate(self.layout.counts)}
        shared = [
            (at, places[number]) for at, number in enumerate(layout.counts) if number in places
        ]
        for name in layout.names:
            if name not in self.layout.names:
                continue
            mine, theirs = self.rows(name), data[layout.rows(name)]
            if name in ("settled", "first") or (isinstance(name, tuple) and len(name) == 2):
                for to, origin in shared:
                    theirs[to] = mine[origin]
            else:
                theirs[:] = mine
        return replace(self, layout=layout, data=data)


def joined(parts: Sequence[PartialMappings]) -> PartialMappings:
    """All labels of several sets that are decided up to the same point."""
    if len(parts) == 1:
        return parts[0]
    counts = tuple(sorted({number for part in parts for number in part.layout.counts}))
    items = tuple(sorted({item for part in parts for item in part.layout.items}))
    layout = LabelLayout(parts[0].hierarchy, counts, items)
    return replace(
        parts[0],
        layout=layout,
        data=np.concatenate([part.relaid(layout).data for part in parts], axis=1),
    )


def beginning(hierarchy: Hierarchy) -> PartialMappings:
    """The one label of nothing decided: a multiplier does one step, for which it wants a word of
    every tensor."""
    counts = tuple(number for number, count in enumerate(hierarchy.counts) if count.step)
    layout = LabelLayout(hierarchy, counts, ())
    data = np.zeros((layout.size, 1), hierarchy.dtype)
    for name in ("extent", "widest", "lanes", "steps", "wanted", "closed"):
        data[layout.rows(name)] = 1
    data[layout.rows("settled"), 0] = [hierarchy.counts[number].step for number in counts]
    return PartialMappings(layout, data, 0, (0,) * len(hierarchy.tensors))


def box(hierarchy: Hierarchy, extents: Matrix, tensor: int) -> Vector:
    """Words of the bounding box of a tensor over extents.

    Parameters
    ----------
    hierarchy : Hierarchy
        The tensors, with their ranks.
    extents : Matrix
        What is covered of each loop, shape (loops, labels).
    tensor : int
        The number of the tensor.

    Returns
    -------
    Vector
        Words, shape (labels).
    """
    words = np.ones(extents.shape[1:])
    for terms in hierarchy.tensors[tensor].ranks:
        if terms:
            words = words * width(extents, terms)
    return words


def width(extents: Matrix, terms: tuple[tuple[int, int], ...]) -> Vector:
    """The side of a box along a rank."""
    side: Vector = extents[terms[0][0]] * terms[0][1] + (1 - sum(c for _, c in terms))
    for d, c in terms[1:]:
        side = side + c * extents[d]
    return side


def fits(hierarchy: Hierarchy, extents: Matrix, level: int) -> Mask:
    """A mask of the tiles that fit a level and all around it, if they are no larger there.

    Parameters
    ----------
    hierarchy : Hierarchy
        The levels, with the words that each holds.
    extents : Matrix
        What is covered of each loop, shape (loops, labels).
    level : int
        The number of the innermost level that is looked at.

    Returns
    -------
    Mask
        Shape (labels).
    """
    fitting = np.ones(extents.shape[1:], bool)
    tiles: dict[int, Vector] = {}
    for number in range(level + 1):
        for tensors, words in hierarchy.room(number):
            for v in tensors:
                if v not in tiles:
                    tiles[v] = box(hierarchy, extents, v)
            fitting &= sum(hierarchy.filled(number, v, tiles[v]) for v in tensors) <= words
    return fitting


# -- extensions ------------------------------------------------------------------------


def repeat(labels: PartialMappings, loop: int, which: Places, trips: Vector) -> PartialMappings:
    """Labels with a temporal loop outside all so far: those that ``which`` numbers, with so many
    trips.

    Parameters
    ----------
    labels : PartialMappings
        The labels.
    loop : int
        The number of the loop.
    which : Places
        Places of labels, shape (extended labels); one may occur several times.
    trips : Vector
        Trips of the loop for each, of that shape.
    """
    grown = labels.take(which)
    before = grown.row("extent", loop).copy()
    runs, counted, ended = trips > 1, trips, labels.ended and loop in labels.hierarchy.ending
    grown.row("steps")[:] *= trips
    if ended:
        extent, counted = labels.hierarchy.extents[loop], np.ones_like(trips)
        under, over = -(-extent // before), -(-extent // (before * trips))
    grown.rows("settled")[:] *= counted
    settled, wanted, closed = (grown.rows(name) for name in ("settled", "wanted", "closed"))
    for v, tensor in enumerate(labels.hierarchy.tensors):
        if not tensor.moved[loop]:
            wanted[v] *= np.where(closed[v] > 0, counted, 1)
            if ended:
                own = [grown.rows(item) for item in labels.layout.items if item[0] == v]
                for words in (wanted[v : v + 1], *own):
                    words[:] = np.where(closed[v] > 0, words, words / under * over)
            continue
        closing = runs & (closed[v] == 0)
        for item in labels.layout.items:
            if item[0] == v:
                pending = grown.rows(item)
                closed_words = pending * counted
                if loop in tensor.windows:
                    rank, c = tensor.windows[loop]
                    closed_words = _sliding(pending, trips, grown.row((*item, rank)), c * before)
                settled += np.where(closing, closed_words, 0)
                pending *= ~closing
        anew = wanted[v] * counted
        if loop in tensor.windows and (v, labels.held[v]) in labels.layout.items:
            rank, c = tensor.windows[loop]
            anew = np.where(
                closing,
                _sliding(wanted[v], trips, grown.row((v, labels.held[v], rank)), c * before),
                anew,
            )
        wanted[v] = anew
        closed[v][runs] = 1
        if tensor.output:
            grown.rows("first")[:] *= counted
    _cover(grown, loop, trips)
    return grown


def runs_left(labels: PartialMappings) -> Matrix:
    """The number of times that what labels cover of each loop runs in all, where they count all
    runs of it; else 1."""
    left = np.ones_like(labels.rows("extent"))
    for d in labels.hierarchy.ending if labels.ended else ():
        left[d] = -(-labels.hierarchy.extents[d] // labels.row("extent", d))
    return left


def counting_all(labels: PartialMappings, *, back: bool = False) -> PartialMappings:
    """Labels that from now on count all runs of the loops that end with what is left; or ``back``,
    what they count a run on average."""
    output = labels.hierarchy.tensors[labels.hierarchy.output]
    grown = replace(labels, data=labels.data.copy(), ended=True)
    left = runs_left(grown)
    if not back:
        for d in labels.hierarchy.ending:
            reach, run = grown.row("reach", d), grown.row("run", d)
            run[:] = left[d] * grown.row("extent", d)
            reach[:] = np.where(reach < 0, labels.hierarchy.extents[d], run)
    runs, own = left.prod(axis=0), left[np.array(output.moved)].prod(axis=0)
    for name in ("settled", "wanted", "first", *labels.layout.items):
        times = own if name == "first" else runs
        grown.rows(name)[:] *= 1 / times if back else times
    return grown


def covered(labels: PartialMappings, times: Matrix) -> Vector:
    """The iterations of so many times what labels cover; of loops that end with what is left all
    that lanes run of them, once that is known."""
    each = times * labels.rows("extent")
    for d in labels.hierarchy.ending if labels.ended else ():
        each[d] = labels.row("run", d)
    steps: Vector = each.prod(axis=0)
    return steps


def _once(labels: PartialMappings, tensor: int, what: str) -> Vector:
    """Words of a tensor's tile, or of all that labels count, each once: of what levels outside
    lanes ``reach``, or of what lanes ``run``."""
    extents = labels.rows("extent")
    if labels.ended:
        extents = extents.copy()
        for d in labels.hierarchy.ending:
            extents[d] = labels.row(what, d)
    return box(labels.hierarchy, extents, tensor)


def _sliding(words: Matrix, trips: Vector, width: Vector, step: Vector) -> Matrix:
    """The words of so many trips where one takes ``words``: of w elements that move by δ < w, w +
    (n − 1)·δ.

    Words of open tensors are of whole tiles, so divided first, by their width, they stay whole.
    """
    taken: Matrix = words / np.maximum(width, 1) * (width + (trips - 1) * np.minimum(step, width))
    return taken


def _cover(labels: PartialMappings, loop: int, factor: Vector) -> None:
    labels.row("extent", loop)[:] *= factor
    widest = labels.row("widest", loop)
    np.maximum(widest, factor, out=widest)


def spread(
    labels: PartialMappings, loop: int, which: Places, lanes: Vector, inner: Matrix
) -> PartialMappings:
    """Labels with lanes of a loop in the present mesh; ``inner`` is what their lanes cover each, of
    every loop.

    Parameters
    ----------
    labels : PartialMappings
        The labels.
    loop : int
        The number of the loop.
    which : Places
        Places of labels, shape (extended labels); one may occur several times.
    lanes : Vector
        Lanes of the loop for each, of that shape.
    inner : Matrix
        What a lane covers of each loop, shape (loops, labels).
    """
    grown = labels.take(which)
    adding = labels.layout.adding
    for name in ("settled", "first", *labels.layout.items):
        grown.rows(name)[adding] *= lanes
    for name in ("lanes", "leak"):
        grown.rows(name)[:] *= lanes
    if labels.hierarchy.ending:
        grown.row("reach", loop)[:] = -1.0 * (lanes > 1)
    wanted = grown.rows("wanted")
    inner = inner[:, which]
    for v, tensor in enumerate(labels.hierarchy.tensors):
        if tensor.moved[loop]:
            there, twice = lanes * 0 + 1, lanes * 0
            if loop in tensor.windows:
                rank, c = tensor.windows[loop]
                for other, c_other in tensor.ranks[rank]:
                    if other != loop:
                        there = grown.row("extent", other) / inner[other]
                        twice = _alike(lanes, c * inner[loop], there, c_other * inner[other])
            # so far lanes of the other loop want each a tile of their own
            wanted[v] = wanted[v] / there * (lanes * there - twice)
    _cover(grown, loop, lanes)
    return grown


def _alike(m: Vector, step: Vector, n: Vector, other: Vector) -> Vector:
    """The number of m·n lanes, along two loops that share a rank, whose tile another lane wants,
    too."""
    common = np.gcd(step.astype(np.int64), other.astype(np.int64))
    return np.maximum(m - other / common, 0) * np.maximum(n - step / common, 0)


def enter(labels: PartialMappings, level: int) -> PartialMappings:
    """Labels whose loops up to a level's temporal ones are decided: what is wanted is read there,
    and the level is filled."""
    hierarchy = labels.hierarchy
    counts = tuple(sorted({*labels.layout.counts, *hierarchy.counted_at(level)}))
    held, items = list(labels.held), set(labels.layout.items)
    kept = [v for v, keeps in enumerate(hierarchy.keeps[level]) if keeps]
    for v in kept:
        if level != hierarchy.top(v):
            items.add((v, labels.meshes if hierarchy.tensors[v].windows else 0))
    entered = labels.relaid(LabelLayout(hierarchy, counts, tuple(sorted(items))))
    if entered is labels:
        entered = replace(labels, data=labels.data.copy())
    for leaking, weights in zip(entered.rows("leak"), hierarchy.leaks, strict=True):
        leaking += weights[level]
    settled, first = entered.rows("settled"), entered.rows("first")
    for v in kept:
        tensor, words = hierarchy.tensors[v], entered.row("wanted", v)
        closed = entered.row("closed", v)
        once = begun = _once(entered, v, "reach")
        tile = once * runs_left(entered)[~np.array(tensor.moved)].prod(axis=0)
        inside = next(
            (k for k in range(level + 1, len(hierarchy.keeps)) if hierarchy.keeps[k][v]), 0
        )
        if entered.ended and not 0 < inside <= hierarchy.ends:
            begun = _once(entered, v, "run")
        filled = level != hierarchy.top(v)
        item = (v, labels.meshes if tensor.windows else 0)
        for place, number in enumerate(counts):
            count = hierarchy.counts[number]
            read, fill = count.reads.get((level, v), 0), count.fills.get((level, v), 0)
            weight = read + (count.updates.get((level, v), 0) if tensor.output else 0)
            if weight:
                before = (v, labels.held[v])
                if before in entered.layout.items:
                    entered.rows(before)[place] += np.where(closed > 0, 0, weight * words)
                    settled[place] += np.where(closed > 0, weight * words, 0)
                else:
                    settled[place] += weight * words
            if fill and filled:
                entered.rows(item)[place] += fill * tile
            if tensor.output:
                first[place] += read * begun + (fill * once if filled else 0)
        if filled:
            entered.row("wanted", v)[:] = tile
            closed[:] = 0
            held[v] = item[1]
            for rank in tensor.window_ranks:
                entered.row((*item, rank))[:] = width(entered.rows("extent"), tensor.ranks[rank])
        else:
            entered.row("wanted", v)[:] = 0
    return trimmed(replace(entered, held=tuple(held)))


def trimmed(labels: PartialMappings) -> PartialMappings:
    """Labels without rows that can no longer matter: bandwidths that make no label wait, and
    tensors open in none."""
    layout, hierarchy = labels.layout, labels.hierarchy
    counts, steps = list(layout.counts), labels.row("steps")
    runs = runs_left(labels).prod(axis=0)
    for place, number in enumerate(layout.counts):
        rate = hierarchy.counts[number].rate
        if rate is None:
            continue
        rows = [labels.rows("settled")[place], *(labels.rows(item)[place] for item in layout.items)]
        # further loops multiply steps by at least as much as words
        waits = sum(rows) * rate.denominator > steps * runs * rate.numerator
        for row in (*rows, labels.rows("first")[place]):
            row *= waits
        if not waits.any():
            counts.remove(number)
    items = tuple(
        item
        for item in layout.items
        if labels.held[item[0]] == item[1] or (labels.rows(item) > 0).any()
    )
    return labels.relaid(LabelLayout(hierarchy, tuple(counts), items))
