"""Candidate tables: the rows of an axis with the columns that bounds need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import Axis, candidate_rows
from ithaca.solver.options import never
from ithaca.solver.tables import dominance

Rows = dict[str, NDArray[np.int64]]
Part = tuple[Rows, NDArray[np.float64]]

#: Rows whose columns are evaluated at once, and rows gathered before those dominated among them are dropped:
#: what a table takes beyond the rows that stay is bounded by these, whatever the extent.
PIECE_ROWS = 1 << 17
GATHERED_ROWS = 1 << 20


@dataclass(frozen=True)
class Column:
    """A single-axis expression and which of its statistics bounds use.

    Attributes
    ----------
    index : int
        Number of the column within the problem.
    expression : Expression
        What it holds.
    low, high : bool
        Whether bounds use its smallest, its largest value. With ``low`` alone smaller values
        are better, with ``high`` alone larger ones; with both neither is.
    """

    index: int
    expression: Expression
    low: bool
    high: bool


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
        The columns' values, exact as float64 below 2**53.
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
    problem: Problem,
    axis: Axis,
    columns: Sequence[Column],
    checkpoint: Callable[[], None] = never,
    *,
    prune: bool = True,
) -> Table:
    """Enumerate the rows of an axis, evaluate the columns, and drop dominated rows.

    Parameters
    ----------
    problem : Problem
        Supplies extents and restrictions.
    axis : Axis
        Which axis.
    columns : sequence of Column
        What to evaluate.
    checkpoint : callable
        Called now and then; what it raises ends the preparation.
    prune : bool
        Whether to drop dominated rows.
    """
    kept: list[Part] = []
    settled = 0
    for chunk in candidate_rows(problem, axis):
        for rows in _pieces(chunk):
            checkpoint()
            kept.append(_evaluate(columns, rows, axis, prune))
            if prune and sum(_count(part) for part in kept) > settled + GATHERED_ROWS:
                kept = [_prune(columns, *_joined(kept), axis)]
                settled = _count(kept[0])
    rows, values = _joined(kept)
    table = Table(axis, tuple(columns), rows, values)
    return without_dominated(table) if prune else table


def without_dominated(table: Table) -> Table:
    """The table without rows that another row makes superfluous."""
    if not table.count:
        return table
    rows, values = _prune(table.columns, dict(table.rows), table.values, table.axis)
    return Table(table.axis, table.columns, rows, values)


def evaluate_column(expression: Expression, rows: Mapping[str, NDArray[np.int64]], count: int) -> NDArray[np.float64]:
    """Values of a single-axis expression on every row, in floats: exact below 2**53, and never wrapping around."""
    needed = {name: rows[name].astype(np.float64) for name in expression.symbols}
    return np.broadcast_to(np.asarray(expression.evaluate(needed, NUMPY), dtype=np.float64), (count,))


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


def _evaluate(columns: Sequence[Column], rows: Rows, axis: Axis, prune: bool) -> tuple[Rows, NDArray[np.float64]]:
    count = next(iter(rows.values())).size
    values = np.empty((len(columns), count))
    for position, column in enumerate(columns):
        values[position] = evaluate_column(column.expression, rows, count)
    if prune and axis.loop is not None and count:
        # rows come with lanes ascending for each t2: the first of equal tiles is usually the best
        keys = [rows[q(axis.loop).name] for q in (quantities.t2, quantities.tiles)]
        keys += [rows[quantities.pack(g.name).name] for g in axis.packs]
        keep = dominance.run_heads(_costs(columns, values), keys)
        return _select(rows, keep), values[:, keep]
    return rows, values


def _prune(columns: Sequence[Column], rows: Rows, values: NDArray[np.float64], axis: Axis) -> tuple[Rows, NDArray[np.float64]]:
    if not columns:
        return _select(rows, np.arange(1)), values[:, :1]
    for largest_first in (False, True):
        rows, values = _keep(rows, values, dominance.duplicates(_costs(columns, values)))
        if axis.loop is None:
            break
        # equal t1: the largest or smallest t2 may serve for all
        rows, values = _sorted_by_factors(rows, values, axis, -1 if largest_first else 1)
        keys = [rows[quantities.t1(axis.loop).name], *(rows[quantities.pack(g.name).name] for g in axis.packs)]
        rows, values = _keep(rows, values, dominance.run_heads(_costs(columns, values), keys))
    return rows, values


def _sorted_by_factors(rows: Rows, values: NDArray[np.float64], axis: Axis, sign: int) -> tuple[Rows, NDArray[np.float64]]:
    assert axis.loop is not None
    inner, outer = rows[quantities.t2(axis.loop).name], rows[quantities.t1(axis.loop).name]
    packs = [rows[quantities.pack(g.name).name] for g in axis.packs]
    order = np.lexsort((sign * inner, *packs, outer))
    return {name: v[order] for name, v in rows.items()}, values[:, order]


def _costs(columns: Sequence[Column], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns in which smaller is better; those used both ways count in both directions."""
    parts = [values[[c.low for c in columns]], -values[[c.high for c in columns]]]
    return np.concatenate(parts)


def _keep(rows: Rows, values: NDArray[np.float64], keep: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.float64]]:
    return _select(rows, keep), values[:, keep]


def _select(rows: Rows, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Rows:
    return {name: v[keep] for name, v in rows.items()}
