"""The bound model of a problem: tables, trees, and the program that bounds boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.design_space import Axis, axes, candidate_rows, tiling_of
from ithaca.formulations.expression import Expression, Maximum, Product, Sum, maximum, multiply
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.exact.granularity import granularity
from ithaca.solver.exact.program import Program
from ithaca.solver.exact.relaxation import Relaxation, statistic
from ithaca.solver.exact.rounding import ROUNDING, magnitude, subtracts
from ithaca.solver.exact.tables import Column, build_table, evaluate_column
from ithaca.solver.exact.tree import Tree, build_tree
from ithaca.solver.options import never

Nodes = NDArray[np.int32]


@dataclass(frozen=True)
class Source:
    """Where a symbol of the program comes from.

    Attributes
    ----------
    axis : int
        Number of the axis.
    statistics : array, shape (nodes,)
        The column's smallest or largest value on each node of the axis' tree.
    values : array, shape (rows,)
        The column's value on each row of the axis' table.
    """

    axis: int
    statistics: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class BoundModel:
    """Everything the search needs to bound boxes of a problem.

    Attributes
    ----------
    problem : Problem
        The problem.
    trees : tuple of Tree
        One per axis; a *box* is one node of each.
    program : Program
        Computes the objective's bound, then each constraint's.
    sources : tuple of Source
        Where each symbol of the program comes from.
    limits : array, shape (constraints,)
        Bounds of the constraints, loosened by the rounding of floats.
    step : Fraction
        All objective values are multiples of it; 0 if unknown.
    """

    problem: Problem
    trees: tuple[Tree, ...]
    program: Program
    sources: tuple[Source, ...]
    limits: NDArray[np.float64]
    step: Fraction

    def bound(self, nodes: Nodes) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Bound boxes.

        Parameters
        ----------
        nodes : array, shape (axes, boxes)
            Node of each axis' tree.

        Returns
        -------
        bound : array, shape (boxes,)
            No configuration in the box has a smaller objective (up to `ROUNDING`). For a box of
            single rows it is the configuration's objective.
        feasible : array, shape (boxes,)
            False where no configuration in the box meets all constraints.
        """
        values, violations = self.evaluate(nodes)
        # what overflows to no number proves nothing: such boxes stay open, and the reference decides
        values = np.broadcast_to(np.where(np.isnan(values), -inf, values), nodes.shape[1:])
        feasible = np.ones(nodes.shape[1], bool)
        for violation in violations:
            feasible &= ~(violation > 0)
        return values, feasible

    def evaluate(self, nodes: Nodes) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """Bounds of the objective, and by how much each constraint is exceeded at least."""
        return self._run([source.statistics.take(nodes[source.axis]) for source in self.sources])

    def evaluate_line(self, rows: Sequence[int], axis: int) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """The same for configurations that differ in one axis only: all its rows, one of each other."""
        return self._run([s.values if s.axis == axis else s.values[rows[s.axis]] for s in self.sources])

    def _run(self, loaded: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        objective, *constraints = self.program.run(loaded)
        return objective, [value - limit for value, limit in zip(constraints, self.limits, strict=True)]

    def tiling(self, rows: Sequence[int]) -> Tiling:
        """The tiling of one row per axis."""
        values: dict[str, int] = {}
        for tree, row in zip(self.trees, rows, strict=True):
            values |= tree.table.row(row)
        return tiling_of(self.problem.array, values)


def build_model(problem: Problem, checkpoint: Callable[[], None] = never) -> BoundModel:
    """Relax a problem, build its tables and trees, and compile its bounds.

    Parameters
    ----------
    problem : Problem
        The problem.
    checkpoint : callable
        Called now and then; what it raises ends the preparation.
    """
    symbolic = problem.symbolic()
    parts = axes(problem.array)
    relaxation = relax(problem, parts)
    for expression in (symbolic.objective, *(e for e, _ in symbolic.constraints)):
        relaxation.check_divisors(expression)
    bounds = [_with_cuts(symbolic, relaxation), *(relaxation.lower(e) for e, _ in symbolic.constraints)]
    # a bound that subtracts is lowered by the rounding of what it subtracts
    program = Program([b - Fraction(ROUNDING) * magnitude(b) if subtracts(b) else b for b in bounds])
    columns = used_columns(relaxation, frozenset(program.symbols))
    # a pack of its own ties rows together in ways that columns do not show
    prune = all(axis.loop is not None for axis in parts)
    tables = (build_table(problem, axis, columns.get(axis.name, ()), checkpoint, prune=prune) for axis in parts)
    trees = tuple(build_tree(table, checkpoint) for table in tables)
    sources = {}
    for number, tree in enumerate(trees):
        lows, highs = iter(tree.low), iter(tree.high)
        for column, values in zip(tree.table.columns, tree.table.values, strict=True):
            if column.low:
                sources[f"low.{column.index}"] = Source(number, next(lows), values)
            if column.high:
                sources[f"high.{column.index}"] = Source(number, next(highs), values)
    return BoundModel(
        problem,
        trees,
        program,
        tuple(sources[symbol] for symbol in program.symbols),
        np.array([float(bound) + ROUNDING * max(1.0, float(abs(bound))) for _, bound in symbolic.constraints]),
        granularity(symbolic.objective, problem.data),
    )


def relax(problem: Problem, parts: Sequence[Axis]) -> Relaxation:
    """A relaxation over the candidate rows of a problem's axes."""
    axis_of = {symbol: axis.name for axis in parts for symbol in axis.symbols}
    by_name = {axis.name: axis for axis in parts}

    def least(axis: str, expression: Expression) -> float:
        found = inf
        for rows in candidate_rows(problem, by_name[axis]):
            count = next(iter(rows.values())).size
            found = min(found, float(evaluate_column(expression, rows, count).min(initial=inf)))
        return found

    return Relaxation(axis_of, least)


def used_columns(relaxation: Relaxation, statistics: frozenset[str]) -> dict[str, list[Column]]:
    """The columns whose statistics are used, by axis."""
    columns: dict[str, list[Column]] = {}
    for (axis, expression), index in relaxation.columns.items():
        column = Column(
            index, expression, statistic(index, False).name in statistics, statistic(index, True).name in statistics
        )
        if column.low or column.high:
            columns.setdefault(axis, []).append(column)
    return columns


def _with_cuts(symbolic: SymbolicProblem, relaxation: Relaxation) -> Expression:
    """The objective's bound, strengthened by product cuts.

    Where a constraint limits a product, g ≤ c, any nonnegative term f of the objective satisfies
    f ≥ lower(f·g)/c. The product f·g regroups by axis and is often nearly constant: PE cycles times
    PEs are the padded work of the nest, which no choice of lanes makes smaller.
    """
    resources = [
        (expression, bound)
        for expression, bound in symbolic.constraints
        if isinstance(expression, Product) and relaxation.nonnegative(expression) and bound > 0
    ]

    def bound(node: Expression) -> Expression:
        if isinstance(node, Maximum):
            return maximum(*(bound(a) for a in node.arguments))
        if isinstance(node, Sum):
            return sum((bound(t) for t in node.terms[1:]), start=bound(node.terms[0]))
        lower = relaxation.lower(node)
        if isinstance(node, Product) and len(relaxation.axes(node)) > 1 and relaxation.nonnegative(node):
            cuts = [multiply(relaxation.lower(multiply(node, g)), 1 / c) for g, c in resources]
            return maximum(lower, *cuts)
        return lower

    return bound(symbolic.objective)
