"""Kernels beyond matrix products and convolutions: published boards, three factors, several
reductions."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.systolic_array import Direction, Edition, Epilogue, GroupRole
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.kernel_files import kernel_nest
from ithaca.workloads.library import workload, workload_names

FP32 = DATA_TYPES["fp32"]


def metrics(name, extent, t1, t2, packs):
    """Metrics of the published design of a kernel: the first two loops in space, eight lanes per
    PE."""
    nest = workload(name, dict.fromkeys(workload(name).loops, extent))
    array = derive(nest, nest.loops[:2], nest.output.tensor)
    tiling = Tiling(t1, t2, 8, packs)
    costs = evaluate(array, tiling.quantities(array, nest.sizes), FP32, FRACTION)
    assert costs.meets_bounds
    return metric_values(costs)


@pytest.mark.parametrize(
    ("name", "extent", "t1", "t2", "packs", "seconds", "gflops"),
    [
        (
            "ttmc",
            128,
            {"i": 16, "j": 64, "k": 16, "l": 32, "m": 128},
            {"i": 1, "j": 8, "k": 8},
            {"A": 16, "B": 8, "C": 16, "D_drain": 4},
            "0.112436",
            916.781,
        ),
        (
            "mttkrp",
            256,
            {"i": 128, "j": 128, "k": 2, "l": 256},
            {"i": 16, "j": 8},
            {"A": 16, "B": 8, "C": 16, "D_drain": 4},
            "0.0141298",
            911.895,
        ),
    ],
)
def test_measured_boards(
    name,
    extent,
    t1,
    t2,
    packs,
    seconds,
    gflops,
):
    """AutoSA's designs on a U250 at 300 MHz (docs/examples/ttmc_large.rst and mttkrp_large.rst):
    8,192 DSP blocks.

    The compiler runs the last loop inside the PE, which is to tile it whole.
    """
    found = metrics(name, extent, t1, t2, packs)
    measured = Fraction(seconds) * 300_000_000
    assert found["dsp"] == 8192
    # boards are slightly slower than the model: by 0.5 % and 0.9 %
    assert measured * Fraction(99, 100) < found["latency"] < measured
    # three operations per iteration: two multiplications and an addition
    assert float(found["throughput"]) == pytest.approx(gflops, rel=0.01)


@pytest.mark.parametrize(
    ("dtype", "two", "three"),
    [("fp32", 5, 8), ("int16", 1, 3), ("int8", Fraction(1, 2), Fraction(3, 2))],
)
def test_a_third_factor_takes_more_blocks(dtype, two, three):
    data = DATA_TYPES[dtype]
    assert (data.dsp(2), data.dsp(3)) == (two, three)
    assert derive(workload("mm"), ("i",), "C").factors == 2
    assert derive(workload("ttmc"), ("i",), "D", Edition.ODYSSEY).factors == 3


def test_a_third_factor_takes_one_more_multiplication():
    """Energy of MACs and registers: MTTKRP multiplies twice per iteration and touches four
    arrays."""
    from ithaca.formulations.systolic.metrics import activity

    nest = workload("mttkrp", dict.fromkeys("ijkl", 8))
    array = derive(nest, ("i", "j"), "D")
    tiling = Tiling(
        dict.fromkeys("ijkl", 8), {"i": 4, "j": 4}, 2, {g.name: 2 for g in array.packed_groups}
    )
    counts = activity(evaluate(array, tiling.quantities(array, nest.sizes), FP32, FRACTION))
    assert (counts["mac"], counts["register"]) == (2 * 8**4, 4 * 8**4)


@pytest.mark.parametrize("name", workload_names())
def test_every_kernel_has_buildable_designs_in_both_editions(name):
    nest = workload(name)
    for edition in (Edition.EXACT, Edition.ODYSSEY):
        found = designs(nest, edition)
        assert len(found) == len(dataflows(nest)) * len(nest.accesses)
        # where the output's permutation keeps all reductions innermost, sums never leave the array
        assert all(array.buildable for array in found if array.permutation == nest.output.tensor)
        assert all(len(set(array.order)) == len(nest.band) for array in found)


def test_reductions_in_space_come_one_at_a_time():
    assert [d for d in dataflows(workload("ttmc")) if set(d) <= {"l", "m"}] == [("l",), ("m",)]
    assert len(dataflows(workload("ttmc"))) == 5 + 10 - 1


def test_reductions_hide_no_latency():
    """The order of MTTKRP's loops k and l is that of the sums; only i and j can be interleaved."""
    array = derive(workload("mttkrp"), ("i", "j"), "D")
    assert (array.sequential, array.latency_hiding_loops) == (("k",), ("i", "j"))
    tiling = Tiling({"i": 8, "j": 8, "k": 6, "l": 4}, {"i": 4, "j": 2}, 4, {})
    assert tiling.t2(array, "k") == 1
    packed = replace(tiling, pack={g.name: 1 for g in array.packed_groups})
    costs = evaluate(array, packed.quantities(array, workload("mttkrp").sizes), FP32, FRACTION)
    assert costs.accumulation == 4 * 2 - 8 * 4


def test_sums_leave_the_array_between_tiles_of_an_outer_reduction_only():
    """MTTKRP in the order j, k, i, l: tiles of l follow each other in the PEs, those of k go
    through DRAM."""
    array = derive(workload("mttkrp"), ("i", "j"), "B")
    assert array.order == ("j", "k", "i", "l")
    flow = next(g for g in array.groups if g.role is GroupRole.FLOW)
    assert {str(m.tiles) for m in flow.modules} == {"tiles.j·tiles.i·(tiles.k - 1)"}
    assert not array.buildable
    # of a reduction in space, the modules add up the tiles of l themselves, beginning with what
    # they loaded
    chained = derive(workload("mttkrp"), ("i", "k"), "B")
    (group,) = (g for g in chained.groups if g.role is GroupRole.FLOW and g.modules)
    into = [m for m in group.modules if m.direction is Direction.IN]
    out = [m for m in group.modules if m.direction is Direction.OUT]
    assert group.locally_reducing
    assert {str(m.tiles) for m in into} == {"tiles.j·tiles.i·(tiles.k - 1)"}
    assert {str(m.tiles) for m in out} == {"tiles.j·tiles.i·tiles.k"}
    assert {m.epilogue for m in out} == {Epilogue.TRANSFER}
    assert [str(m.intra) for m in out if m.buffer] == ["t2.i·t1.j·tiles.l"]
    assert not any(g.role is GroupRole.DRAIN for g in chained.groups)


def test_a_vector_needs_one_dimension():
    """A fully connected layer on a row of PEs, by hand: 8 outputs of 6 inputs on two PEs of two
    lanes."""
    nest = workload("mv", {"i": 8, "j": 6})
    array = derive(nest, ("i",), "y")
    tiling = Tiling({"i": 4, "j": 6}, {"i": 2}, 2, {"A": 2, "x": 2, "y_drain": 1})
    costs = evaluate(array, tiling.quantities(array, nest.sizes), FP32, FRACTION)
    assert costs.words == {"A": 48, "x": 2 * 6, "y": 8}  # x once per tile of i
    assert costs.pe == 2 * (3 * 2)
    assert costs.modules["y_drain_IO_L1_out"].per_tile == 2 * 2 + 2


def test_a_dot_product_is_one_chain():
    nest = kernel_nest(
        parse_yaml("{name: dot, einsum: 'k,k->', arrays: [a, b, sum], extents: {k: 64}}", "dot"),
        "dot",
    )
    assert dataflows(nest) == (("k",),)
    array = derive(nest, ("k",), "sum")
    tiling = Tiling({"k": 16}, {}, 4, {"a": 4, "b": 4, "sum": 1})
    costs = evaluate(array, tiling.quantities(array, nest.sizes), FP32, FRACTION)
    assert costs.words == {"a": 64, "b": 64, "sum": 1}
    assert (costs.pe, costs.dsp) == (4, 4 * 4 * 5)
