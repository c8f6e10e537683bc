"""Find good configurations early: coordinate descent over whole axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.solver.tables.model import BoundModel

#: Rounds over all axes; the descent usually settles in three or four.
ROUNDS = 8


def descend(model: BoundModel, start: Sequence[int]) -> tuple[list[int], float] | None:
    """Improve a configuration axis by axis from a row of each, each time choosing the best of all rows.

    Found are the rows of a feasible configuration that no change of one axis improves, and its objective, up to rounding; None
    if none was met.
    """
    rows = [int(row) for row in start]
    best = (np.inf, np.inf)
    for _ in range(ROUNDS):
        before = best
        for axis, tree in enumerate(model.trees):
            # first repair what exceeds the limits, then improve the objective
            values, excess = model.configurations.line(rows, axis, tree.table.count)
            least = float(excess.min())
            objective = np.where(excess == least, values, np.inf)
            choice = int(objective.argmin())
            if (least, float(objective[choice])) < best:
                best = (least, float(objective[choice]))
                rows[axis] = choice
        if best == before:
            break
    return (rows, best[1]) if best[0] <= 0 else None
