"""Bounds of rows of an axis with the whole of the other axes, by which values leave rows out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.rounding import loosened
from ithaca.formulations.space import Axis, Rows
from ithaca.solver.tables.column import Column, Columns
from ithaca.solver.tables.lean import Lean, lean
from ithaca.solver.tables.lowered import LoweredProblem
from ithaca.solver.tables.model import Source, bound_boxes
from ithaca.solver.tables.table import CandidateTable, Part, joined, pieces

#: What makes the rows of an axis, or those that a sieve leaves, in chunks, as often as called.
RowSource = Callable[..., Iterator[Rows]]


@dataclass(frozen=True)
class Bounds:
    """Bounds by which rows are left out that no configuration of at most a value has."""

    lowered: LoweredProblem
    """The bounds as programs."""
    checkpoint: Callable[[], None]
    """Called now and then; what it raises ends the work."""

    def lean(self, axes: Sequence[Axis]) -> list[Lean | None]:
        """The rows of each axis that waste nothing by the bounds, if they stand for all others."""
        return [lean(axis, self.columns(axis)) for axis in axes]

    def bound(
        self, sources: Sequence[Source], nodes: NDArray[np.signedinteger], value: Fraction
    ) -> tuple[Floats, Mask]:
        """Bounds of boxes, and which of them may hold a configuration of at most a value.

        Parameters
        ----------
        sources : sequence of Source
            Where the values of symbols come from.
        nodes : NDArray[np.signedinteger]
            The node of each axis, shape (axes, boxes).
        value : Fraction
            The value.
        """
        bounds, feasible = bound_boxes(self.lowered.bounds, sources, self.lowered.limits, nodes)
        return bounds, feasible & (bounds <= loosened(value))

    def open(self, sources: Sequence[Source], count: int, value: Fraction) -> Mask:
        """A mask of rows, the first of the sources' nodes, that may be of at most a value.

        Parameters
        ----------
        sources : sequence of Source
            Ends of columns: the first source's are the rows', any other has a single node.
        count : int
            The number of rows.
        value : Fraction
            The value.
        """
        nodes = np.stack([np.arange(count), np.zeros(count, np.int64)])
        return self.bound(sources, nodes, value)[1]

    def columns(self, axis: Axis) -> Sequence[Column]:
        """The columns of an axis."""
        return self.lowered.columns.get(axis.name, ())

    def whole(self, axis: Axis, source: RowSource) -> CandidateTable:
        """All rows that a source makes."""
        columns = tuple(self.columns(axis))
        parts = joined([*self.pieces(Columns(columns, axis), source)])
        return CandidateTable(axis, columns, *parts)

    def pieces(self, columns: Columns, source: RowSource) -> Iterator[Part]:
        """The rows that a source makes with their columns, some at a time."""
        for chunk in source():
            for rows in pieces(chunk):
                self.checkpoint()
                yield rows, columns.values(rows, next(iter(rows.values())).size)
