"""Every point of a small problem, enumerated straight from the rules of the space.

It shares the cost model with the solver (which `golden/` verifies) but none of the solver's
tables, packs, dominance, bounds or search.
"""

from fractions import Fraction
from itertools import product

import numpy as np

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.systolic_array import Edition


def loop_points(problem, loop):
    """All (t1, t2) of a loop."""
    extent = systolic(problem).nest.sizes[loop]
    top = max(2 * extent, 16)
    data, nest = systolic(problem).data, systolic(problem).nest
    widest = max(data.format_of(access.tensor).word_bits for access in nest.inputs)
    simd = [s for s in 2 ** np.arange(8) if s * widest <= 256]
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


def tile_values(
    problem,
    loop_points=loop_points,
):
    """The tile factors of every point, and what follows of them, by the names of the cost model."""
    array, sizes = systolic(problem).array, systolic(problem).nest.sizes
    pairs = [np.array(loop_points(problem, loop)).reshape(-1, 2) for loop in array.band]
    grids = np.meshgrid(*(np.arange(len(of_loop)) for of_loop in pairs), indexing="ij")
    values = {f"extent.{loop}": n for loop, n in sizes.items()}
    for loop, of_loop, grid in zip(array.band, pairs, grids, strict=True):
        t1, t2 = of_loop.T[:, grid.ravel()]
        values |= {
            f"t1.{loop}": t1,
            f"t2.{loop}": t2,
            f"lanes.{loop}": t1 // t2,
            f"tiles.{loop}": -(-sizes[loop] // t1),
        }
    return values


def subset(values, keep):
    """The values of some of the points."""
    return {name: v[keep] if isinstance(v, np.ndarray) else v for name, v in values.items()}


def within_dsp(problem, values):
    """The points that meet the limit on DSP blocks, which costs little to ask."""
    array, nest = systolic(problem).array, systolic(problem).nest
    macs = array.pe.count.evaluate(values, NUMPY) * array.pe.simd.evaluate(values, NUMPY)
    dsp = macs * float(systolic(problem).data.dsp(len(nest.inputs)))
    keep = np.ones(len(values[f"t1.{array.band[0]}"]), bool)
    for limit in problem.limits:
        if limit.metric == "dsp":
            keep &= dsp <= float(limit.bound)
    return subset(values, keep)


def packed(problem, values):
    """Points with each choice of packs that is legal for some: the values of these."""
    array, groups = systolic(problem).array, systolic(problem).array.packed_groups
    count = len(values[f"t1.{array.band[0]}"])
    choices = [_packs(problem, group, values, count) for group in groups]
    for combination in product(*choices):
        legal = np.logical_and.reduce([legal for _, legal in combination])
        if legal.any():
            point = subset(values, legal)
            for group, (pack, _) in zip(groups, combination, strict=True):
                point[f"pack.{group.name}"] = pack[legal]
            yield point


def objectives_of_all(
    problem,
    objectives,
    points=None,
):
    """Values of objectives at all points that meet the limits, of shape (objective, point), for
    each choice of packs.

    Parameters
    ----------
    problem : Problem
        Whose limits decide.
    objectives : sequence of Expression
        What is evaluated.
    points : iterable of mappings, optional
        All points, where the space has more quantities than tiles and packs.
    """
    array, data = systolic(problem).array, systolic(problem).data
    if points is None:
        points = packed(problem, within_dsp(problem, tile_values(problem)))
    for point in points:
        costs = evaluate(array, point, data, NUMPY, systolic(problem).technology)
        metrics = {**point, **metric_values(costs)}
        feasible = np.ones(len(point[f"t1.{array.band[0]}"]), bool)
        for limit in problem.limits:
            feasible &= limit.expression.evaluate(metrics, NUMPY) <= float(limit.bound)
        if array.pe.accumulators is not None:
            feasible &= costs.accumulation >= 0
        rows = [np.asarray(e.evaluate(metrics, NUMPY), float) for e in objectives]
        if feasible.any():
            yield np.stack([np.broadcast_to(row, feasible.shape)[feasible] for row in rows])


def enumerated_optimum(problem, points=None):
    """The least objective over the whole space; None if no point meets the limits."""
    rows = objectives_of_all(problem, [problem.objective.expression], points)
    least = [row.min() for row in rows]
    return Fraction(float(min(least))) if least else None


def _packs(problem, group, values, count):
    """(pack, legal) pairs to try for a group."""
    ones = np.ones(count, np.int64)
    last = group.packing.last.evaluate(values, NUMPY) * ones
    floor = group.packing.multiple_of.evaluate(values, NUMPY) * ones
    at_l1 = group.buffers[0].level == 1
    if systolic(problem).array.edition is Edition.ODYSSEY:
        target = np.maximum(np.minimum(last, 4 if at_l1 else 16), floor)
        pack = floor * (target // floor)
        return [(pack, (target % pack == 0) & np.isin(pack, 2 ** np.arange(10)))]
    word = group.package(systolic(problem).data).word_bytes
    cap = np.maximum((16 if at_l1 else 64) // word, floor)
    packs = [p for p in (1, 2, 4, 8, 16, 32, 64, 128, 256) if (p * word).denominator == 1]
    cap = np.maximum(cap, packs[0])  # the fewest that are whole bytes, however many these are
    return [(p * ones, (p % floor == 0) & (last % p == 0) & (p <= cap)) for p in packs]
