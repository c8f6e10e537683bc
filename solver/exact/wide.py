"""Tables of problems with wide axes: a good configuration first, then the rows that may beat it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.exact.probing import best_descent
from ithaca.solver.level_set import LevelSet
from ithaca.solver.tables.table import CandidateTable, without_dominated


def wide_tables(
    problem: Problem,
    value: Fraction | None,
    offer: Callable[[Configuration], Fraction | None],
    checkpoint: Callable[[], None],
) -> list[CandidateTable] | None:
    """Tables of the rows that may be part of a configuration no worse than the best of some; None
    where no axis is wide, columns prove by themselves which rows will do, or none is known.

    Parameters
    ----------
    problem : Problem
        The problem.
    value : Fraction or None
        The objective of the incumbent.
    offer : Callable
        Takes a configuration that may be better, and returns the best objective.
    checkpoint : Callable
        Called now and then; what it raises ends the preparation.
    """
    level = LevelSet(problem, value or Fraction(0), checkpoint)
    if problem.space.entangled or not level.wide or level.proves_lean:
        return None
    few = level.few_rows()
    if all(table.count for table in few):
        best = best_descent(problem, level.bounds.lowered, few, np.random.default_rng(0), value)
        value = value if best is None else offer(best)
    if value is None:
        return None
    tables = level.at(value).tables
    return None if tables is None else [without_dominated(table) for table in tables]
