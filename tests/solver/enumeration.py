"""Every point of a small problem, enumerated straight from the rules of the space.

It shares the cost model with the solver (which `golden/` verifies) but none of the solver's
tables, packs, dominance, bounds or search.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.systolic_array import Edition


def loop_points(problem: Problem, loop: str) -> list[tuple[int, int]]:
    """All (t1, t2) of a loop."""
    extent = systolic(problem).nest.sizes[loop]
    top = max(2 * extent, 16)
    simd = [s for s in (1, 2, 4, 8, 16, 32) if s * systolic(problem).data.bytes <= 32]
    vectorised = loop == systolic(problem).nest.simd
    # the sums of a reduction wait for each other: its iterations hide no latency
    reduces = not systolic(problem).nest.output.indexed_by(loop) and not vectorised
    points = []
    for t1 in range(1, top + 1):
        if systolic(problem).options.divisors_only and extent % t1:
            continue
        for t2 in simd if vectorised else range(1, 2 if reduces else t1 + 1):
            if t1 % t2 == 0 and (
                loop not in systolic(problem).array.dataflow
                or t1 // t2 >= systolic(problem).options.min_lanes
            ):
                points.append((t1, t2))
    return points


def enumerated_optimum(problem: Problem) -> Fraction | None:
    """The least objective over the whole space; None if no point meets the limits."""
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
    bounds = {limit.metric: limit.bound for limit in problem.limits}
    keep = np.ones(grids[0].size, bool)
    if "dsp" in bounds:  # a cheap limit first
        dsp = (
            array.pe.count.evaluate(values, NUMPY)
            * array.pe.simd.evaluate(values, NUMPY)
            * float(systolic(problem).data.dsp(len(systolic(problem).nest.inputs)))
        )
        keep &= dsp <= float(bounds["dsp"])
    values = {name: v[keep] if isinstance(v, np.ndarray) else v for name, v in values.items()}
    best: Fraction | None = None
    if not keep.any():
        return None
    choices = (_packs(problem, group, values, int(keep.sum())) for group in array.packed_groups)
    for combination in product(
        *([choice for choice in found if choice[1].any()] for found in choices)
    ):
        legal = np.logical_and.reduce([legal for _, legal in combination])
        if not legal.any():
            continue
        point = {name: v[legal] if isinstance(v, np.ndarray) else v for name, v in values.items()}
        for group, (pack, _) in zip(array.packed_groups, combination, strict=True):
            point[f"pack.{group.name}"] = pack[legal]
        costs = evaluate(array, point, systolic(problem).data, NUMPY, systolic(problem).technology)
        metrics = metric_values(costs)
        feasible = np.ones(int(legal.sum()), bool)
        for limit in problem.limits:
            feasible &= limit.expression.evaluate(metrics, NUMPY) <= float(limit.bound)
        if array.pe.accumulators is not None:
            feasible &= costs.accumulation >= 0
        if feasible.any():
            objective = np.broadcast_to(
                problem.objective.expression.evaluate(metrics, NUMPY), feasible.shape
            )
            least = Fraction(float(objective[feasible].min()))
            best = least if best is None else min(best, least)
    return best


def _packs(problem, group, values, count):  # type: ignore[no-untyped-def]
    """(pack, legal) pairs to try for a group."""
    ones = np.ones(count, np.int64)
    last = group.packing.last.evaluate(values, NUMPY) * ones
    floor = group.packing.multiple_of.evaluate(values, NUMPY) * ones
    at_l1 = group.buffers[0].level == 1
    if systolic(problem).array.edition is Edition.ODYSSEY:
        target = np.maximum(np.minimum(last, 4 if at_l1 else 16), floor)
        pack = floor * (target // floor)
        return [(pack, (target % pack == 0) & np.isin(pack, 2 ** np.arange(10)))]
    cap = np.maximum((16 if at_l1 else 64) // systolic(problem).data.bytes, floor)
    return [
        (p * ones, (p % floor == 0) & (last % p == 0) & (p <= cap))
        for p in (1, 2, 4, 8, 16, 32, 64)
    ]
