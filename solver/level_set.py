"""The configurations of at most a value: the rows that they may have, and the first of them.

Rows are made and bounded some at a time, with the whole of the other axes, and only those that the
value leaves are kept. Of wide axes only rows that waste nothing (`ithaca.solver.tables.lean`) are
made at first, and of those that are left all that cut a loop into as many tiles; where the bounds
of the problem do not prove that these rows stand for the others, bounds below them do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.remembered import latest
from ithaca.formulations.space import Axis
from ithaca.solver.best_first import TreeSearch
from ithaca.solver.ranking import Ranking
from ithaca.solver.row_bounds import Bounds, RowSource
from ithaca.solver.tables.affordable import affordable_axes, needed_axes
from ithaca.solver.tables.frame import lower_problem
from ithaca.solver.tables.model import Nodes
from ithaca.solver.tables.sources import row_sources, tree_sources
from ithaca.solver.tables.table import CandidateTable
from ithaca.solver.tables.tree import build_tree

#: Share of rows that a pass drops at least, for another pass to pay.
WORTHWHILE = 0.1

#: Iterations of the largest tile from which on an axis is wide.
WIDE = 1 << 12

#: Values of the last tables that a problem keeps, for ties and lower values.
MOST_KEPT = 1 << 21

#: Configurations that are looked at one by one at most, and boxes in which they are searched for.
MOST_CONFIGURATIONS, MOST_BOXES = 1500, 1 << 17


@dataclass(frozen=True)
class LevelSets:
    """The configurations of a problem of at most some value."""

    problem: Problem
    """The problem."""
    checkpoint: Callable[[], None]
    """Called now and then; what it raises ends the work."""

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the problem, as far as limits let hardware be."""
        return affordable_axes(self.problem)

    @cached_property
    def bounds(self) -> Bounds:
        """The bounds of the problem."""
        return Bounds(lower_problem(self.problem, poll), self.checkpoint)

    @property
    def wide(self) -> bool:
        """Whether an axis has so many rows that they are better not all made."""
        return any(map(_is_wide, self.axes))

    def tables(self, value: Fraction) -> list[CandidateTable] | None:
        """The rows that configurations of at most a value may have; None where there is none."""
        kept: dict[Fraction, list[CandidateTable]] = latest(self.problem, "level tables", dict)
        for top in kept:
            if value <= top:
                return _left(self.bounds, [*kept[top]], value)
        tables = self._tables(value)
        kept.clear()
        if tables and sum(table.values.size for table in tables) < MOST_KEPT:
            kept[value] = tables
        return tables

    def _tables(self, value: Fraction) -> list[CandidateTable] | None:
        axes = needed_axes(self.problem, self.axes, value)
        sources: Sequence[RowSource] | None = [axis.rows for axis in axes]
        if self.wide:
            from ithaca.solver.wide_rows import sources_of_wide

            sources = sources_of_wide(self.rising, axes, value, tables_of)
        return None if sources is None else tables_of(self.bounds, axes, sources, value)

    @cached_property
    def rising(self) -> Bounds:
        """Bounds that never fall as tiles of wide axes grow: the problem's own, if these prove of
        all wide axes which rows stand for others."""
        own = zip(self.axes, self.bounds.lean(self.axes), strict=True)
        if not any(_is_wide(axis) and few is None for axis, few in own):
            return self.bounds
        from ithaca.solver.wide_rows import rising_bounds

        return rising_bounds(self.problem, self.axes, self.checkpoint)

    def first(
        self, ranking: Ranking, tables: Sequence[CandidateTable]
    ) -> tuple[Configuration | None, int] | None:
        """The preferred configuration of just the value of a ranking, if there is one; and the
        boxes that were bounded.

        None where there are too many to look at each; ``tables`` hold the rows that such
        configurations may have.
        """
        search = _LevelSearch(self.bounds, tables, ranking.value)
        if self.problem.space.entangled or not search.run():
            return None
        leaves = np.concatenate([np.zeros((len(tables), 0), np.int64), *search.leaves], axis=1)
        return ranking.first(tables, leaves), search.boxes


def tables_of(
    bounds: Bounds, axes: Sequence[Axis], sources: Sequence[RowSource], value: Fraction
) -> list[CandidateTable] | None:
    """The rows of each axis that a value leaves, of those that sources make; None where an axis
    has none.

    Parameters
    ----------
    bounds : Bounds
        The bounds.
    axes : sequence of Axis
        The axes.
    sources : sequence of RowSource
        What makes the rows of each; those of wide axes are made twice where they are many,
        and never all kept.
    value : Fraction
        The largest value of the objective.
    """
    whole = [
        None if _is_wide(axis) else bounds.whole(axis, source)
        for axis, source in zip(axes, sources, strict=True)
    ]
    if None in whole:
        from ithaca.solver.wide_rows import with_wide

        tables = with_wide(bounds, axes, sources, whole, value)
    else:
        tables = [table for table in whole if table is not None]
    if tables is None:
        return None
    return _left(bounds, tables, value)


def _left(
    bounds: Bounds, tables: list[CandidateTable], value: Fraction
) -> list[CandidateTable] | None:
    """Rows of tables that a value leaves, by passes that pay; None where an axis has none."""
    rows, before = sum(table.count for table in tables), inf
    while rows < (1 - WORTHWHILE) * before:
        for axis in range(len(tables)):
            if not all(table.count for table in tables):
                return None
            bounds.checkpoint()
            own = row_sources(bounds.lowered.bounds, tables, axis)
            tables[axis] = tables[axis].only(bounds.open(own, tables[axis].count, value))
        rows, before = sum(table.count for table in tables), rows
    return tables if all(table.count for table in tables) else None


class _LevelSearch(TreeSearch):
    """A search for all configurations of a level set, as long as they are few."""

    batch = 4096

    def __init__(self, bounds: Bounds, tables: Sequence[CandidateTable], value: Fraction) -> None:
        super().__init__(tuple(build_tree(table, bounds.checkpoint) for table in tables))
        self._value = value
        self._bounds, self._sources = bounds, tree_sources(bounds.lowered.bounds, self._trees)
        self.boxes, self.leaves = 0, list[NDArray[np.int64]]()
        self._count = 0

    def run(self) -> bool:
        """Search for all of them; false where there are too many."""
        self._begin()
        while self._parts:
            self._bounds.checkpoint()
            if self.boxes > MOST_BOXES or self._count > MOST_CONFIGURATIONS:
                return False
            self._split(self._parts.pop()[1][0])
        return self._count <= MOST_CONFIGURATIONS

    def _bound(self, nodes: Nodes) -> tuple[Floats, Mask]:
        self.boxes += nodes.shape[1]
        bounds, open_ = self._bounds.bound(self._sources, nodes, self._value)
        return bounds[None], open_

    def _improving(self, bounds: Floats) -> Mask:
        return np.ones(bounds.shape[1], bool)

    def _take(self, nodes: Nodes, bounds: Floats) -> None:
        self._count += nodes.shape[1]
        if self._count <= MOST_CONFIGURATIONS:
            rows = [t.row.take(own) for t, own in zip(self._trees, nodes, strict=True)]
            self.leaves.append(np.stack(rows).astype(np.int64))


def _is_wide(axis: Axis) -> bool:
    return axis.cut is not None and axis.ranges[axis.cut.size][1] > WIDE
