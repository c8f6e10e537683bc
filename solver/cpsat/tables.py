"""The candidate rows handed to CP-SAT: per axis, without dominated rows.

The columns that dominance looks at come from the relaxation of the exact engine. What matters
here is only that objective and constraints are monotone in them, as its bounds are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ithaca.formulations.algebra.expression import Expression, Product, Symbol, power
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.space import Space
from ithaca.solver.cpsat.quotients import as_quotient
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.options import never
from ithaca.solver.tables.column import Column, Columns
from ithaca.solver.tables.frame import relax, used_columns
from ithaca.solver.tables.granularity import granularity
from ithaca.solver.tables.relaxation import Relaxation
from ithaca.solver.tables.table import CandidateTable, build_table

#: More rows than this make a model of gigabytes.
MOST_ROWS = 300_000

#: Rows tried as dominators between two looks at whether that still pays, and the share of rows
#: they must remove for it to go on.
TRIALS = 128
WORTHWHILE = 0.01


def candidate_tables(
    problem: Problem, symbolic: SymbolicProblem, checkpoint: Callable[[], None] = never
) -> tuple[CandidateTable, ...]:
    """The rows of every axis that an optimum may need.

    Parameters
    ----------
    problem : Problem
        The problem.
    symbolic : SymbolicProblem
        The same as expressions.
    checkpoint : Callable, optional
        Called now and then; what it raises ends the preparation.

    Returns
    -------
    tuple of CandidateTable
        One per axis.

    Raises
    ------
    NotExpressibleError
        For objectives and limits that divide by what may be 0, and axes with too many rows.
    """
    space = problem.space
    columns = dominance_columns(space, symbolic, checkpoint)
    tables = []
    for axis in space.axes:
        table = _without_dominated(
            build_table(axis, columns.get(axis.name, ()), checkpoint), checkpoint
        )
        if table.count > MOST_ROWS:
            raise NotExpressibleError(
                f"CP-SAT: axis {axis.name} has {table.count} candidate "
                f"rows; it takes up to {MOST_ROWS}"
            )
        tables.append(table)
    return tuple(tables)


def dominance_columns(
    space: Space, symbolic: SymbolicProblem, checkpoint: Callable[[], None]
) -> dict[str, list[Column]]:
    """The columns that dominance compares, by axis.

    Parameters
    ----------
    space : Space
        The design space.
    symbolic : SymbolicProblem
        Objective and constraints as expressions.
    checkpoint : callable
        Called now and then; what it raises ends the work.

    Returns
    -------
    dict of str to list of Column
        The columns by the name of their axis; an axis with none is left out.
    """
    relaxation = relax(space, checkpoint)
    for expression in (symbolic.objective, *(e for e, _ in symbolic.constraints)):
        relaxation.check_divisors(expression)
    bounds = [
        relaxation.lower(e)
        for e in (*_monotone_parts(symbolic, space, relaxation), *space.inequalities)
    ]
    columns = used_columns(relaxation, frozenset[str]().union(*(b.symbols for b in bounds)))
    # the other rules across axes depend on their quantities either way
    for symbol in sorted(space.entangled):
        (axis,) = relaxation.axes(Symbol(symbol))
        columns.setdefault(axis, []).append(Column(-1, Symbol(symbol), low=True, high=True))
    return columns


def _monotone_parts(
    symbolic: SymbolicProblem, space: Space, relaxation: Relaxation
) -> list[Expression]:
    """Expressions such that what decreases all of them harms neither the objective nor a limit.

    Quotients are taken apart, so that columns have a grid.
    """

    def cleared(product: Product) -> list[Expression]:
        return [
            base
            for base, exponent in product.factors
            if exponent < 0 and not granularity(power(base, exponent), space.powers)
        ]

    objective = as_quotient(symbolic.objective, cleared)
    parts = [objective.over]
    if objective.divisors:
        parts += [] if relaxation.nonnegative(objective.over) else [objective.under]
        parts += [] if relaxation.nonnegative(-objective.over) else [-objective.under]
    for expression, bound in symbolic.constraints:
        limited = as_quotient(expression, cleared)
        parts.append(limited.over - bound * limited.under if limited.divisors else expression)
    return parts


def dominating_row(table: CandidateTable, quantities: Mapping[str, int]) -> int | None:
    """A row that equals the given one, or is at least as good in every column; None if there is
    none."""
    one = {
        symbol: np.array([value]) for symbol, value in quantities.items() if symbol in table.rows
    }
    equal = np.ones(table.count, bool)
    for symbol, value in one.items():
        equal &= table.rows[symbol] == value
    if equal.any():
        return int(equal.argmax())
    better = np.ones(table.count, bool)
    for column, values in zip(table.columns, table.values, strict=True):
        wanted = float(np.asarray(column.expression.evaluate(one, NUMPY)).item())
        if column.low:
            better &= values <= wanted
        if column.high:
            better &= values >= wanted
    return int(better.argmax()) if better.any() else None


def _without_dominated(table: CandidateTable, checkpoint: Callable[[], None]) -> CandidateTable:
    """Drop rows that another row dominates, as long as looking for them pays."""
    costs = (
        Columns(table.columns, table.axis).costs(table.rows, table.values) if table.count else None
    )
    if costs is None:
        return table
    # in random order: neighbours dominate much the same rows
    order = np.random.default_rng(0).permutation(table.count)
    costs = [column[order] for column in costs]
    position, trials, before = 0, 0, order.size
    while position < order.size:
        keep = np.zeros(order.size, bool)
        for column in costs:
            keep |= column < column[position]
        keep[position] = True
        position = int(keep[: position + 1].sum())
        if not keep.all():
            order, costs = order[keep], [column[keep] for column in costs]
        trials += 1
        if trials % TRIALS == 0:
            checkpoint()
            if before - order.size < WORTHWHILE * before:
                break
            before = order.size
    return table.only(np.isin(np.arange(table.count), order))
