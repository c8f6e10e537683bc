"""Round fractional optima to feasible configurations.

Plain rounding of a fractional optimum is far off: factors must divide, packs be legal, limits hold. Instead
the candidate rows of each axis that lie nearest to it are combined, all combinations evaluated at once, and
the best of them improved axis by axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.exact.descent import descend
from ithaca.solver.tables.configurations import Rows
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.model import BoundModel
from ithaca.solver.tables.table import Table

#: Most combinations of rows evaluated per fractional optimum.
COMBINATIONS = 3000

#: Fractional optima rounded, and combinations improved of each.
OPTIMA, STARTS = 4, 2

#: How much a pack's distance counts beside that of a factor (logarithms).
PACK_WEIGHT = 0.3

#: Factors by which the lanes of one space loop are multiplied, and those of the other divided.
RESHAPES = (0.25, 0.5, 2.0, 4.0)


def round_points(
    problem: Problem,
    points: Sequence[Mapping[str, float]],
    count: int,
    model: BoundModel | None = None,
    optima: int = OPTIMA,
) -> tuple[Tiling, ...]:
    """Feasible configurations near fractional optima, the best first.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    points : sequence of mapping of str to float
        Fractional optima: a value per quantity.
    count : int
        How many configurations at most.
    model : BoundModel, optional
        The exact engine's model of the problem, if it has been built.
    optima : int
        How many of the points to round, the first ones.
    """
    model = model or build_model(problem)
    if not all(tree.table.count for tree in model.trees):
        return ()
    found: dict[tuple[int, ...], tuple[Fraction, Tiling]] = {}
    for point in (reshaped for optimum in points[:optima] for reshaped in _reshaped(problem, optimum)):
        for start in _starts(model, point):
            descended = descend(model, start)
            if descended is None or tuple(descended[0]) in found:
                continue
            rows = descended[0]
            tiling = model.tiling(rows)
            value = feasible_value(problem, tiling)
            if value is not None:
                found[tuple(rows)] = value, tiling
    return tuple(tiling for _, tiling in sorted(found.values(), key=lambda pair: pair[0])[:count])


def _reshaped(problem: Problem, point: Mapping[str, float]) -> Iterator[Mapping[str, float]]:
    """A fractional optimum, and the same with the array reshaped.

    Two space loops can trade lanes at hardly any cost as long as their product and both t1 stay: the
    fractional optimum does not know which shape divides well.
    """
    yield point
    if len(problem.array.dataflow) == 2:
        longer, shorter = problem.array.dataflow
        for factor in RESHAPES:
            changed = dict(point)
            for loop, share in ((longer, factor), (shorter, 1 / factor)):
                if loop != problem.array.simd_loop:
                    changed[f"t2.{loop}"] = max(point[f"t2.{loop}"] / share, 1.0)
                changed[f"lanes.{loop}"] = max(point[f"lanes.{loop}"] * share, 1.0)
            yield changed


def _starts(model: BoundModel, point: Mapping[str, float]) -> list[list[int]]:
    """Combinations of near rows, the best first: those within the limits by objective, then by excess."""
    width = max(2, int(COMBINATIONS ** (1 / len(model.trees))))
    near = [_nearest(tree.table, point, width) for tree in model.trees]
    rows: Rows = np.stack([grid.ravel() for grid in np.meshgrid(*near, indexing="ij")]).astype(np.int32)
    values, excess = model.configurations.rows(rows)
    order = np.lexsort((values, excess))
    return [rows[:, index].tolist() for index in order[:STARTS]]


def _nearest(table: Table, point: Mapping[str, float], width: int) -> NDArray[np.int64]:
    """The rows nearest to a point."""
    distance = np.zeros(table.count)
    for name, column in table.rows.items():
        target = _value(point, name)
        weight = PACK_WEIGHT if name.startswith("pack.") else 1.0
        distance += weight * np.log(column / target) ** 2
    return np.argsort(distance, kind="stable")[:width]


def _value(point: Mapping[str, float], name: str) -> float:
    if name.startswith("t1."):
        loop = name.removeprefix("t1.")
        return point[f"lanes.{loop}"] * point[f"t2.{loop}"]
    return point[name]
