"""The front of small problems by enumerating every point, with none of the solver's parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import metric_values, parse_objective
from tests.solver.enumeration import _packs, loop_points

Vectors = NDArray[np.float64]


def brute_front(problems: Sequence[Problem], objectives: Sequence[str]) -> set[tuple[float, ...]]:
    """All vectors of objectives that no configuration of any design dominates."""
    found = [vectors for problem in problems for vectors in _all_vectors(problem, objectives)]
    if not found:
        return set()
    return {tuple(v) for v in _undominated(np.concatenate(found)).tolist()}


def _undominated(vectors: Vectors) -> Vectors:
    # in lexicographic order only an earlier vector can dominate a later one
    vectors = np.unique(vectors, axis=0)
    kept: list[NDArray[np.float64]] = []
    for vector in vectors:
        if not any((k <= vector).all() for k in kept):
            kept.append(vector)
    return np.array(kept)


def _all_vectors(problem: Problem, objectives: Sequence[str]) -> list[Vectors]:
    array, sizes = systolic(problem).array, systolic(problem).nest.sizes
    grids = np.meshgrid(
        *(np.arange(len(loop_points(problem, loop))) for loop in array.band), indexing="ij"
    )
    values = {f"extent.{loop}": n for loop, n in sizes.items()}
    for loop, grid in zip(array.band, grids, strict=True):
        t1, t2 = np.array(loop_points(problem, loop)).reshape(-1, 2).T[:, grid.ravel()]
        values |= {
            f"t1.{loop}": t1,
            f"t2.{loop}": t2,
            f"lanes.{loop}": t1 // t2,
            f"tiles.{loop}": -(-sizes[loop] // t1),
        }
    expressions = [parse_objective(text).expression for text in objectives]
    found = []
    options = (
        [o for o in _packs(problem, group, values, grids[0].size) if o[1].any()]
        for group in array.packed_groups
    )
    for combination in product(*options):
        legal = np.logical_and.reduce([legal for _, legal in combination])
        point = {name: v[legal] if isinstance(v, np.ndarray) else v for name, v in values.items()}
        for group, (pack, _) in zip(array.packed_groups, combination, strict=True):
            point[f"pack.{group.name}"] = pack[legal]
        costs = evaluate(array, point, systolic(problem).data, NUMPY, systolic(problem).technology)
        metrics = metric_values(costs)
        count = int(legal.sum())
        feasible = np.ones(count, bool)
        for limit in problem.limits:
            feasible &= limit.expression.evaluate(metrics, NUMPY) <= float(limit.bound)
        if array.pe.accumulators is not None:
            feasible &= costs.accumulation >= 0
        columns = [
            np.broadcast_to(np.asarray(e.evaluate(metrics, NUMPY), float), (count,))
            for e in expressions
        ]
        vectors = np.stack(columns, axis=1)[feasible]
        if vectors.size:
            found.append(_undominated(vectors))
    return found
