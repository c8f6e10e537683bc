"""The stage of edition `intrinsic`: few tiles of each loop can be best, and all their combinations
are bounded at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rounding import EXACT, least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.spatial.dmazerunner.corners import Corners
from ithaca.formulations.stage import Block, Candidates, Cutoff

if TYPE_CHECKING:
    from ithaca.formulations.problem import Problem
    from ithaca.formulations.spatial.intrinsic.design import IntrinsicDesign

#: Tiles of a loop, the sub-problems along it, and the calls: a row each.
Table = Integers

#: Combinations of tiles that are bounded at once.
AT_ONCE = 1 << 14


class IntrinsicStage:
    """A problem whose objective and limits do not fall as metrics grow: fewer sub-problems and
    calls are better."""

    dropped = inf
    """Nothing is left out."""

    def __init__(self, problem: Problem, design: IntrinsicDesign) -> None:
        self._design, self._corners, self._work = design, Corners(problem), design.work
        sizes = dict(self._work.sizes)
        self._tables = {loop: _table(extent, sizes[loop]) for loop, extent in self._work.extents}

    @property
    def least(self) -> float:
        """As if every loop had its fewest sub-problems and calls with its smallest tile."""
        return float(self._priced(self._best)[0][0])

    @cached_property
    def _best(self) -> Mapping[str, Table]:
        return {loop: table.min(axis=1, keepdims=True) for loop, table in self._tables.items()}

    def _priced(self, columns: Mapping[str, Table]) -> tuple[Floats, Floats]:
        """Bounds of columns of the tables, infinite where tiles do not fit; and what all their
        metrics follow from."""
        tile, tiles, calls = (
            {loop: c[place].astype(float) for loop, c in columns.items()} for place in range(3)
        )
        known = self._work.metrics(tiles, calls, NUMPY)
        in_call = sum(self._work.call_words) <= self._work.local
        fits = in_call & (self._work.held_words(tile, NUMPY) <= self._work.scratchpad)
        bounds, fits, *counts = np.broadcast_arrays(
            self._corners.least(known, known),
            fits,
            *(known[name] for name in ("subproblems", "calls", "words")),
        )
        return np.atleast_1d(np.where(fits, bounds, inf)), np.atleast_2d(np.stack(counts))

    def _configuration(self, columns: Mapping[str, Any]) -> Configuration:
        return Configuration(
            {self._design.quantity(loop): int(column[0]) for loop, column in columns.items()}
        )

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """Loops take their best tiles one after the other, from tiles as small as they are, and
        from square ones."""
        side = (self._work.scratchpad / len(self._work.operands)) ** 0.5
        for square in (False, True):
            chosen = {
                n: t[:, :1] if not square else _up_to(t, side) for n, t in self._tables.items()
            }
            for loop, table in (*self._tables.items(), *self._tables.items()):
                bounds, _ = self._priced(chosen | {loop: table})
                place = int(np.argmin(bounds))
                chosen[loop] = table[:, place : place + 1]
            yield self._configuration({loop: column[:, 0] for loop, column in chosen.items()})

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Tiles joined loop by loop, as long as they may improve with the best of all later
        loops."""
        rows, rest = np.zeros((0, 1), np.int64), self.least
        for place, table in enumerate(self._tables.values(), 1):
            own, parts, least = np.arange(table.shape[1]), [np.zeros((place, 0), np.int64)], inf
            step = max(AT_ONCE // own.size, 1)
            for begin in range(0, rows.shape[1], step):
                outer = rows[:, begin : begin + step]
                joined = np.concatenate(
                    [np.repeat(outer, own.size, axis=1), np.tile(own, outer.shape[1])[None]]
                )
                known = zip(self._tables.items(), joined, strict=False)
                bounds, counts = self._priced(
                    {**self._best, **{n: t[:, row] for (n, t), row in known}}
                )
                kept = np.flatnonzero(bounds < least_double(cutoff()))
                if place < len(self._tables):
                    parts.append(joined[:, kept])
                    least = min(least, float(bounds[kept].min(initial=inf)))
                    yield Block.empty(rest)
                    continue
                if kept.size and counts[:, kept].max() < EXACT:  # equal counts cost the same
                    kept = kept[np.unique(counts[:, kept], axis=1, return_index=True)[1]]
                yield Block(joined[:, kept].T, bounds[kept], rest)
            rows, rest = np.concatenate(parts, axis=1), max(rest, least)
        yield Block.empty(inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """Rows are complete as they are."""
        for row in rows:
            yield self._configuration(
                {n: t[:, place] for (n, t), place in zip(self._tables.items(), row, strict=True)}
            )


def _table(extent: int, size: int) -> Table:
    """The tiles of a loop that no smaller one beats with no more sub-problems and calls,
    ascending."""
    tile = np.arange(1, extent + 1)
    tiles = -(-extent // tile)
    calls = (tiles - 1) * -(-tile // size) + -(-(extent - (tiles - 1) * tile) // size)
    # sub-problems never rise with tiles: of those with as many, the first with fewer calls than all
    # before
    group = np.cumsum(np.diff(tiles, prepend=tiles[0]) != 0)
    falling = calls - group * (extent + 1)
    first = np.concatenate([[True], falling[1:] < np.minimum.accumulate(falling)[:-1]])
    return np.stack([tile, tiles, calls])[:, first]


def _up_to(table: Table, tile: float) -> Table:
    """The column of the largest tile that is not above one."""
    place = max(int(np.searchsorted(table[0], tile, side="right")), 1)
    return table[:, place - 1 : place]
