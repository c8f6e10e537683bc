"""The bound model of a problem: trees, and the program that bounds boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.tables.configurations import (
    Configurations,
    configuration_of,
    exact_quantities,
)
from ithaca.solver.tables.program import Program
from ithaca.solver.tables.tree import RowTree

if TYPE_CHECKING:
    from ithaca.solver.tables.exact_bound import ExactBound

Nodes = NDArray[np.int32]

#: Where a symbol of a program comes from: the number of an axis, and the smallest or largest value
#: of one of its columns on each node of the axis' tree.
Source = tuple[int, Floats]


@dataclass(frozen=True)
class BoundModel:
    """Everything the search needs to bound boxes of a problem."""

    problem: Problem
    """The problem."""
    trees: tuple[RowTree, ...]
    """One per axis; a *box* is one node of each."""
    program: Program
    """Computes the objective's bound, then each constraint's."""
    sources: tuple[Source, ...]
    """Where each symbol of the program comes from."""
    limits: Floats
    """Bounds of the constraints, loosened by the rounding of floats."""
    step: Fraction
    """All objective values are multiples of it; 0 if unknown."""
    configurations: Configurations
    """Values single configurations."""
    objective: Expression
    """The objective's bound over column statistics."""

    @cached_property
    def exact_bound(self) -> ExactBound:
        """The objective's bound without rounding, box by box."""
        from ithaca.solver.tables.exact_bound import ExactBound

        return ExactBound(self.objective, self.trees)

    @property
    def counts(self) -> list[int]:
        """The rows of each axis."""
        return [tree.table.count for tree in self.trees]

    def bound(self, nodes: Nodes) -> tuple[Floats, Mask]:
        """Bound boxes: nodes of each axis' tree, shape (axes, boxes).

        No configuration in a box has an objective below the first array's entry, up to rounding
        (`rounding.below`); of a box of single rows it is the objective. The second array is False
        where no configuration in the box meets all constraints.
        """
        return bound_boxes(self.program, self.sources, self.limits, nodes)

    def values(self, nodes: Nodes) -> list[Fraction | None]:
        """The exact objectives of boxes of single rows; None of those that exceed a limit."""
        tables = [tree.table for tree in self.trees]
        rows = np.stack([tree.row.take(own) for tree, own in zip(self.trees, nodes, strict=True)])
        exact = exact_quantities(self.problem.space, tables, rows)
        symbolic = self.problem.symbolic()

        def of(expression: Expression) -> list[Fraction]:
            own = expression.evaluate(exact, RATIONAL_ARRAYS)
            return [Fraction(*entry) for entry in own.entries(nodes.shape[1])]

        within = np.ones(nodes.shape[1], bool)
        for expression, bound in symbolic.constraints:
            within &= [value <= bound for value in of(expression)]
        objectives = of(symbolic.objective)
        return [value if kept else None for value, kept in zip(objectives, within, strict=True)]

    def configuration(self, rows: Sequence[int]) -> Configuration:
        """The configuration of one row per axis; what rules across axes define follows from the
        others."""
        return configuration_of(self.problem.space, [tree.table for tree in self.trees], rows)


def bound_boxes(
    program: Program, sources: Sequence[Source], limits: Floats, nodes: NDArray[np.signedinteger]
) -> tuple[Floats, Mask]:
    """The bounds of boxes: `BoundModel.bound` for a program.

    Parameters
    ----------
    program : Program
        Computes the bounds of objective and constraints.
    sources : sequence of Source
        Where the values of the program's symbols come from.
    limits : Floats
        What the constraints must not exceed, shape (constraints).
    nodes : NDArray[np.signedinteger]
        The node of each axis, shape (axes, boxes).

    Returns
    -------
    tuple of Floats, Mask
        Lower bounds of the objective, and whether a box may hold a feasible configuration;
        shape (boxes) each.
    """
    objective, *used = program.gather(sources, nodes)
    # what overflows to no number proves nothing: such boxes stay open, and the reference decides
    values = np.broadcast_to(np.where(np.isnan(objective), -inf, objective), nodes.shape[1:])
    feasible = np.ones(nodes.shape[1], bool)
    for value, limit in zip(used, limits, strict=True):
        feasible &= ~(value > limit)
    return values, feasible
