"""Tables for stages: choices of loops that index tensors together, and their products.

Words of a tensor are products over *groups* of loops: those that stand in one subscript (an output
row and a filter row) are a group, every other loop is one of its own. So are trips and PEs. Costs
are functions of few such products.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush
from math import ceil, inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import (
    ChoiceColumns,
    InnerChoices,
    OuterChoices,
    by_loop,
    groups,
    make_group,
    ragged,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    Capacities,
    StoredLayer,
)

#: Tiles that are counted together.
COUNTED = 1 << 9

#: Outer choices, of all groups or of the first ones, that are looked at for the least of all.
MOST_OUTER = 1 << 22

#: Outer choices that are looked at first for the least of all.
FIRST_OUTER = 1 << 11

#: Entries that are looked at together: bounds memory.
AT_ONCE = 1 << 16


class Tables(ABC):
    """Choices and their columns, group by group, of a layer on a machine; nothing here depends on
    what is asked for."""

    def __init__(
        self,
        layer: StoredLayer,
        machine: Capacities,
        constraints: Constraints = NONE,
        *,
        exact: bool,
    ) -> None:
        self.layer, self.machine, self.exact = layer, machine, exact
        self.least_pes = ceil(constraints.least_used * machine.pes)
        self.tensors = tuple(access.tensor for access in layer.nest.accesses)
        unsorted = [
            make_group(layer, machine, loops, constraints, exact=exact) for loops in groups(layer)
        ]
        self.groups = tuple(sorted(unsorted, key=lambda group: -group.tiles.shape[1]))

    @property
    def empty(self) -> bool:
        """Whether some group has no choice left."""
        return any(group.r.shape[1] == 0 for group in self.groups)

    @property
    def most_groups(self) -> Mapping[str, int]:
        """Limits on how many PEs may have tiles of their own, by tensor."""
        return {}

    @cached_property
    def rows(self) -> tuple[ChoiceColumns, ...]:
        """Columns of each group's rows: ``r`` and ``s``, products, ``s.TENSOR`` over its loops
        only; ``held`` words of a PE."""
        tables = []
        for group in self.groups:
            columns = {
                "r": group.r.prod(axis=0).astype(float),
                "s": group.s.prod(axis=0).astype(float),
            }
            columns |= self._trips("s", group, group.s) | self._words("held", group, group.r)
            tables.append(ChoiceColumns(columns))
        return tuple(tables)

    @cached_property
    def tiles(self) -> tuple[ChoiceColumns, ...]:
        """Columns of each group's tiles: ``trips`` outside, all and ``own`` loops', ``whole``
        extents, the ``tile``, words ``sent``.

        The least over its rows: ``r``, and ``spread`` words of register files altogether, with such
        copies as are `counted`.
        """
        tables = []
        for group, rows in zip(self.groups, self.rows, strict=True):
            columns = self._trips("own", group, group.trips)
            columns |= self._words("sent", group, group.tiles)
            columns["trips"] = group.trips.prod(axis=0).astype(float)
            columns["tile"] = group.tiles.prod(axis=0).astype(float)
            columns["whole"] = (group.trips * group.tiles).prod(axis=0).astype(float)
            columns["r"] = np.minimum.reduceat(rows["r"], group.first[:-1])
            for tensor in self.tensors:
                spread = rows[f"held.{tensor}"] * rows[self.counted(tensor)]
                columns[f"spread.{tensor}"] = np.minimum.reduceat(spread, group.first[:-1])
            tables.append(ChoiceColumns(columns))
        return tuple(tables)

    @cached_property
    def outer(self) -> tuple[ChoiceColumns, ...]:
        """Columns of each group's outer choices: DRAM's ``trips``, all and by ``own`` loops, and
        words ``moved``."""
        tables = []
        for group in self.groups:
            p, d, begins = group.outer
            tile = np.repeat(group.tiles, np.diff(begins), axis=1)
            columns = self._trips("own", group, d) | self._words("moved", group, tile * p)
            columns["trips"] = d.prod(axis=0).astype(float)
            tables.append(ChoiceColumns(columns))
        return tuple(tables)

    @cached_property
    def least_outer(self) -> tuple[float, ...]:
        """Costs of transfers that no mapping is below.

        With padding, of tensors without surplus rows: a tile may grow beyond those it needs to be
        complete with them. The choices of the first groups bound what they cost with any of the
        others: those of least bound go on to the next group first.
        """
        layer = self.layer if self.exact else StoredLayer(self.layer.nest)
        free = type(self)(
            layer, replace(self.machine, pes=1, rf_words=1), exact=self.exact
        )  # one tile: all choices are outer
        costs, looked, number = tuple(inf for _ in self.least_of_words(0.0)), 0, itertools.count()
        open_ = [(0.0, next(number), np.zeros(1), np.zeros((0, 1), np.int64))]
        while open_:
            poll()
            bound, _, bounds, made = heappop(open_)
            least = tuple(map(min, costs, self.least_of_words(bound)))
            if looked > MOST_OUTER or least == costs:
                return least
            size = free.outer[len(made)]["trips"].size
            now = max(min(max(looked, FIRST_OUTER), AT_ONCE) // size, 1)
            if bounds.size > now:
                rest = bounds[now:], made[:, now:]
                heappush(open_, (float(rest[0][0]), next(number), *rest))
            made = made[:, :now]
            own = np.tile(np.arange(size), made.shape[1])[None]
            made = np.concatenate([np.repeat(made, size, axis=1), own])
            looked += made.shape[1]
            if len(made) < len(free.groups):
                bounds, fits = free._least_words(made)
                order = np.flatnonzero(fits)[np.argsort(bounds[fits], kind="stable")]
                if order.size:
                    least_bound = float(bounds[order[0]])
                    heappush(open_, (least_bound, next(number), bounds[order], made[:, order]))
                continue
            outer = free.outer_of(np.zeros(made.shape, np.int64), made)
            costs = tuple(
                min(cost, *(float(column.min(initial=inf)) for column in columns))
                for cost, *columns in zip(costs, *outer.parts, strict=True)
            )
        return costs

    def _least_words(self, made: Integers) -> tuple[Floats, Mask]:
        """Words that choices of the first groups, where there is one tile, move at least, whatever
        tensor is reused; and whether the scratchpad may hold their tiles."""
        place = len(made)
        columns = self.product(self.outer[:place], made)
        rest, tiles = self.outer[place:], self.tiles[place:]

        def words(reused: str) -> Floats:
            fewest: Floats = np.zeros(made.shape[1])
            for tensor in self.tensors:
                times = f"own.{tensor}" if tensor == reused else "trips"
                least = (float((part[f"moved.{tensor}"] * part[times]).min()) for part in rest)
                fewest = fewest + columns[f"moved.{tensor}"] * columns[times] * prod(least)
            return fewest

        held: Floats = np.zeros(made.shape[1])
        for tensor in self.tensors:
            sent = (float(part[f"sent.{tensor}"][0]) for part in tiles)
            held = held + columns[f"moved.{tensor}"] * prod(sent)
        fits: Mask = held <= self.machine.banks * self.machine.bank_words
        return np.min([words(tensor) for tensor in self.tensors], axis=0), fits

    @abstractmethod
    def counted(self, tensor: str) -> str:
        """The column of rows that says how often PEs altogether are sent a tile of theirs."""

    @abstractmethod
    def least_of_words(self, words: float) -> tuple[float, ...]:
        """The least cost of moving so many words."""

    @abstractmethod
    def costs(
        self, tile: Mapping[str, Floats], whole: Mapping[str, Floats], trips: ChoiceColumns
    ) -> list[tuple[Any, ...]]:
        """Costs of transfers of tiles, for each tensor that may be reused, by DRAM's ``trips``, all
        and of ``own`` loops.

        Parameters
        ----------
        tile : mapping of str to Floats
            Extents of the scratchpad's tile, by loop, shape (choices).
        whole : mapping of str to Floats
            Padded extents, by loop, shape (choices).
        trips : ChoiceColumns
            DRAM's trips: all, and those of the loops that index each tensor.
        """

    def product(self, tables: Sequence[ChoiceColumns], places: NDArray[Any]) -> ChoiceColumns:
        """The columns of choices, one of each group."""
        combined = tables[0].take(places[0])
        for part, place in zip(tables[1:], places[1:], strict=True):
            combined = combined.times(part.take(place))
        return combined

    def rows_of(self, tiles: NDArray[Any]) -> tuple[Integers, Integers]:
        """All rows of tiles that fit register files and PEs: the tile of each, and its choice of
        each group."""
        owner, rows = np.arange(tiles.shape[1]), np.zeros((0, tiles.shape[1]), np.int64)
        held = [f"held.{tensor}" for tensor in self.tensors]
        most = {"s": self.machine.pes} | {f"s.{t}": count for t, count in self.most_groups.items()}
        columns = dict.fromkeys((*most, *held), np.ones(owner.size))
        for place, (group, part) in enumerate(zip(self.groups, self.rows, strict=True)):
            poll()
            tile = tiles[place, owner]
            entry, number = ragged(group.counts[tile])
            own = group.first[tile][entry] + number
            columns = {name: column[entry] * part[name][own] for name, column in columns.items()}
            fits = sum(columns[name] for name in held) <= self.machine.rf_words
            for name, count in most.items():
                fits &= columns[name] <= count
            keep = np.flatnonzero(fits)
            owner, columns = (
                owner[entry[keep]],
                {name: column[keep] for name, column in columns.items()},
            )
            rows = np.concatenate([rows[:, entry[keep]], own[None, keep]])
        keep = np.flatnonzero(columns["s"] >= self.least_pes)
        return owner[keep], rows[:, keep]

    def count(self) -> int:
        """The number of tilings that fit, one order a level each."""
        sizes = [group.tiles.shape[1] for group in self.groups]
        total = 0
        for begin in range(0, prod(sizes), COUNTED):
            tiles = np.array(
                np.unravel_index(np.arange(begin, min(begin + COUNTED, prod(sizes))), sizes)
            )
            rows = np.bincount(self.rows_of(tiles)[0], minlength=tiles.shape[1])
            kept = np.flatnonzero(rows)
            total += int(
                (
                    np.bincount(self.outer_of(tiles[:, kept]).tile, minlength=kept.size)
                    * rows[kept]
                ).sum()
            )
        return total

    def outer_counts(self, tiles: Integers) -> Floats:
        """The numbers of outer choices that tiles have, before capacities."""
        counts: Floats = np.ones(tiles.shape[1])
        for group, tile in zip(self.groups, tiles, strict=True):
            counts = counts * np.diff(group.outer[2])[tile]
        return counts

    def outer_of(self, tiles: Integers, choices: Integers | None = None) -> OuterChoices:
        """The outer choices of tiles that the scratchpad holds; those of the first groups may be
        made, one of a tile each."""
        most = self.machine.banks * self.machine.bank_words
        owner, choices = (
            np.arange(tiles.shape[1]),
            np.zeros((0, tiles.shape[1]), np.int64) if choices is None else choices,
        )
        rest = [self.tiles[place].take(tiles[place]) for place in range(len(self.groups))]
        made = list(zip(self.outer, choices, strict=False))
        words = [
            prod((part[f"moved.{t}"][own] for part, own in made), start=np.ones(owner.size))
            for t in self.tensors
        ]
        for place in range(len(made), len(self.groups)):
            poll()
            part, begins = self.outer[place], self.groups[place].outer[2]
            tile = tiles[place, owner]
            entry, number = ragged(np.diff(begins)[tile])
            own = begins[tile][entry] + number
            owner = owner[entry]
            words = [
                known[entry] * part[f"moved.{t}"][own]
                for t, known in zip(self.tensors, words, strict=True)
            ]
            least = np.zeros(
                owner.size
            )  # the other groups' tiles hold no more than those of the PEs
            for tensor, known in zip(self.tensors, words, strict=True):
                inside = prod(
                    (later[f"sent.{tensor}"] for later in rest[place + 1 :]),
                    start=np.ones(tiles.shape[1]),
                )
                least += known * inside[owner]
            keep = np.flatnonzero(least <= most)
            owner, words = owner[keep], [known[keep] for known in words]
            choices = np.concatenate([choices[:, entry[keep]], own[None, keep]])
        banks: Floats = np.sum(
            [np.ceil(known / self.machine.bank_words) for known in words], axis=0
        )
        keep = np.flatnonzero(banks <= self.machine.banks)
        owner, choices, banks = owner[keep], choices[:, keep], banks[keep]
        slices = [slice(begin, begin + AT_ONCE) for begin in range(0, max(owner.size, 1), AT_ONCE)]
        moved = [self._moved(tiles[:, owner[part]], choices[:, part]) for part in slices]
        parts = [
            tuple(np.concatenate(columns) for columns in zip(*part, strict=True))
            for part in zip(*moved, strict=True)
        ]
        return OuterChoices(owner, choices, banks, parts)

    def _moved(self, tiles: Integers, choices: Integers) -> list[tuple[Any, ...]]:
        """Costs of outer choices, one of a tile each."""
        poll()
        tile, whole = {}, {}
        for group, choice, of in zip(self.groups, choices, tiles, strict=True):
            p, d, _ = group.outer
            for line, loop in enumerate(group.loops):
                tile[loop] = (p[line, choice] * group.tiles[line, of]).astype(float)
                whole[loop] = d[line, choice] * tile[loop]
        return self.costs(tile, whole, self.product(self.outer, choices))

    def _trips(self, name: str, group: InnerChoices, factors: Integers) -> dict[str, Floats]:
        """A group's part of the product of factors of the loops that index each tensor, shape
        (choices)."""
        columns = {}
        for access in self.layer.nest.accesses:
            own = [line for line, loop in enumerate(group.loops) if access.indexed_by(loop)]
            columns[f"{name}.{access.tensor}"] = factors[own].prod(axis=0).astype(float)
        return columns

    def _words(self, name: str, group: InnerChoices, factors: Integers) -> dict[str, Floats]:
        """A group's part of the words of each tensor, shape (choices)."""
        sizes, columns = by_loop(group, factors), {}
        for access in self.layer.nest.accesses:
            sides = (rank.reach(sizes) for rank in access if set(rank.loops) & set(group.loops))
            columns[f"{name}.{access.tensor}"] = prod(sides, start=np.ones(factors.shape[1]))
        return columns


def chunks(total: int, first: int, largest: int) -> Iterator[slice]:
    """Slices of so many entries, each up to twice as long as the one before.

    Parameters
    ----------
    total : int
        Entries in all.
    first : int
        Entries of the first slice.
    largest : int
        Entries of any at most.
    """
    begin, size = 0, first
    while begin < total:
        yield slice(begin, begin + size)
        begin, size = begin + size, min(2 * size, largest)
