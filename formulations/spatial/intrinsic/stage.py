"""The stage of edition `intrinsic`: few tiles of each loop can be best, and all their combinations are bounded at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rounding import EXACT, least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.spatial.dmazerunner.corners import Corners, Floats
from ithaca.formulations.stage import Block, Cutoff

if TYPE_CHECKING:
    from ithaca.formulations.problem import Problem
    from ithaca.formulations.spatial.intrinsic.design import IntrinsicDesign

#: Tiles of a loop, the sub-problems along it, and the calls: a row each.
Table = NDArray[np.int64]

#: Combinations of tiles that are bounded at once.
AT_ONCE = 1 << 16


class IntrinsicStage:
    """A problem whose objective and limits do not fall as metrics grow: fewer sub-problems and calls are better."""

    dropped = inf  #: Nothing is left out

    def __init__(self, problem: Problem, design: IntrinsicDesign) -> None:
        self._design, self._corners, self._work = design, Corners(problem), design.work
        sizes = dict(self._work.sizes)
        self._tables = {loop: _table(extent, sizes[loop]) for loop, extent in self._work.extents}

    @property
    def least(self) -> float:
        """As if every loop had its fewest sub-problems and calls with its smallest tile."""
        return float(self._priced(self._best)[0][0])

    @property
    def _best(self) -> Mapping[str, Table]:
        return {loop: table.min(axis=1, keepdims=True) for loop, table in self._tables.items()}

    def _priced(self, columns: Mapping[str, Table]) -> tuple[Floats, Floats]:
        """Bounds of columns of the tables, infinite where tiles do not fit; and what all their metrics follow from."""
        tile, tiles, calls = ({loop: c[place].astype(float) for loop, c in columns.items()} for place in range(3))
        known = self._work.metrics(tiles, calls, NUMPY)
        fits = self._work.fits_local & (self._work.held_words(tile, NUMPY) <= self._work.scratchpad)
        bounds, fits, *counts = np.broadcast_arrays(
            self._corners.least(known, known), fits, *(known[name] for name in ("subproblems", "calls", "words"))
        )
        return np.atleast_1d(np.where(fits, bounds, inf)), np.atleast_2d(np.stack(counts))

    def _configuration(self, columns: Mapping[str, Any]) -> Configuration:
        return Configuration({self._design.quantity(loop): int(column[0]) for loop, column in columns.items()})

    def incumbents(self) -> Iterator[Configuration | None]:
        """Loops take their best tiles one after the other, the others' as small as they are so far."""
        chosen = {loop: table[:, :1] for loop, table in self._tables.items()}
        for loop, table in self._tables.items():
            bounds, _ = self._priced(chosen | {loop: table})
            place = int(np.argmin(bounds))
            chosen[loop] = table[:, place : place + 1]
        yield self._configuration({loop: column[:, 0] for loop, column in chosen.items()})

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Combinations of the tiles that may improve with the best of all other loops."""
        kept, rest = [], self.least
        for loop, table in self._tables.items():
            alone, _ = self._priced({**self._best, loop: table})
            kept.append(np.flatnonzero(alone < least_double(cutoff())))
            rest = max(rest, float(alone.min()))
        shape = tuple(rows.size for rows in kept)
        for begin in range(0, prod(shape), AT_ONCE):
            places = np.unravel_index(np.arange(begin, min(begin + AT_ONCE, prod(shape))), shape)
            rows = np.stack([own[place] for own, place in zip(kept, places, strict=True)])
            bounds, counts = self._priced({n: t[:, row] for (n, t), row in zip(self._tables.items(), rows, strict=True)})
            own = np.flatnonzero(bounds < least_double(cutoff()))
            if own.size and counts[:, own].max() < EXACT:  # equal counts cost the same
                own = own[np.unique(counts[:, own], axis=1, return_index=True)[1]]
            yield Block(rows[:, own].T, bounds[own], rest)
        yield Block.empty(inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Iterator[Configuration | None]:
        """Rows are complete as they are."""
        for row in rows:
            yield self._configuration({n: t[:, place] for (n, t), place in zip(self._tables.items(), row, strict=True)})


def _table(extent: int, size: int) -> Table:
    """The tiles of a loop that no smaller one beats with no more sub-problems and calls, ascending."""
    tile = np.arange(1, extent + 1)
    tiles = -(-extent // tile)
    calls = (tiles - 1) * -(-tile // size) + -(-(extent - (tiles - 1) * tile) // size)
    # sub-problems never rise with tiles: of those with as many, the first with fewer calls than all before
    group = np.cumsum(np.diff(tiles, prepend=tiles[0]) != 0)
    falling = calls - group * (extent + 1)
    first = np.concatenate([[True], falling[1:] < np.minimum.accumulate(falling)[:-1]])
    return np.stack([tile, tiles, calls])[:, first]
