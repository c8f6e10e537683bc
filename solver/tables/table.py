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
from functools import cached_property
from math import inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.space import Axis
from ithaca.solver.options import never
from ithaca.solver.tables.column import Column, Columns
from ithaca.solver.tables.lean import lean

Scalar = TypeVar("Scalar", bound=np.generic)
Rows = dict[str, Integers]

#: Rows of an axis with the values of its columns; and the smallest and the largest value of each.
Part = tuple[Rows, Floats]
Ends = tuple[Floats, Floats]

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

    @cached_property
    def ends(self) -> Ends:
        """The smallest and the largest value of every column; infinite ones without rows."""
        return ends_of(self.values)

    def only(self, keep: Mask | Integers) -> CandidateTable:
        """The table with some of its rows, of which a mask or places in order tell which."""
        if keep.all() if keep.dtype == bool else keep.size == self.count:
            return self
        return CandidateTable(self.axis, self.columns, *_keep(self.rows, self.values, keep))

    def row(self, index: int) -> dict[str, int]:
        """The quantities of one row."""
        return {name: int(values[index]) for name, values in self.rows.items()}


def ends_of(values: Floats) -> Ends:
    """The smallest and the largest value of every column, of shape (columns, rows); infinite ones
    without rows."""
    return values.min(axis=1, initial=inf), values.max(axis=1, initial=-inf)


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
    part = _prune(prepared, kept, axis, equal=not alike) if prune else joined(kept)
    return CandidateTable(axis, tuple(columns), *part)


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
    parts = [(dict(table.rows), table.values)]
    own = Columns(table.columns, table.axis)
    return CandidateTable(table.axis, table.columns, *_prune(own, parts, table.axis))


def pieces(rows: Rows, most: int = PIECE_ROWS) -> Iterator[Rows]:
    """The rows, some of them at a time; at least one piece, which may be empty."""
    count = next(iter(rows.values())).size
    for begin in range(0, max(count, 1), most):
        yield {name: values[begin : begin + most] for name, values in rows.items()}


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
    costs = columns.costs(rows, values) if prune and axis.runs and count else None
    if costs is None:
        return rows, values
    keep = run_heads(costs, [rows[name] for name in axis.runs[0]])
    return (rows, values) if keep.all() else _keep(rows, values, keep)


def _prune(columns: Columns, parts: list[Part], axis: Axis, *, equal: bool = True) -> Part:
    """The rows without those that others dominate; all of them where the exact order of a column is
    not known.

    With ``equal`` of rows with equal columns one is enough. Empties the list: large tables are not
    held twice.
    """
    rows, values = joined(parts)
    if not values.size:  # there are no columns, or no rows
        return _keep(rows, values, np.arange(values.shape[1])[:1]) if equal else (rows, values)
    costs = columns.costs(rows, values)
    if costs is None:
        return rows, values
    places = np.flatnonzero(duplicates(costs)) if equal else np.arange(values.shape[1])
    own = rows[axis.quantities[0].name]
    for first in (own, own.max() - own):
        for run in axis.runs[1:]:
            keys = [rows[name][places] for name in run]
            order = _order(*keys, first[places])
            places = places[order]
            places = places[run_heads(costs, [key[order] for key in keys], places)]
    return _keep(rows, values, places)


def _order(*keys: Integers) -> Integers:
    """The order of rows by keys, none negative, the first before others; equal rows stay in order.
    One number for all keys is sorted four times as fast."""
    sizes = [int(key.max()) + 1 for key in keys]
    try:
        return np.ravel_multi_index(keys, sizes).argsort(kind="stable")
    except ValueError:  # there is no such number
        return np.lexsort(keys[::-1])


def _keep(rows: Mapping[str, Integers], values: Floats, keep: Mask | Integers) -> Part:
    return {name: v[keep] for name, v in rows.items()}, picked(values, keep)


def picked(values: NDArray[Scalar], which: Mask | Integers) -> NDArray[Scalar]:
    """The entries of every row that a mask or places name, rows lying one after the other: indices
    would put columns there, and take twice as long."""
    return values.take(np.flatnonzero(which) if which.dtype == bool else which, axis=1)


def run_heads(
    costs: Sequence[Floats], keys: Sequence[Integers], places: Integers | None = None
) -> Mask:
    """Keep a row unless the first row of its run dominates it: of consecutive rows with equal
    keys.

    Parameters
    ----------
    costs : sequence of Floats
        The costs of rows, smaller being better.
    keys : sequence of Integers
        The keys of every row.
    places : Integers, optional
        Where the costs of every row stand; by default in the order of the rows.
    """
    count = keys[0].size
    starts = np.zeros(count, bool)
    starts[:1] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    rows = np.flatnonzero(~starts)
    heads = np.maximum.accumulate(np.where(starts, np.arange(count), 0))[rows]
    for column in costs:  # most rows are no worse somewhere, and are soon done with
        own, first = (rows, heads) if places is None else (places[rows], places[heads])
        worse = column[first] <= column[own]
        rows, heads = rows[worse], heads[worse]
    keep = np.ones(count, bool)
    keep[rows] = False
    return keep


def duplicates(costs: Sequence[Floats]) -> Mask:
    """Keep the first of rows that agree in every column."""
    weights = np.random.default_rng(0).random(len(costs))
    order = np.argsort(sum(map(np.multiply, weights, costs)), kind="stable")
    equal = np.arange(1, order.size)
    for column in costs:
        equal = equal[column[order[equal]] == column[order[equal - 1]]]
    keep = np.ones(order.size, bool)
    keep[order[equal]] = False
    return keep
