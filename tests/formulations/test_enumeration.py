"""Derived arrays of every kernel against runs enumerated iteration by iteration."""

import random
from itertools import product

import pytest

from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.systolic_array import GroupRole
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.kernel_files import kernel_nest
from ithaca.workloads.library import workload, workload_names
from tests.formulations.enumeration import Run

FP32 = DATA_TYPES["fp32"]

OWN = {
    "conv1d": "{name: n, statement: 'y[f][o] += x[s*f+d*p][i] * w[o][p][i]', extents: {o: 4, f: 4, i: 4, p: 3}, untiled: [p], "
    "parameters: {s: 2, d: 1}}",
    "dilated": "{name: n, statement: 'y[f][o] += x[f+2*p][i] * w[o][p][i]', extents: {o: 4, f: 4, i: 4, p: 3}, untiled: [p]}",
    "dilated, parallel simd": "{name: n, statement: 'y[f][o] += x[2*f+3*p] * w[o][p]', extents: {o: 4, f: 4, p: 3}, "
    "untiled: [p], simd: o}",
    "window tiled": "{name: n, statement: 'y[f][o] += x[3*f+p][o] * w[p][o]', extents: {o: 4, f: 4, p: 4}, simd: o}",
    "two reductions": "{name: n, einsum: 'ikl,jkl->ij', extents: {i: 4, j: 4, k: 4, l: 4}}",
    "reduction outside": "{name: n, einsum: 'ikl,jkl->ij', extents: {k: 4, i: 4, l: 4, j: 4}}",
    "parallel simd": "{name: n, einsum: 'ki,kj->ij', extents: {i: 4, j: 4, k: 4}, simd: j}",
    "offsets": "{name: n, statement: 'y[i][1] += x[9-k][i+2] * w[k+3][5]', extents: {i: 4, k: 4}, simd: i}",
    "dot product": "{name: n, einsum: 'k,k->', extents: {k: 4}}",
}


def kernel(name):
    return kernel_nest(parse_yaml(OWN[name], name), name) if name in OWN else workload(name)


def small_run(nest, dataflow, permutation, draw):
    """A design with small factors: two tiles of every loop, two or three lanes of the space
    loops."""
    array = derive(nest, dataflow, permutation)
    t2 = {x: 1 if x in nest.sequential_loops else draw.choice((1, 2)) for x in nest.band}
    t1 = {
        x: t2[x] * (draw.choice((2, 3)) if x in dataflow else draw.choice((1, 2)))
        for x in nest.band
    }
    sizes = {x: 2 * t1[x] for x in nest.band} | {x: draw.choice((2, 3)) for x in nest.untiled}
    access = next(a for a in nest.accesses if a.tensor == permutation)
    order = (
        *(x for x in nest.band if access.indexed_by(x)),
        *(x for x in nest.band if not access.indexed_by(x)),
    )
    hidden = {x: t2[x] for x in array.latency_hiding_loops}
    tiling = Tiling(t1, hidden, t2[nest.simd], {g.name: 1 for g in array.packed_groups})
    return Run(nest.with_sizes(sizes), dataflow, order, t1, t2), tiling, array


def cases():
    """Every design of every kernel; one in four of the library's where time is short."""
    found = []
    for name in (*workload_names(), *OWN):
        nest = kernel(name)
        for number, (dataflow, access) in enumerate(product(dataflows(nest), nest.accesses)):
            marks = [pytest.mark.slow] if name in workload_names() and number % 4 else []
            case = f"{name} [{','.join(dataflow)}] {access.tensor}"
            found.append(pytest.param(name, dataflow, access.tensor, id=case, marks=marks))
    return found


@pytest.mark.parametrize(("name", "dataflow", "permutation"), cases())
def test_enumerated_runs_agree(name, dataflow, permutation):
    draw = random.Random(f"{name} {dataflow} {permutation}")
    nest = kernel(name)
    run, tiling, array = small_run(nest, dataflow, permutation, draw)
    values = tiling.quantities(array, run.nest.sizes)
    costs = evaluate(array, values, FP32, FRACTION)
    for group in array.groups:
        access = next(a for a in nest.accesses if a.tensor == group.tensor)
        assert group.size.evaluate(values, FRACTION) == run.box(access), group.name
    check_inputs(run, array, costs)
    check_output(run, array, costs)
    assert costs.pe == run.cycles() + array.pe.moves.evaluate(values, FRACTION)
    assert costs.dsp == len(run.pes) * tiling.simd * (5 + 3 * (len(nest.inputs) - 2))


def check_inputs(run, array, costs):
    for access in run.nest.inputs:
        (group,) = (g for g in array.groups if g.tensor == access.tensor)
        values = costs.point.values
        shared = run.sharing(access)
        assert group.exterior == (shared is not None)
        assert group.count.evaluate(values, FRACTION) == run.buffers(access)
        # a buffer next to the DRAM module keeps its tile as long as it is needed, others are filled
        # for every tile
        near = len(run.dataflow) == (1 if shared is None else 2)
        loads = run.changes(access) if near else len(run.tiles)
        if near and loads == 1:
            loads = 2  # the outermost loop is never skipped
        assert costs.words[access.tensor] == loads * run.buffers(access) * run.box(access)


def check_output(run, array, costs):
    """Partial sums leave and come back whenever the tile of the output changes before it is
    finished."""
    output, in_space = run.nest.output, set(run.dataflow) & set(run.nest.reduction_loops)
    runs, finished = run.changes(output), run.output_tiles()
    holders = len(run.pes)
    for loop in in_space:
        holders //= run.t1[loop] // run.t2[loop]
    assert costs.words[output.tensor] == (2 * runs - finished) * holders * run.box(output)
    flows = [g for g in array.groups if g.role is GroupRole.FLOW and g.modules]
    assert array.buildable == (runs == finished)
    assert bool(flows) == (bool(in_space) or runs > finished)
    assert (array.pe.accumulators is not None) == (
        not in_space or any(x not in in_space for x in run.nest.reduction_loops)
    )
    if in_space and run.sums_in_time():
        assert array.pe.accumulators is not None
