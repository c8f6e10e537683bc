"""Every way to run layers on one array, or on several that share a budget, enumerated from the
rules.

It shares the cost model with the search, and nothing else: no classes of hardware, bounds, plans or
proofs of layers.
"""

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import prod
from types import MappingProxyType

import numpy as np

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.quantities import ACCUMULATORS
from tests.solver.enumeration import loop_points, packed, subset, tile_values


def points(problem, lanes):
    """Every configuration of a layer by hardware, with up to so many lanes along a loop: objective,
    GB/s, words of each buffer.

    Of those that are no better in all of these one is kept.
    """
    design = systolic(problem)
    array, groups = design.array, design.array.packed_groups
    values = tile_values(problem, lambda _, loop: _points(problem, loop, lanes))
    keep = dsp(problem, np.prod([values[name] for name in _units(problem)], axis=0)) <= bound(
        problem, "dsp"
    )
    found = []
    for point in split(design, packed(problem, subset(values, keep))):
        kept = dict(design.kept)
        costs = evaluate(array, point, design.data, NUMPY, design.technology, kept)
        metrics = metric_values(costs)
        # blocks are 512 words deep: up to whole ones buffers are the same
        words = [512 * -(-size.evaluate(point, NUMPY) // 512) for _, size in _buffers(problem)]
        columns = [*(point[n] for n in _units(problem)), *(point[f"pack.{g.name}"] for g in groups)]
        columns += [point[name] for name in _ports(design)]
        columns += [
            problem.objective.expression.evaluate(metrics, NUMPY),
            metrics["bandwidth"],
            *words,
        ]
        rows = np.stack(
            [np.broadcast_to(np.asarray(c, float), costs.latency.shape) for c in columns], axis=1
        )
        found.append(rows if array.pe.accumulators is None else rows[costs.accumulation >= 0])
    table = np.unique(np.concatenate(found), axis=0)
    keyed = len(_units(problem)) + len(groups) + len(_ports(design))
    table[:, keyed + 1] *= (
        bound(problem, "bandwidth") < np.inf
    )  # without a limit it does not matter
    table = table[table[:, keyed + 1] <= bound(problem, "bandwidth")]
    keys, which = np.unique(table[:, :keyed].astype(int), axis=0, return_inverse=True)
    return {
        tuple(key.tolist()): not_dominated(table[which.ravel() == n, keyed:])
        for n, key in enumerate(keys)
    }


def split(design, points):
    """Points with every number of memory ports, a power of two that divides the lanes of its chain
    and leaves two of them to each."""
    most = 1 if design.options.ports is None else design.options.ports.most
    powers = [1 << exponent for exponent in range(most.bit_length()) if 1 << exponent <= most]
    groups = design.array.split_groups if design.options.ports is not None else ()
    for point in points:
        for numbers in product(powers, repeat=len(groups)):
            many = len(point[f"t1.{design.array.band[0]}"])
            kept = np.full(many, True)
            for group, number in zip(groups, numbers, strict=True):
                lanes = np.broadcast_to(point[f"lanes.{group.split}"], many)
                kept &= (number == 1) | ((lanes % number == 0) & (lanes >= 2 * number - 1))
            ports = {f"ports.{g.name}": n for g, n in zip(groups, numbers, strict=True)}
            own = {name: np.broadcast_to(column, many)[kept] for name, column in point.items()}
            if kept.any():
                yield own | {name: np.full(int(kept.sum()), n) for name, n in ports.items()}


def _ports(design):
    """The quantities of memory ports."""
    several = design.options.ports is not None
    return [f"ports.{group.name}" for group in design.array.split_groups if several]


def _points(problem, loop, lanes):
    """The points of a loop alone, and more lanes than it fills: idle without latency hiding, or
    along the SIMD loop."""
    own, design = loop_points(problem, loop), systolic(problem)
    if loop not in design.array.dataflow or design.options.divisors_only:
        return own
    factors = {t2 for _, t2 in own} if loop == design.array.simd_loop else {1}
    return sorted(
        {
            *((t1, t2) for t1, t2 in own if t1 // t2 <= lanes),
            *((t2 * n, t2) for t2 in factors for n in range(1, lanes + 1)),
        }
    )


def bound(problem, metric):
    """The limit on a metric."""
    return min(
        (float(limit.bound) for limit in problem.limits if limit.metric == metric), default=np.inf
    )


def dsp(problem, macs):
    """DSP blocks of so many MAC units."""
    design = systolic(problem)
    return macs * float(design.data.dsp(len(design.nest.inputs)))


def _units(problem):
    """The quantities whose product is the number of MAC units."""
    array = systolic(problem).array
    return (*(f"lanes.{loop}" for loop in array.dataflow), f"t2.{array.simd_loop}")


def _buffers(problem):
    array = systolic(problem).array
    found = [(group.name, group.size) for group in array.packed_groups if group.buffers]
    return (
        found if array.pe.accumulators is None else [*found, (ACCUMULATORS, array.pe.accumulators)]
    )


def not_dominated(rows):
    """The rows that no other is at most equal to in all columns; of equal ones one."""
    rows = np.unique(rows, axis=0)
    rows, kept = rows[np.argsort(rows.sum(axis=1), kind="stable")], []
    while len(rows):  # the first is no worse than any: none of those after it has a smaller sum
        kept.append(rows[0])
        rows = rows[(rows < rows[0]).any(axis=1)]
    return np.array(kept).reshape(-1, rows.shape[1])


def arrays(problems, counts, each):
    """Every array for some layers: DSP blocks, block RAM, total objective, most GB/s of a layer;
    those not dominated."""
    design, found = systolic(problems[0]), [np.zeros((0, 4))]
    for hardware in set.intersection(*(set(own) for own in each)):
        rows = np.concatenate([[0.0, 0.0], np.zeros(len(_buffers(problems[0])))])[None, :]
        for count, own in zip(counts, each, strict=True):
            one, two = rows[:, None, :], own[hardware][None, :, :]
            joined = np.concatenate(
                [one[..., :1] + count * two[..., :1], np.maximum(one[..., 1:], two[..., 1:])],
                axis=-1,
            )
            rows = not_dominated(joined.reshape(-1, rows.shape[1]))
        units = _units(problems[0])
        values = {
            f"{kind}.{loop}": 1
            for kind in ("t1", "t2", "lanes", "tiles")
            for loop in design.array.band
        }
        values |= {f"extent.{loop}": n for loop, n in design.nest.sizes.items()} | dict(
            zip(units, hardware, strict=False)
        )
        names = [*(f"pack.{group.name}" for group in design.array.packed_groups), *_ports(design)]
        values |= dict(zip(names, hardware[len(units) :], strict=True))
        values |= {
            f"buffer.{name}": rows[:, 2 + n] for n, (name, _) in enumerate(_buffers(problems[0]))
        }
        blocks = evaluate(design.array, values, design.data, NUMPY, design.technology).bram18k
        blocks = blocks + max(map(on_chip, problems))
        used = np.full(len(rows), dsp(problems[0], prod(hardware[: len(units)])))
        found.append(
            np.stack([used, np.broadcast_to(blocks, len(rows)), rows[:, 0], rows[:, 1]], axis=1)
        )
    return not_dominated(np.concatenate(found))


def on_chip(problem):
    """Block RAM of the tensors of a layer that stay on chip: a port of 64 bytes, 15 blocks of 36
    bits, by 512 rows."""
    design = systolic(problem)
    return sum(15 * -(-words * design.data.bytes // (64 * 512)) for _, words in design.kept)


def pipelines(
    designs,
    sequence,
    count,
    *,
    slowest,
    shares=MappingProxyType({}),
):
    """All pipelines of up to ``count`` arrays: DSP blocks, block RAM, objective, GB/s of all at
    once; those not dominated.

    Of DSP blocks, block RAM and bandwidth arrays take whole shares of these sizes, where they are
    stated.
    """
    lanes = int(min(bound(designs[0][0], "dsp") / dsp(problem, 1) for problem in designs[0]))
    each = [[points(problem, lanes) for problem in problems] for problems in designs]
    stages = {}
    for first, end in combinations(range(len(sequence) + 1), 2):
        members = sorted(set(sequence[first:end]))
        counts = [sequence[first:end].count(n) for n in members]
        options = [
            arrays([p[n] for n in members], counts, [e[n] for n in members])
            for p, e in zip(designs, each, strict=True)
        ]
        rows = np.concatenate(options)
        for metric, size in shares.items():
            column = {"dsp": 0, "bram18k": 1, "bandwidth": 3}[metric]
            rows[:, column] = np.ceil(rows[:, column] / size - 1e-9) * size
        stages[first, end] = not_dominated(rows)
    found = [np.zeros((0, 4))]
    for number in range(1, count + 1):
        for cuts in combinations(range(1, len(sequence)), number - 1):
            rows = np.array([[0.0, 0.0, 0.0, 0.0]])
            for stage in pairwise((0, *cuts, len(sequence))):
                one, two = rows[:, None, :], stages[stage][None, :, :]
                time = (
                    np.maximum(one[..., 2], two[..., 2]) if slowest else one[..., 2] + two[..., 2]
                )
                together = slowest or "bandwidth" in shares
                wide = (
                    one[..., 3] + two[..., 3] if together else np.maximum(one[..., 3], two[..., 3])
                )
                joined = np.stack(
                    [one[..., 0] + two[..., 0], one[..., 1] + two[..., 1], time, wide], axis=-1
                ).reshape(-1, 4)
                rows = not_dominated(joined[joined[:, 0] <= bound(designs[0][0], "dsp") + 1e-9])
            found.append(rows)
    return not_dominated(np.concatenate(found))


def least(rows, bram18k, gbs=np.inf, dsp=np.inf):
    """The least objective within some block RAM, bandwidth and DSP blocks; None if there is
    none."""
    within = (rows[:, 1] <= bram18k) & (rows[:, 3] <= gbs) & (rows[:, 0] <= dsp)
    own = rows[within, 2]
    return Fraction(float(own.min())) if own.size else None
