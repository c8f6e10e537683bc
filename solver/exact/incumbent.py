"""Find good configurations early: coordinate descent over whole axes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ithaca.solver.exact.model import BoundModel

#: Rounds over all axes; the descent usually settles in three or four.
ROUNDS = 8


def descend(model: BoundModel, nodes: NDArray[np.int32]) -> list[int] | None:
    """Improve a configuration axis by axis, each time choosing the best of all rows.

    Parameters
    ----------
    model : BoundModel
        Evaluates configurations.
    nodes : array, shape (axes,)
        A box; the descent starts from its typical rows.

    Returns
    -------
    list of int or None
        Row of each axis of a feasible configuration that no change of one axis improves; None if none was met.
    """
    rows = [int(tree.row[node]) for tree, node in zip(model.trees, nodes, strict=True)]
    best = (np.inf, np.inf)
    for _ in range(ROUNDS):
        before = best
        for axis, tree in enumerate(model.trees):
            values, violations = model.evaluate_line(rows, axis)
            # first repair what exceeds the limits (relative to them), then improve the objective
            excess = np.zeros(tree.table.count)
            for violation, limit in zip(violations, model.limits, strict=True):
                excess += np.maximum(violation, 0) / max(abs(float(limit)), 1.0)
            least = float(excess.min())
            objective = np.where(excess == least, values, np.inf)
            choice = int(objective.argmin())
            if (least, float(objective[choice])) < best:
                best = (least, float(objective[choice]))
                rows[axis] = choice
        if best == before:
            break
    return rows if best[0] <= 0 else None
