"""Lower bounds of the costs of the levels that labels have not entered, whatever their tiles
are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Mask
from ithaca.formulations.algebra.number_systems import ceilings
from ithaca.formulations.algebra.rounding import ROUNDING
from ithaca.plugins.hierarchies.formulations.search.hierarchy import Count, Hierarchy, Mesh
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import (
    Matrix,
    Vector,
    box,
    fits,
    width,
)

#: Bytes of tables beyond which those that were made are forgotten.
KEPT = 96 << 20


#: Tiles of a table for proofs: of more, one stands for several; of a table that is soon made; and
#: those bounded at a time.
TILES, ROUGH, CHUNK = 1 << 21, 1 << 17, 1 << 15


#: Lanes up to which each way to share them between loops is looked at.
EACH = 64

#: What is subtracted at most is taken for so much more: then no rounding of what it is subtracted
#: from is left of it.
MORE = 1 + ROUNDING


@dataclass(frozen=True)
class OpenTensors:
    """Tensors that may stay open together, and the loops that leave all of them alone."""

    tensors: frozenset[int]
    loops: tuple[int, ...]

    def possible(self, trips: Matrix) -> Mask:
        """Whether one of these loops may come next, if so many trips are left; anything may where
        none has."""
        own: Mask = np.any(trips[list(self.loops)] > 1, axis=0)
        own |= np.all(trips <= 1, axis=0)
        return own


@dataclass(frozen=True)
class Position:
    """The position up to which labels are decided."""

    level: int
    """The innermost level that they have not entered."""
    lanes_open: bool = False
    """Whether lanes of the mesh inside it are being decided."""
    undecided: frozenset[int] | None = None
    """The loops whose trips in the level, or whose lanes, are not decided yet; None: none is."""

    def open_loops(self, hierarchy: Hierarchy) -> frozenset[int]:
        """The numbers of the loops that are not decided yet; of all loops where none is."""
        every = frozenset(range(len(hierarchy.loops)))
        return every if self.undecided is None else self.undecided


def distinct_share(
    hierarchy: Hierarchy, tensor: int, meshes: Sequence[Mesh], most: Matrix
) -> Vector | float:
    """The least share of lanes that want different tiles, where no loop has more than so many
    lanes.

    Of m·n lanes along two loops of a rank at least m + n − 1 do; the share of these falls with
    both.

    Parameters
    ----------
    hierarchy : Hierarchy
        The tensors, with their ranks.
    tensor : int
        The number of the tensor.
    meshes : sequence of Mesh
        The meshes that lanes may be added to.
    most : Matrix
        Lanes of each loop at most, shape (loops, labels).
    """
    share: Vector | float = 1.0
    for terms in hierarchy.tensors[tensor].ranks:
        if len(terms) > 1:
            for mesh in meshes:
                m, n = (np.minimum(most[d], max(mesh.x, mesh.y)) for d, _ in terms)
                share = share * (m + n - 1) / (m * n)
    return share


def trips_left(hierarchy: Hierarchy, extents: Matrix) -> Matrix:
    """The least trips that are left of every loop."""
    return ceilings(np.array(hierarchy.extents, float)[:, None], extents)


class OuterLevels:
    """Lower bounds for levels that labels have not entered, by what labels cover: the least over
    all tiles that fit.

    Where there would be more than so many tiles, one stands for all whose extents lie between its
    own and the next ones'.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        groups: Sequence[OpenTensors],
        values: Sequence[Vector],
        tiles: int,
        *,
        divisors: bool,
    ) -> None:
        self.hierarchy, self.groups = hierarchy, groups
        every = [1] * len(values)
        while prod(-(-own.size // n) for own, n in zip(values, every, strict=True)) > tiles:
            every[max(range(len(values)), key=lambda d: values[d].size / every[d])] *= 2
        pairs = list(zip(values, every, strict=True))
        self.values = tuple(own[::n] for own, n in pairs)
        self.highs = tuple(
            own[np.minimum(np.arange(0, own.size, n) + n - 1, own.size - 1)] for own, n in pairs
        )
        self.shape = tuple(own.size for own in self.values)
        self.divisors = divisors and max(every) == 1
        self._tables: dict[tuple[int, int, int | None], Matrix | None] = {}
        self._reached: dict[tuple[int, int, frozenset[int], tuple[int, int] | None], Matrix] = {}
        self._sums: dict[tuple[int, int], Matrix | None] = {}

    def least(
        self, place: NDArray[np.intp], at: Position, numbers: Sequence[int]
    ) -> list[Vector | float]:
        """The least of these counts that levels not entered take, and infinity where no tile fits;
        ``place`` is that of `places`.

        Parameters
        ----------
        place : numpy.ndarray
            Where the tiles of partial mappings stand in tables.
        at : Position
            Where the search is.
        numbers : sequence of int
            Places of the counts that are wanted.
        """
        undecided = (Position(at.level) if at.lanes_open else at).open_loops(self.hierarchy)
        totals: list[Vector | float] = []
        for number in numbers:
            total: Vector | float = 0.0
            own = self._reach(number, at.level, undecided)
            if own is not None:
                total = total + own.ravel()[place]
            outside = self._sum(number, at.level)
            if outside is not None:
                total = total + outside.ravel()[place]
            totals.append(total)
        return totals

    def again(
        self, place: NDArray[np.intp], at: Position, number: int, v: int, level: int, lanes: int
    ) -> Vector | float:
        """The least excess of these and a tensor's words over `least` and its words if it is wanted
        once in every trip of the loops that move it.

        The tensor has no windows. Either a loop of the level, or one inside it, moves it, or the
        next one outside: then it is wanted again in every trip outside the level, of which the
        level's tile leaves so many. Or none of these does: then the tile covers no more of the
        loops that move it than before, but for lanes, and the next one outside leaves it alone.

        Parameters
        ----------
        place : numpy.ndarray
            Where the tiles of partial mappings stand in tables.
        at : Position
            Where the search is.
        number : int
            Place of the count.
        v : int
            Number of the tensor.
        level : int
            A level that labels have not entered, inside the one that has the tensor next.
        lanes : int
            Lanes that may be added inside the level; 0 if it is known that the next loop outside
            moves the tensor.
        """
        here = Position(at.level) if level < at.level or at.lanes_open else at
        key = number, level, here.open_loops(self.hierarchy), (v, lanes)
        if (more := self._reached.get(key)) is None:
            more = self._more(number, level, here.open_loops(self.hierarchy), v, lanes)
        return 0.0 if more is None else more.ravel()[place]

    def _more(
        self, number: int, level: int, undecided: frozenset[int], v: int, lanes: int
    ) -> Matrix | None:
        hierarchy, table = self.hierarchy, self._table(number, level)
        least = self._reach(number, level, undecided)
        if table is None or least is None:
            return None
        count, tensor = hierarchy.counts[number], hierarchy.tensors[v]
        trips = np.ones(1)
        for extent, highs, moved in zip(hierarchy.extents, self.highs, tensor.moved, strict=True):
            trips = trips[..., None] * (np.ones_like(highs) if moved else ceilings(extent, highs))
        once = hierarchy.least_words(count, hierarchy.parent(level + 1, v), v)
        wanted = self._over(table + once * (trips[0] - 1), undecided)
        if lanes:
            staying = self._table(number, level, v)
            assert staying is not None
            staying = self._over(staying, [d for d in undecided if not tensor.moved[d]])
            staying = self._spread(staying, [d for d in undecided if tensor.moved[d]], lanes)
            wanted = np.minimum(wanted, staying)
        with np.errstate(invalid="ignore"):  # where no tile fits
            more = wanted - least
        key = number, level, undecided, (v, lanes)
        return self._keep(key, np.where(np.isnan(more), 0, more))

    def _spread(self, table: Matrix, loops: Sequence[int], lanes: int) -> Matrix:
        """The least over all tiles that so many lanes of some loops, together, may make of one.

        So many of one of two loops leave so many for the other; of more, each may have them all.
        """
        loops = [d for d in loops if self.values[d].size > 1]
        if lanes == 1 or not loops:
            return table
        if len(loops) != 2:
            for loop in loops:
                table = self._within(table, loop, lanes)
            return table
        first, other = loops
        if lanes <= EACH:
            pairs = {(lanes // rest, rest) for rest in (lanes // n for n in range(1, lanes + 1))}
        else:  # of the first loop more than half of a power of two, and at most that
            powers = (1 << n for n in range(lanes.bit_length() + 1))
            pairs = {(most, lanes // (most // 2 + 1)) for most in powers}
        least: Matrix = np.minimum.reduce(
            [self._within(self._within(table, other, rest), first, n) for n, rest in pairs if rest]
        )
        return least

    def _within(self, table: Matrix, loop: int, times: int) -> Matrix:
        """The least over all tiles that so many times as much of a loop may be: as ⌈⌈n/e⌉/f⌉ is
        ⌈n/(e·f)⌉, trips tell which."""
        extent = self.hierarchy.extents[loop]
        most, least = ceilings(extent, self.values[loop]), ceilings(extent, self.highs[loop])
        begins = np.arange(most.size)
        ends = np.searchsorted(-most, -ceilings(least, times), side="right")
        result, length = table, 1
        while length < (ends - begins).max():  # spans of powers of two, and what is over
            further = table.take(np.minimum(begins + length, most.size - 1), axis=loop)
            table, length = np.minimum(table, further), 2 * length
            reach = np.maximum(ends - length, begins)
            own = np.where(ends - begins >= length, begins, -1)
            spans = np.minimum(table, table.take(reach, axis=loop))
            chosen = (own >= 0).reshape([-1 if d == loop else 1 for d in range(table.ndim)])
            result = np.where(chosen, spans, result)
        return result

    def places(self, extents: Matrix) -> NDArray[np.intp]:
        """The tiles that stand for extents, shape (labels)."""
        at = [
            np.searchsorted(values, rows, side="right") - 1
            for values, rows in zip(self.values, extents, strict=True)
        ]
        places: NDArray[np.intp] = np.ravel_multi_index(at, self.shape)
        return places

    def _sum(self, number: int, level: int) -> Matrix | None:
        """The sum over the levels around one."""
        key = number, level
        if key not in self._sums:
            everything = frozenset(range(len(self.hierarchy.loops)))
            parts = [self._reach(number, around, everything) for around in range(level)]
            known = [part for part in parts if part is not None]
            self._sums[key] = np.sum(known, axis=0) if known else None
        return self._sums[key]

    def _reach(self, number: int, level: int, undecided: frozenset[int]) -> Matrix | None:
        """The least over all tiles that cover at least so much of the undecided loops, and just so
        much of the others."""
        table = self._table(number, level)
        if table is None:
            return None
        key = number, level, undecided, None
        known = self._reached.get(key)
        return self._keep(key, self._over(table, undecided)) if known is None else known

    def _keep(
        self, key: tuple[int, int, frozenset[int], tuple[int, int] | None], table: Matrix
    ) -> Matrix:
        if sum(kept.nbytes for kept in self._reached.values()) > KEPT:
            self._reached.clear()
        return self._reached.setdefault(key, table)

    def _over(self, table: Matrix, loops: Iterable[int]) -> Matrix:
        for loop in loops:
            table = self._along(table, loop)
        return table

    def _along(self, table: Matrix, loop: int) -> Matrix:
        values = self.values[loop]
        if not self.divisors:
            return np.flip(np.minimum.accumulate(np.flip(table, loop), axis=loop), loop)
        rows = [
            table.take(np.flatnonzero(values % value == 0), axis=loop).min(axis=loop)
            for value in values
        ]
        return np.stack(rows, axis=loop)

    def _table(self, number: int, level: int, staying: int | None = None) -> Matrix | None:
        """The least of a level, by its tile, over every tensor that it keeps, where the next loop
        leaves one tensor alone, if one is given; None if nothing of it counts."""
        for _ in self.made([(number, level, staying)]):
            pass
        return self._tables[number, level, staying]

    def made(self, wanted: Sequence[tuple[int, int, int | None]] | None = None) -> Iterator[None]:
        """Makes tables, of all counts and levels unless some are wanted; pauses now and then."""
        every = product(self.hierarchy.bounded, range(len(self.hierarchy.levels)), (None,))
        for key in every if wanted is None else wanted:
            if key in self._tables:
                continue
            count, level = self.hierarchy.counts[key[0]], key[1]
            costs, table = self._costs(count, level), np.empty(prod(self.shape))
            groups = [g for g in self.groups if key[2] is None or key[2] in g.tensors]
            for begin in range(0, table.size if costs else 0, CHUNK):
                poll()
                places = np.arange(begin, min(begin + CHUNK, table.size))
                table[places] = self._fill(count, level, costs, places, groups)
                yield
            self._tables[key] = table.reshape(self.shape) if costs else None

    def _costs(self, count: Count, level: int) -> list[tuple[int, int, int, int, int]]:
        """The tensors that a level takes from outside, the level that has them, and what a fill, a
        read, an update counts."""
        hierarchy, costs = self.hierarchy, []
        for v, keeps in enumerate(hierarchy.keeps[level]):
            parent = hierarchy.parent(level, v)
            if keeps and parent is not None:
                fill, read = count.fills.get((level, v), 0), count.reads.get((parent, v), 0)
                update = count.updates.get((parent, v), 0) if hierarchy.tensors[v].output else 0
                if fill or read or update:
                    costs.append((v, parent, fill, read, update))
        return costs

    def _fill(
        self,
        count: Count,
        level: int,
        costs: Sequence[tuple[int, int, int, int, int]],
        places: NDArray[np.intp],
        groups: Sequence[OpenTensors],
    ) -> Vector:
        """Least costs of filling a level with some tiles: each has at least its own extents, and no
        fewer trips than the largest it stands for."""
        hierarchy, index = self.hierarchy, np.unravel_index(places, self.shape)
        extents, highs = (
            np.array([own[at] for own, at in zip(of, index, strict=True)])
            for of in (self.values, self.highs)
        )
        left, most, outside = (
            trips_left(hierarchy, highs),
            trips_left(hierarchy, extents),
            hierarchy.levels[level].instances,
        )
        runs, least = left.prod(axis=0), np.full(places.size, inf)
        average = extents.copy()
        for d in hierarchy.ending if level <= hierarchy.ends else ():
            average[d] = hierarchy.extents[d] / left[d]  # all its tiles have all of it, no more
        for group in groups:
            total = np.zeros(places.size)
            for v, parent, fill, read, update in costs:
                tensor, around = hierarchy.tensors[v], float(hierarchy.levels[parent].instances)
                moved = np.array(tensor.moved)[:, None]
                moving, first = (np.where(moved, trips, 1).prod(axis=0) for trips in (left, most))
                again = most.prod(axis=0) / first
                tile = box(hierarchy, average, v)
                same = np.minimum(runs / moving, outside / around)
                share = np.ones(places.size)
                for d in (
                    tensor.windows
                    if v in group.tensors
                    else [d for d in group.loops if d in tensor.windows]
                ):
                    rank, c = tensor.windows[d]
                    step = np.minimum(c * extents[d] / width(highs, tensor.ranks[rank]), 1)
                    share = np.minimum(share, (1 + (most[d] - 1) * step) / most[d])
                filled = (moving if v in group.tensors else runs) * share
                between = [mesh for mesh in hierarchy.meshes if parent <= mesh.level < level]
                delivered = (
                    (moving if v in group.tensors else runs / same)
                    * share
                    * distinct_share(hierarchy, v, between, most)
                )
                new = MORE * first if tensor.output else 0.0
                refilled = np.maximum(filled - new * np.minimum(again, outside), 0)
                reread = np.maximum(delivered - new * np.minimum(again, around), 0)
                if not count.adds:
                    refilled, delivered, reread = (
                        refilled / outside,
                        delivered / around,
                        reread / around,
                    )
                total += tile * (fill * refilled + read * reread + update * delivered)
            least = np.minimum(least, np.where(group.possible(most), total, inf))
        least[~fits(hierarchy, extents, level)] = inf
        return least
