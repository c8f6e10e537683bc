"""Small spaces whose bounds are dear.

Bounds by tables regroup every product by axis: of quotients of sums that makes long expressions,
and weak bounds. Of a space of few configurations all are looked at in less time than that takes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from ithaca.formulations.problem import Problem
from ithaca.solver.tables.frame import lower_problem

#: Configurations of a small space, and the largest value of its quantities.
MOST_CONFIGURATIONS, LARGEST = 1 << 20, 1 << 8

#: Expressions that are bounded at most before all configurations are looked at.
MOST_BOUNDED = 600


class _DearError(Exception):
    """The end of bounds that take more than they may."""


def is_dear(problem: Problem, checkpoint: Callable[[], None]) -> bool:
    """Whether all configurations of a problem are looked at sooner than its bounds are made."""
    space, configurations = problem.space, 1
    for axis in space.axes:
        if any(high > LARGEST for _, high in axis.ranges.values()):
            return False
        configurations *= sum(next(iter(rows.values())).size for rows in axis.rows())
        if configurations > MOST_CONFIGURATIONS:
            return False
    if space.entangled:
        return False
    bounded = count()

    def counted() -> None:
        checkpoint()
        if next(bounded) >= MOST_BOUNDED:
            raise _DearError

    try:
        lower_problem(problem, counted)
    except _DearError:
        return True
    return False
