"""A search for the first of many configurations of a value.

Boxes, as exact search has them, are bounded in all numbers of a ranking at once, the most promising
come first, and a box is dropped if its bounds, compared one after the other, are not before what is
known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rounding import cutoff, finer_than_floats, loosened
from ithaca.formulations.space import Relation
from ithaca.solver.best_first import TreeSearch
from ithaca.solver.ranking import Ranking
from ithaca.solver.tables.frame import lower, relax
from ithaca.solver.tables.granularity import granularity
from ithaca.solver.tables.model import Nodes, Source
from ithaca.solver.tables.sources import row_sources, tree_sources
from ithaca.solver.tables.table import CandidateTable, with_columns
from ithaca.solver.tables.tree import build_tree

#: Boxes split at once, and examined at most: where a plateau is that large its answer is not worth
#: more.
BATCH, MOST_BOXES = 4096, 1 << 22


class PlateauSearch(TreeSearch):
    """Branch and bound over a level set, by bounds that are compared one after the other."""

    batch = BATCH

    def __init__(
        self, ranking: Ranking, tables: Sequence[CandidateTable], checkpoint: Callable[[], None]
    ) -> None:
        super().__init__(())
        self.boxes = 0
        self._ranking, self._tables, self._checkpoint = ranking, tables, checkpoint
        powers = ranking.problem.space.powers
        self._steps = [granularity(key, powers) for key in ranking.keys]
        self._sources: tuple[Source, ...] = ()

    def run(self) -> bool:
        """Search until nothing is preferred to what is known; whether that was reached."""
        if not self._prepare():
            return True
        most = self.boxes + MOST_BOXES
        self._begin()
        while self._parts:
            self._checkpoint()
            if self.boxes >= most:
                return False
            nodes, _ = self._open(*self._parts.pop()[1])
            if nodes.shape[1]:
                self._split(nodes)
        return True

    def _prepare(self) -> bool:
        """Build trees of the rows that the level set may have; false if it has none."""
        problem = self._ranking.problem
        lowered = lower(problem, relax(problem.space), self._ranking.keys)
        self._program = lowered.bounds
        self._limits = [loosened(self._ranking.value), *lowered.limits]
        tables = [
            with_columns(t, lowered.columns, prune=not problem.space.entangled)
            for t in self._tables
        ]
        for axis in range(len(tables)):
            self._checkpoint()
            count = tables[axis].count
            nodes = np.stack([np.arange(count), np.zeros(count, np.int64)])
            sources = row_sources(self._program, tables, axis)
            tables[axis] = tables[axis].only(self._bound_by(sources, nodes)[1])
            if not tables[axis].count:
                return False
        self._trees = tuple(build_tree(table, self._checkpoint) for table in tables)
        self._sources = tree_sources(self._program, self._trees)
        return True

    def _bound(self, nodes: Nodes) -> tuple[Floats, Mask]:
        return self._bound_by(self._sources, nodes)

    def _bound_by(
        self, sources: Sequence[Source], nodes: NDArray[np.signedinteger]
    ) -> tuple[Floats, Mask]:
        """Lower bounds of the numbers to compare by, and which boxes may hold something
        preferred."""
        self.boxes += nodes.shape[1]
        outputs = self._program.gather(sources, nodes)
        feasible = np.ones(nodes.shape[1], bool)
        for used, limit in zip(outputs, self._limits, strict=False):
            feasible &= ~(used > limit)
        keys = np.empty((len(self._ranking.keys), nodes.shape[1]))
        for own, bound in zip(keys, outputs[len(self._limits) :], strict=True):
            own[:] = np.where(np.isnan(bound), -inf, bound)
        return keys, feasible & self._improving(keys)

    def _improving(self, bounds: Floats) -> Mask:
        undecided = np.ones(bounds.shape[1], bool)
        open_ = np.zeros(bounds.shape[1], bool)
        for own, best, step in zip(bounds, self._ranking.best, self._steps, strict=False):
            above = cutoff(best)
            # no smaller for sure: on the grid, where floats tell its values apart
            even = (
                cutoff(best - step) if step and not finer_than_floats(step, best - step) else above
            )
            open_ |= undecided & (own <= even)
            undecided &= (own > even) & (own <= above)
        return open_

    def _take(self, nodes: Nodes, bounds: Floats) -> None:
        nodes, tables = nodes[:, self._legal(nodes)], [tree.table for tree in self._trees]
        for begin in range(0, nodes.shape[1], BATCH):
            self._checkpoint()
            part = nodes[:, begin : begin + BATCH]
            rows = np.stack([t.row.take(own) for t, own in zip(self._trees, part, strict=True)])
            first = self._ranking.first(tables, rows)
            if first is not None:
                self._ranking.offer(first)

    def _legal(self, nodes: Nodes) -> Mask:
        """A mask of the single configurations that keep the rules across axes that bounds do not
        show."""
        space, values = self._ranking.problem.space, dict[str, Integers]()
        legal = np.ones(nodes.shape[1], bool)
        if not space.entangled:
            return legal
        for tree, node in zip(self._trees, nodes, strict=True):
            rows = tree.row.take(node)
            values |= {name: column.take(rows) for name, column in tree.table.rows.items()}
        for name, expression in space.definitions.items():
            values[name] = expression.evaluate(values, NUMPY)
        for link in space.links:
            if link.relation is not Relation.AT_MOST:
                legal &= link.holds(values)
        return legal
