"""Round fractional optima to feasible configurations.

Plain rounding of a fractional optimum is far off: factors must divide, rules and limits hold.
Instead the candidate rows of each axis that lie nearest to it are combined, all combinations
evaluated at once, and the best of them improved axis by axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice

import numpy as np

from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.continuous_rules import products
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import QuantityKind, Role, Space
from ithaca.solver.exact.descent import descend
from ithaca.solver.tables.configurations import Rows
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.model import BoundModel
from ithaca.solver.tables.table import CandidateTable

#: Most combinations of rows evaluated per fractional optimum.
COMBINATIONS = 3000

#: Fractional optima rounded, and combinations improved of each.
OPTIMA, STARTS = 4, 2

#: How much the distance of a port's width counts beside that of other quantities (logarithms).
PORT_WEIGHT = 0.3

#: Factors by which a hardware quantity of one axis is multiplied, and one of another axis divided;
#: most pairs tried.
RESHAPES = (0.25, 0.5, 2.0, 4.0)
MOST_PAIRS = 3


def round_points(
    problem: Problem,
    points: Sequence[Mapping[str, float]],
    count: int,
    model: BoundModel | None = None,
    optima: int = OPTIMA,
) -> tuple[Configuration, ...]:
    """Feasible configurations near fractional optima.

    Parameters
    ----------
    problem : Problem
        The problem.
    points : Sequence of Mapping of str to float
        The optima: a value per quantity each.
    count : int
        How many are wanted.
    model : BoundModel, optional
        The exact engine's model of the problem; built unless it is given.
    optima : int, optional
        How many of the points are rounded.

    Returns
    -------
    tuple of Configuration
        The best first.
    """
    model = model or build_model(problem)
    if not all(tree.table.count for tree in model.trees):
        return ()
    feasible: dict[tuple[int, ...], tuple[Fraction, Configuration]] = {}
    for point in (
        reshaped for optimum in points[:optima] for reshaped in _reshaped(problem.space, optimum)
    ):
        for start in _starts(model, point):
            descended = descend(model.configurations, model.counts, start)
            if descended is None or tuple(descended[0]) in feasible:
                continue
            rows = descended[0]
            configuration = model.configuration(rows)
            value = problem.feasible_value(configuration)
            if value is not None:
                feasible[tuple(rows)] = value, configuration
    return tuple(
        configuration
        for _, configuration in sorted(feasible.values(), key=lambda pair: pair[0])[:count]
    )


def _reshaped(space: Space, point: Mapping[str, float]) -> Iterator[Mapping[str, float]]:
    """A fractional optimum, and the same with the hardware reshaped.

    Two axes can trade hardware at hardly any cost as long as its product stays, and the products
    that it is part of: the fractional optimum does not know which shape divides well.
    """
    yield point
    hardware = [
        q.name for q in space.free if q.role is Role.HARDWARE and q.kind is QuantityKind.INTEGER
    ]
    known = products(space)
    for pair in islice(combinations(hardware, 2), MOST_PAIRS):
        for factor in RESHAPES:
            changed = dict(point)
            for name, share in zip(pair, (factor, 1 / factor), strict=True):
                changed[name] = max(point[name] * share, 1.0)
                beside = [
                    other
                    for e in known.values()
                    if name in e.symbols
                    for other in e.symbols - {name}
                ]
                for other in beside:
                    if space.quantities[other].kind is QuantityKind.INTEGER:
                        changed[other] = max(point[other] / share, 1.0)
            yield changed | {
                name: expression.evaluate(changed, NUMPY) for name, expression in known.items()
            }


def _starts(model: BoundModel, point: Mapping[str, float]) -> list[list[int]]:
    """Combinations of near rows, the best first: those within the limits by objective, then by
    excess."""
    if not model.trees:  # there is nothing to choose
        return [[]]
    width = max(2, int(COMBINATIONS ** (1 / len(model.trees))))
    near = [_nearest(tree.table, point, width) for tree in model.trees]
    rows: Rows = np.stack([grid.ravel() for grid in np.meshgrid(*near, indexing="ij")]).astype(
        np.int32
    )
    values, excess = model.configurations.rows(rows)
    order = np.lexsort((values, excess))
    return [rows[:, index].tolist() for index in order[:STARTS]]


def _nearest(table: CandidateTable, point: Mapping[str, float], width: int) -> Integers:
    """The rows nearest to a point."""
    distance = np.zeros(table.count)
    for quantity in table.axis.quantities:
        weight = PORT_WEIGHT if quantity.role is Role.PORT else 1.0
        distance += weight * np.log(table.rows[quantity.name] / point[quantity.name]) ** 2
    return np.argsort(distance, kind="stable")[:width]
