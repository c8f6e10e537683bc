"""Candidate tables: the rows of an axis with the columns that bounds need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.space import Axis
from ithaca.solver.options import never
from ithaca.solver.tables import dominance
from ithaca.solver.tables.column import Column, Columns

Rows = dict[str, NDArray[np.int64]]
Part = tuple[Rows, NDArray[np.float64]]

#: Rows whose columns are evaluated at once, and rows gathered before those dominated among them are dropped:
#: what a table takes beyond the rows that stay is bounded by these, whatever the extent.
PIECE_ROWS = 1 << 17
GATHERED_ROWS = 1 << 20


@dataclass(frozen=True)
class Table:
    """The candidate rows of one axis.

    Attributes
    ----------
    axis : Axis
        The axis.
    columns : tuple of Column
        The columns, in the order of ``values``.
    rows : mapping of str to array
        The quantities of every row.
    values : array, shape (columns, rows)
        The columns' values, as doubles (`ithaca.solver.tables.column`).
    """

    axis: Axis
    columns: tuple[Column, ...]
    rows: Mapping[str, NDArray[np.int64]]
    values: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.values.shape[1])

    def only(self, keep: NDArray[np.bool_]) -> Table:
        """The table with some of its rows."""
        return Table(self.axis, self.columns, {name: v[keep] for name, v in self.rows.items()}, self.values[:, keep])

    def row(self, index: int) -> dict[str, int]:
        """The quantities of one row."""
        return {name: int(values[index]) for name, values in self.rows.items()}


def build_table(
    axis: Axis,
    columns: Sequence[Column],
    checkpoint: Callable[[], None] = never,
    *,
    prune: bool = True,
) -> Table:
    """Enumerate the rows of an axis, evaluate the columns, and drop dominated rows.

    Parameters
    ----------
    axis : Axis
        Which axis.
    columns : sequence of Column
        What to evaluate.
    checkpoint : callable
        Called now and then; what it raises ends the preparation.
    prune : bool
        Whether to drop dominated rows.
    """
    prepared = Columns(columns, axis)
    kept: list[Part] = []
    settled = 0
    for chunk in axis.rows():
        for rows in _pieces(chunk):
            checkpoint()
            kept.append(_evaluate(prepared, rows, axis, prune))
            if prune and sum(_count(part) for part in kept) > settled + GATHERED_ROWS:
                kept = [_prune(prepared, *_joined(kept), axis)]
                settled = _count(kept[0])
    rows, values = _joined(kept)
    table = Table(axis, tuple(columns), rows, values)
    return without_dominated(table) if prune else table


def without_dominated(table: Table) -> Table:
    """The table without rows that another row makes superfluous."""
    if not table.count:
        return table
    rows, values = _prune(Columns(table.columns, table.axis), dict(table.rows), table.values, table.axis)
    return Table(table.axis, table.columns, rows, values)


def _pieces(rows: Rows) -> Iterator[Rows]:
    """The rows, some of them at a time; at least one piece, which may be empty."""
    count = next(iter(rows.values())).size
    for begin in range(0, max(count, 1), PIECE_ROWS):
        yield {name: values[begin : begin + PIECE_ROWS] for name, values in rows.items()}


def _joined(parts: list[Part]) -> Part:
    """All rows of the parts in their order. Empties the list: the memory of one part serves the next quantity."""
    if len(parts) == 1:
        return parts.pop()
    rows = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    values = np.concatenate([part[1] for part in parts], axis=1)
    parts.clear()
    return rows, values


def _count(part: Part) -> int:
    return int(part[1].shape[1])


def _evaluate(columns: Columns, rows: Rows, axis: Axis, prune: bool) -> Part:
    count = next(iter(rows.values())).size
    values = columns.values(rows, count)
    costs = columns.costs(rows, values) if prune and axis.runs and count else None
    if costs is not None:
        return _keep(rows, values, dominance.run_heads(costs, [rows[name] for name in axis.runs[0]]))
    return rows, values


def _prune(columns: Columns, rows: Rows, values: NDArray[np.float64], axis: Axis) -> Part:
    """The rows without those that others dominate; all of them where the exact order of a column is not known."""
    if not columns.columns:
        return _select(rows, np.arange(1)), values[:, :1]
    for largest_first in (False, True):
        costs = columns.costs(rows, values)
        if costs is None:
            return rows, values
        rows, values = _keep(rows, values, dominance.duplicates(costs))
        for run in axis.runs[1:]:
            keys = [rows[name] for name in run]
            first = rows[axis.quantities[0].name]
            order = np.lexsort((-first if largest_first else first, *reversed(keys)))
            rows, values = _select(rows, order), values[:, order]
            costs = columns.costs(rows, values)
            if costs is None:
                return rows, values
            rows, values = _keep(rows, values, dominance.run_heads(costs, [key[order] for key in keys]))
    return rows, values


def _keep(rows: Rows, values: NDArray[np.float64], keep: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.float64]]:
    return _select(rows, keep), values[:, keep]


def _select(rows: Rows, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Rows:
    return {name: v[keep] for name, v in rows.items()}
