"""Candidate tables: the rows of an axis with the columns that bounds need.

Rows that another row of the same axis makes superfluous are left out. A row is dominated if another
is at least as good in every column: not larger where small values are good, not smaller where large
ones are. Every bound is monotone in its columns, so replacing a dominated row by its dominator
never makes any configuration worse or infeasible. All filters are sound; none needs to find every
dominated row. Most are not even made (`ithaca.solver.tables.lean`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.space import Axis
from ithaca.solver.options import never
from ithaca.solver.tables.column import Column, Columns
from ithaca.solver.tables.lean import lean

Rows = dict[str, Integers]
Part = tuple[Rows, Floats]

#: Rows whose columns are evaluated at once, and rows gathered before those dominated among them are
#: dropped: what a table takes beyond the rows that stay is bounded by these, whatever the extent.
PIECE_ROWS = 1 << 17
GATHERED_ROWS = 1 << 19


@dataclass(frozen=True)
class CandidateTable:
    """The candidate rows of one axis."""

    axis: Axis
    """The axis."""
    columns: tuple[Column, ...]
    """The columns, in the order of ``values``."""
    rows: Mapping[str, Integers]
    """The quantities of every row."""
    values: Floats
    """The columns' values, as doubles (`ithaca.solver.tables.column`)."""

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.values.shape[1])

    def only(self, keep: Mask) -> CandidateTable:
        """The table with some of its rows."""
        return CandidateTable(
            self.axis,
            self.columns,
            {name: v[keep] for name, v in self.rows.items()},
            self.values[:, keep],
        )

    def row(self, index: int) -> dict[str, int]:
        """The quantities of one row."""
        return {name: int(values[index]) for name, values in self.rows.items()}


def build_table(
    axis: Axis,
    columns: Sequence[Column],
    checkpoint: Callable[[], None] = never,
    *,
    prune: bool = True,
    alike: Sequence[str] = (),
    chunks: Iterable[Rows] | None = None,
) -> CandidateTable:
    """Enumerate the rows of an axis, and evaluate columns.

    Parameters
    ----------
    axis : Axis
        The axis.
    columns : Sequence of Column
        The columns.
    checkpoint : Callable, optional
        Called now and then; what it raises ends the preparation.
    prune : bool, optional
        Whether dominated rows are dropped.
    alike : Sequence of str, optional
        Quantities in which rows must agree for one to dominate another.
    chunks : Iterable of Rows, optional
        The rows to evaluate; by default all of the axis, without those of which is known beforehand
        that others stand for them.

    Returns
    -------
    CandidateTable
        The rows with their columns.
    """
    if alike:
        axis = replace(
            axis,
            runs=tuple((*run, *(name for name in alike if name not in run)) for run in axis.runs),
        )
    prepared = Columns(columns, axis)
    kept: list[Part] = []
    settled = 0
    if chunks is None:
        least = lean(axis, columns) if prune else None
        chunks = axis.rows() if least is None else least.rows()
    for chunk in chunks:
        for rows in pieces(chunk):
            checkpoint()
            kept.append(_evaluate(prepared, rows, axis, prune))
            if prune and sum(_count(part) for part in kept) > settled + GATHERED_ROWS:
                kept = [_prune(prepared, kept, axis, equal=not alike)]
                settled = _count(kept[0])
    rows, values = _prune(prepared, kept, axis, equal=not alike) if prune else joined(kept)
    return CandidateTable(axis, tuple(columns), rows, values)


def with_columns(
    table: CandidateTable, columns: Mapping[str, Sequence[Column]], *, prune: bool
) -> CandidateTable:
    """The rows of a table with other columns, those of all axes by name; on request without rows
    that another makes superfluous.

    Parameters
    ----------
    table : CandidateTable
        The table.
    columns : mapping of str to sequence of Column
        The columns of every axis.
    prune : bool
        Whether dominated rows are dropped.
    """
    own, rows = tuple(columns.get(table.axis.name, ())), dict(table.rows)
    values = Columns(own, table.axis).values(rows, next(iter(rows.values())).size)
    other = CandidateTable(table.axis, own, rows, values)
    return without_dominated(other) if prune else other


def without_dominated(table: CandidateTable) -> CandidateTable:
    """The table without rows that another row makes superfluous."""
    rows, values = _prune(
        Columns(table.columns, table.axis), [(dict(table.rows), table.values)], table.axis
    )
    return CandidateTable(table.axis, table.columns, rows, values)


def pieces(rows: Rows) -> Iterator[Rows]:
    """The rows, some of them at a time; at least one piece, which may be empty."""
    count = next(iter(rows.values())).size
    for begin in range(0, max(count, 1), PIECE_ROWS):
        yield {name: values[begin : begin + PIECE_ROWS] for name, values in rows.items()}


def joined(parts: list[Part]) -> Part:
    """All rows of the parts in their order. Empties the list: the memory of one part serves the
    next quantity."""
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
    if not (prune and axis.runs and count):
        return rows, values
    keep = _undominated(columns, rows, values, axis.runs[0])
    return (rows, values) if keep is None else _keep(rows, values, keep)


def _prune(columns: Columns, parts: list[Part], axis: Axis, *, equal: bool = True) -> Part:
    """The rows without those that others dominate; all of them where the exact order of a column is
    not known.

    With ``equal`` of rows with equal columns one is enough. Empties the list: large tables are not
    held twice.
    """
    rows, values = joined(parts)
    if not values.shape[1]:
        return rows, values
    if not columns.columns:
        return (_select(rows, np.arange(1)), values[:, :1]) if equal else (rows, values)
    for largest_first in (False, True):
        keep = _undominated(columns, rows, values)
        if keep is None:
            return rows, values
        if equal:
            rows, values = _keep(rows, values, keep)
        for run in axis.runs[1:]:
            first = rows[axis.quantities[0].name]
            order = np.lexsort(
                (-first if largest_first else first, *(rows[name] for name in reversed(run)))
            )
            rows, values = _keep(rows, values, order)
            keep = _undominated(columns, rows, values, run)
            if keep is None:
                return rows, values
            rows, values = _keep(rows, values, keep)
    return rows, values


def _undominated(
    columns: Columns, rows: Rows, values: Floats, run: tuple[str, ...] | None = None
) -> Mask | None:
    """A mask of the rows that the first of their run does not dominate (without runs: that no equal
    one precedes); None if that is not known."""
    costs = columns.costs(rows, values)
    if costs is None:
        return None
    return duplicates(costs) if run is None else run_heads(costs, [rows[name] for name in run])


def _keep(rows: Rows, values: Floats, keep: Mask | Integers) -> Part:
    return _select(rows, keep), values[:, keep]


def _select(rows: Rows, keep: Mask | Integers) -> Rows:
    return {name: v[keep] for name, v in rows.items()}


def run_heads(costs: Sequence[Floats], keys: Sequence[Integers]) -> Mask:
    """Keep a row unless the first row of its run dominates it: of consecutive rows with equal
    keys."""
    rows = keys[0].size
    starts = np.zeros(rows, bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    head = np.maximum.accumulate(np.where(starts, np.arange(rows), 0))
    dominated: Mask = ~starts
    for column in costs:
        dominated &= column[head] <= column
    return ~dominated


def duplicates(costs: Sequence[Floats]) -> Mask:
    """Keep the first of rows that agree in every column."""
    weights = np.random.default_rng(0).random(len(costs))
    order = np.argsort(sum(map(np.multiply, weights, costs)), kind="stable")
    equal = np.ones(max(order.size - 1, 0), bool)
    for column in costs:
        values = column[order]
        equal &= values[1:] == values[:-1]
    keep = np.ones(order.size, bool)
    keep[order[1:][equal]] = False
    return keep
