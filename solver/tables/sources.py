"""The sources of the symbols in a program of bounds: values of columns on nodes, or on rows."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.formulations.algebra.array_types import Floats
from ithaca.solver.tables.column import Column
from ithaca.solver.tables.model import Source
from ithaca.solver.tables.program import Program, Sources
from ithaca.solver.tables.relaxation import statistic
from ithaca.solver.tables.table import CandidateTable
from ithaca.solver.tables.tree import RowTree


def tree_sources(bounds: Program, trees: Sequence[RowTree]) -> Sources:
    """The sources of the symbols in a program of bounds: the nodes of trees."""
    sources: dict[str, Source] = {}
    for number, tree in enumerate(trees):
        lows, highs = iter(tree.low), iter(tree.high)
        for column in tree.table.columns:
            if column.low:
                sources[statistic(column.index, False).name] = number, next(lows)
            if column.high:
                sources[statistic(column.index, True).name] = number, next(highs)
    return Sources(sources[symbol] for symbol in bounds.symbols)


def row_sources(bounds: Program, tables: Sequence[CandidateTable], axis: int) -> Sources:
    """The symbols' sources for boxes of one row of an axis, the first of their nodes, and all rows
    of the others, 0; no table is empty.

    Parameters
    ----------
    bounds : Program
        The program of the bounds.
    tables : sequence of CandidateTable
        The rows of every axis.
    axis : int
        The number of the axis of which boxes have one row.

    Returns
    -------
    Sources
        For every symbol of the program, the axis that a box is looked up by (0: rows, 1: all
        others) and the values.
    """
    ends = [table.ends for table in tables]
    columns = [table.columns for table in tables]
    return piece_sources(bounds, columns, ends, axis, (tables[axis].values,) * 2)


def piece_sources(
    bounds: Program,
    columns: Sequence[Sequence[Column]],
    ends: Sequence[tuple[Floats, Floats]],
    axis: int,
    spans: tuple[Floats, Floats],
) -> Sources:
    """The symbols' sources as of `row_sources`, for some rows of an axis.

    Parameters
    ----------
    bounds : Program
        The program of the bounds.
    columns : sequence of sequence of Column
        The columns of every axis.
    ends : sequence of tuple of Floats
        The smallest and the largest value of every axis' columns.
    axis : int
        The number of the axis of which boxes have one row.
    spans : tuple of Floats
        The least and the largest values of the columns of these rows, shape (columns, rows).
    """
    sources: dict[str, Source] = {}
    for number, (own, (low, high)) in enumerate(zip(columns, ends, strict=True)):
        for place, column in enumerate(own):
            for upper, end in enumerate((low, high)):
                rows = (0, spans[upper][place]) if number == axis else (1, end[place : place + 1])
                sources[statistic(column.index, bool(upper)).name] = rows
    return Sources(sources[symbol] for symbol in bounds.symbols)
