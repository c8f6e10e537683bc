"""Find good configurations early: coordinate descent over whole axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.solver.tables.configurations import Configurations

#: Rounds over all axes; the descent usually settles in three or four.
ROUNDS = 8


def descend(
    configurations: Configurations, counts: Sequence[int], start: Sequence[int]
) -> tuple[list[int], float] | None:
    """Improve a configuration axis by axis, each time by the best of all rows.

    Parameters
    ----------
    configurations : Configurations
        What values configurations.
    counts : Sequence of int
        Rows of each axis.
    start : Sequence of int
        A row of each axis.

    Returns
    -------
    tuple of list of int and float, or None
        The rows of a feasible configuration that no change of one axis improves, and its objective,
        up to rounding; None if none was met.
    """
    rows = [int(row) for row in start]
    best, settled = (np.inf, np.inf), 0
    for axis in list(range(len(counts))) * ROUNDS:
        # first repair what exceeds the limits, then improve the objective
        values, excess = configurations.line(rows, axis, counts[axis])
        least = float(excess.min())
        objective = np.where(excess == least, values, np.inf)
        choice = int(objective.argmin())
        settled += 1
        if (least, float(objective[choice])) < best:
            best = (least, float(objective[choice]))
            rows[axis], settled = choice, 1
        if settled == len(counts):
            break
    return (rows, best[1]) if best[0] <= 0 else None
