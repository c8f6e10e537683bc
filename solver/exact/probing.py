"""Drop rows before trees are built: those that are part of no improvement, whatever rows the other
axes have.

A row is bounded with all rows of the other axes, as a box of the search would be. An incumbent,
from a descent over the tables, makes most of them superfluous; what is left is descended over and
bounded again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil
from operator import itemgetter

import numpy as np

from ithaca.formulations.algebra.rounding import cutoff, on_grid
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.exact.descent import descend
from ithaca.solver.tables.configurations import configuration_of, configurations_of
from ithaca.solver.tables.lowered import LoweredProblem
from ithaca.solver.tables.model import bound_boxes
from ithaca.solver.tables.sources import row_sources
from ithaca.solver.tables.table import CandidateTable

#: Rounds at most, and the share of rows that must go for another one.
ROUNDS, WORTH_IT = 4, 0.2
#: Rows of an axis that descents choose among at first, and how many descents there are in a round.
SAMPLE, STARTS = 1024, 4


def probe(
    problem: Problem,
    lowered: LoweredProblem,
    tables: Sequence[CandidateTable],
    value: Fraction | None,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
) -> list[CandidateTable]:
    """Drop rows that are in no configuration better than the incumbent.

    Parameters
    ----------
    problem : Problem
        The problem.
    lowered : LoweredProblem
        Its compiled bounds.
    tables : Sequence of CandidateTable
        The rows of every axis.
    value : Fraction or None
        The objective of the incumbent.
    offer : Callable
        Takes a configuration that may be better, and returns the best objective.
    checkpoint : Callable
        Called now and then; what it raises ends the preparation.

    Returns
    -------
    list of CandidateTable
        The tables without them.
    """
    left, before = list(tables), 0
    draw = np.random.default_rng(0)
    for _ in range(ROUNDS):
        counts = [table.count for table in left]
        if not all(counts) or (before and sum(counts) > (1 - WORTH_IT) * before):
            break
        before = sum(counts)
        best = _best_descent(problem, lowered, left, draw, value)
        if best is not None:
            value = offer(best)
        for axis in range(len(left)):
            checkpoint()
            left[axis] = _promising(lowered, left, axis, value)
    return left


def _best_descent(
    problem: Problem,
    lowered: LoweredProblem,
    tables: Sequence[CandidateTable],
    draw: np.random.Generator,
    value: Fraction | None,
) -> Configuration | None:
    """The end of a descent over all rows, if it is better than a value: from the best end of some
    over samples of them."""
    few = [np.arange(0, table.count, ceil(table.count / SAMPLE)) for table in tables]
    samples = [table.only(own) for table, own in zip(tables, few, strict=True)]
    starts = [[int(draw.integers(own.size)) for own in few] for _ in range(STARTS)]

    def ends(
        rows: Sequence[CandidateTable], starts: Sequence[Sequence[int]]
    ) -> list[tuple[list[int], float]]:
        valued = configurations_of(lowered.values, problem.space, rows, lowered.limits)
        counts = [table.count for table in rows]
        return [end for start in starts if (end := descend(valued, counts, start))]

    for begun, _ in sorted(ends(samples, starts), key=itemgetter(1))[:1]:
        start = [int(own[row]) for own, row in zip(few, begun, strict=True)]
        for rows, least in ends(tables, [start]):
            if value is None or least < value:
                return configuration_of(problem.space, tables, rows)
    return None


def _promising(
    lowered: LoweredProblem, tables: Sequence[CandidateTable], axis: int, value: Fraction | None
) -> CandidateTable:
    """The rows of one axis that may be part of a configuration that meets the limits and improves
    on a value, which need not be on the objective's grid."""
    if not all(table.count for table in tables):
        return tables[axis]
    count = tables[axis].count
    nodes = np.stack([np.arange(count), np.zeros(count, np.int64)])
    bounds, kept = bound_boxes(
        lowered.bounds, row_sources(lowered.bounds, tables, axis), lowered.limits, nodes
    )
    if value is not None:
        kept &= bounds <= cutoff(on_grid(value, lowered.step) - lowered.step)
    return tables[axis].only(kept)
