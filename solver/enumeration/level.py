"""The first of many configurations of a value, where all of the space can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rounding import cutoff, least_double
from ithaca.solver.enumeration.search import Boxes, Enumeration
from ithaca.solver.options import SolveOptions
from ithaca.solver.ranking import Ranking
from ithaca.solver.tables.table import CandidateTable

#: Configurations that are judged at once.
BATCH = 1 << 10


class Level(Enumeration):
    """All configurations of at most the value of a ranking."""

    def __init__(self, ranking: Ranking, checkpoint: Callable[[], None]) -> None:
        super().__init__(ranking.problem, SolveOptions())
        self._ranking, self._checkpoint = ranking, checkpoint
        self._singles: list[Boxes] = []

    def choose(self) -> None:
        """Offer the ranking its first configuration."""
        self.prepare()
        while self._open:
            self._checkpoint()
            self._split(*self._open.pop()[1])
        if not self._singles:
            return
        boxes = np.concatenate(self._singles, axis=1)
        tables = self._tables
        rows = np.stack([axis.first.take(own) for axis, own in self._with(boxes)])
        for part in self._in_order(tables, rows):
            self._checkpoint()
            first = self._ranking.first(tables, part)
            if first is not None:
                self._ranking.offer(first)

    @property
    def _cutoff(self) -> float:
        return least_double(self._ranking.value)

    def _judge(self, boxes: Boxes, bounds: Floats) -> None:
        self._singles.append(boxes[:, bounds <= self._cutoff])

    def _in_order(
        self, tables: list[CandidateTable], rows: NDArray[np.int64]
    ) -> Iterator[NDArray[np.int64]]:
        """The configurations, the preferred ones first, without those that doubles can tell to come
        after the first one known."""
        values = {
            name: column[own].astype(np.float64)
            for table, own in zip(tables, rows, strict=True)
            for name, column in table.rows.items()
        }
        count = rows.shape[1]
        keys = np.empty((len(self._ranking.keys), count))
        for own, key in zip(keys, self._ranking.keys, strict=True):
            own[:] = key.evaluate(values, NUMPY)
        order = np.lexsort(keys[::-1])
        for begin in range(0, count, BATCH):
            part = order[begin : begin + BATCH]
            part = part[self._may_precede(keys[:, part])]
            if part.size:
                yield rows[:, part]

    def _may_precede(self, keys: Floats) -> Mask:
        open_, undecided = np.zeros(keys.shape[1], bool), np.ones(keys.shape[1], bool)
        for own, best in zip(keys, self._ranking.best, strict=False):
            above = cutoff(best) if best < inf else inf
            below = -cutoff(-best) if best < inf else inf
            open_ |= undecided & (own < below)
            undecided &= (own >= below) & (own <= above)
        open_ |= undecided
        return open_
