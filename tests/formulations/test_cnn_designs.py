"""The 30 designs of a convolution: those of `golden/` carried over to the others, and published
figures."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.dataflows import dataflows, find_dataflow
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import metric_values, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.problems import costs_at

EDITIONS = [Edition.EXACT, Edition.ODYSSEY]


def costs_of(nest, array, tiling, dtype="fp32"):
    return costs_at(
        Problem(SystolicDesign(nest, array, DATA_TYPES[dtype]), (), parse_objective("latency")),
        tiling,
    )


def random_tiling(array, draw):
    inner = {x: draw.choice((1, 2, 3)) for x in array.latency_hiding_loops}
    inner |= dict.fromkeys(array.sequential, 1)
    simd = draw.choice((1, 2, 4))
    outer = {x: draw.choice((1, 2, 4)) * inner.get(x, simd) for x in array.band}
    packs = {g.name: draw.choice((1, 2, 4)) for g in array.packed_groups}
    return Tiling(outer, {x: inner[x] for x in array.latency_hiding_loops}, simd, packs)


# -- [r], [o,c], [c,i] from the golden [c], [o,r], [r,i]: rows and columns change places ----------


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("permutation", ["cin", "w", "cout"])
@pytest.mark.parametrize(
    ("dataflow", "twin"),
    [("c", "r"), ("o,r", "o,c"), ("r,i", "c,i"), ("o", "o"), ("i", "i"), ("o,i", "o,i")],
)
def test_rows_and_columns_may_change_places(dataflow, twin, permutation, edition):
    draw = random.Random(f"{dataflow} {permutation} {edition}")
    swap = {"r": "c", "c": "r", "p": "q", "q": "p"}
    sizes = {"o": 7, "r": 9, "c": 5, "i": 6, "p": 3, "q": 2, "s": 2}
    nest = workload("conv2d", sizes)
    other = workload("conv2d", {swap.get(x, x): n for x, n in sizes.items()})
    array = derive(nest, tuple(dataflow.split(",")), permutation, edition)
    mirrored = derive(other, tuple(twin.split(",")), permutation, edition)
    for _ in range(10):
        tiling = random_tiling(array, draw)
        outer = {swap.get(x, x): n for x, n in tiling.array_part.items()}
        inner = {swap.get(x, x): n for x, n in tiling.latency_hiding.items()}
        here = costs_of(nest, array, tiling)
        there = costs_of(other, mirrored, replace(tiling, array_part=outer, latency_hiding=inner))
        assert here.modules == there.modules
        assert here.words == there.words
        assert metric_values(here) == metric_values(there)


# -- [i] from the golden [k]: a window of one element and a single column make it a matrix product
# ------


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("permutation", "matrix"), [("cin", "A"), ("w", "B"), ("cout", "C")])
@pytest.mark.parametrize(
    ("dataflow", "space"), [("r", "i"), ("o", "j"), ("i", "k"), ("r,i", "i,k"), ("o,i", "j,k")]
)
def test_a_window_of_one_element_is_a_matrix_product(dataflow, space, permutation, matrix, edition):
    draw = random.Random(f"{dataflow} {permutation} {edition}")
    conv = workload("conv2d", {"o": 7, "r": 9, "c": 1, "i": 6, "p": 1, "q": 1})
    mm = workload("mm", {"i": 9, "j": 7, "k": 6})
    array = derive(conv, tuple(dataflow.split(",")), permutation, edition)
    product = derive(mm, tuple(space.split(",")), matrix, edition)
    arrays = {"A": "cin", "B": "w", "C": "cout", "C_drain": "cout_drain"}
    if "i" in dataflow:
        arrays["C"] = "cout_1"
    for _ in range(10):
        tiling = random_tiling(product, draw)
        outer, inner = tiling.array_part, tiling.latency_hiding
        twin = Tiling(
            {"o": outer["j"], "r": outer["i"], "c": 1, "i": outer["k"]},
            {"o": inner["j"], "r": inner["i"], "c": 1},
            tiling.simd,
            {arrays[name]: pack for name, pack in tiling.pack.items()},
        )
        expected, found = costs_of(mm, product, tiling), costs_of(conv, array, twin)
        renamed = {
            name: next(a for a in arrays if name.startswith(f"{arrays[a]}_IO"))
            for name in found.modules
        }
        for name, cost in found.modules.items():
            assert cost == expected.modules[renamed[name] + name[name.index("_IO") :]], name
        assert found.words == {
            "cin": expected.words["A"],
            "w": expected.words["B"],
            "cout": expected.words["C"],
        }
        for part in ("prologue", "epilogue", "dsp"):
            assert getattr(found, part) == getattr(expected, part), part


# -- figures of the published descriptions that are not among `descriptors/`
# --------------------------


def buffers(array):
    """Words and number of the buffers of every module that has one, and of the PEs."""
    found = {
        module.name: f"{group.size} x {group.count}"
        for group, module in array.modules
        if module.buffer
    }
    assert array.pe.accumulators is not None
    return found | {"PE": f"{array.pe.accumulators} x {array.pe.count}"}


def test_buffers_of_rows_and_columns_in_space():
    """AutoSA, autosa_scripts/odyssey/designs_lib/cnn/kernel7_2.json, section memory."""
    array = derive(workload("conv2d"), ("r", "c"), "w")
    out = "t2.r·t2.c·t1.o x lanes.r·lanes.c"
    assert buffers(array) == {
        "PE": out,
        "cin_IO_L1_in": "(t2.r + extent.p - 1)·(t2.c + extent.q - 1)·t1.i x lanes.r·lanes.c",
        "cout_IO_L1_in": out,
        "cout_IO_L1_out": out,
        "cout_drain_IO_L1_out": out,
        "w_IO_L2_in": "t1.o·extent.p·extent.q·t1.i x lanes.c",
    }
    tiles = {module.name: str(module.tiles) for _, module in array.modules}
    assert tiles["w_IO_L3_in"] == "tiles.o·tiles.i"  # as there: its loops are those of o and i


def test_buffers_of_channels_in_space():
    """AutoSA, autosa_scripts/odyssey/designs_lib/cnn/kernel3_2.json, section memory."""
    array = derive(workload("conv2d"), ("i",), "w")
    out = "t1.r·t1.c·t1.o x 1"
    assert buffers(array) == {
        "PE": "t1.r·t1.c·t1.o x lanes.i",
        "cin_IO_L1_in": "(t1.r + extent.p - 1)·(t1.c + extent.q - 1)·t2.i x lanes.i",
        "cout_1_IO_L2_in": out,
        "cout_1_IO_L2_out": out,
        "cout_drain_IO_L1_out": out,
        "w_IO_L1_in": "t1.o·extent.p·extent.q·t2.i x lanes.i",
    }
    tiles = {module.name: str(module.tiles) for _, module in array.modules}
    assert tiles["w_IO_L2_in"] == "tiles.o·tiles.i"
    assert tiles["cout_drain_IO_L2_out"] == "tiles.o·tiles.r·tiles.c"


# -- strides and dilation
# ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stride", "dilation", "rows", "columns"),
    [
        (1, 1, "t2.r + extent.p - 1", "t1.c + extent.q - 1"),
        (2, 1, "2·t2.r + extent.p - 2", "2·t1.c + extent.q - 2"),
        (3, 2, "3·t2.r + 2·extent.p - 4", "3·t1.c + 2·extent.q - 4"),
    ],
)
def test_the_footprint_of_a_window(stride, dilation, rows, columns):
    nest = workload("conv2d", {"s": stride, "d": dilation})
    cin = derive(nest, ("o", "r"), "cout").groups[0]
    assert str(cin.size) == f"({rows})·({columns})·t1.i"
    assert len(dataflows(nest)) == 10


def test_a_layer_with_stride_2_reads_every_row_once():
    """ResNet's first layer, 224 × 224 × 3 with windows of 7 × 7: one tile holds the 229 × 229
    elements it touches."""
    nest = workload("conv2d", {"o": 64, "r": 112, "c": 112, "i": 3, "p": 7, "q": 7, "s": 2})
    array = derive(nest, ("o",), "cout")
    tiling = Tiling(
        {"o": 64, "r": 112, "c": 112, "i": 3},
        {"o": 8, "r": 1, "c": 1},
        1,
        {"cin": 1, "w": 1, "cout_drain": 1},
    )
    costs = costs_of(nest, array, tiling)
    assert costs.words == {"cin": 229 * 229 * 3, "w": 64 * 49 * 3, "cout": 64 * 112 * 112}


def test_why_a_loop_is_not_in_space():
    output, inputs = parse_statement("y[r] += x[r+2*p] * w[p]")
    with pytest.raises(
        InputError,
        match=r"unknown dataflow 'r' of tiled \(x is reused along r at distance \(2, -1\) of r, p\)",
    ):
        find_dataflow(LoopNest("tiled", (("r", 8), ("p", 3)), output, inputs, "p"), ("r",))
    with pytest.raises(
        InputError,
        match=r"unknown dataflow 'o,p' of conv2d \(p is not tiled: it runs inside the PE\); allowed: o r c",
    ):
        find_dataflow(workload("conv2d"), ("o", "p"))
    with pytest.raises(
        InputError,
        match=r"unknown dataflow 'l,m' of ttmc \(two reduction loops in space are not supported\)",
    ):
        find_dataflow(workload("ttmc"), ("l", "m"))


# -- depthwise layers
# ---------------------------------------------------------------------------------


def test_depthwise_layers_are_all_buildable():
    found = designs(workload("depthwise_conv2d"))
    assert len(found) == 18
    assert all(array.buildable for array in found)  # no tiled loop reduces: nothing to carry
    assert {str(array.pe.outputs) for array in found} == {"t2.o"}


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_depthwise_layer_by_hand(edition):
    """16 channels of 8 × 6, windows of 3 × 3 at stride 2, on 2 × 4 PEs of 4 lanes: every figure
    worked out by hand."""
    nest = workload("depthwise_conv2d", {"o": 16, "r": 8, "c": 6, "p": 3, "q": 3, "s": 2})
    array = derive(nest, ("o", "r"), "cout", edition)
    tiling = Tiling(
        {"o": 8, "r": 8, "c": 6}, {"r": 2, "c": 6}, 4, {"cin": 4, "w": 4, "cout_drain": 4}
    )
    costs = costs_of(nest, array, tiling)
    assert costs.dsp == 2 * 4 * 4 * 5
    assert costs.pe == 2 * (
        9 * 2 * 6
    )  # two tiles of 9 window elements for 2 × 6 results, 4 channels at a time
    rows, columns = 2 * (2 - 1) + 3, 2 * (6 - 1) + 3
    cin, w, cout = rows * columns * 4, 9 * 4, 2 * 6 * 4
    assert costs.words == {"cin": 2 * 8 * cin, "w": 2 * 2 * w, "cout": 2 * 8 * cout}
    # 32-bit words packed by 4 are four blocks wide; buffers are double, drains and accumulators
    # single
    assert costs.bram18k == 2 * 8 * 4 + 2 * 2 * 4 + 8 * 4 + 8 * 4
    # each lane has its own accumulator, which is used every 2 · 6 cycles
    assert costs.accumulation == 12 - 8
    drain = costs.modules["cout_drain_IO_L1_out"]
    assert drain.per_tile == Fraction(2 * cout, 4) + Fraction(
        cout, 4
    )  # past two PEs along o, four words at a time


def test_one_window_element_after_the_other_is_a_loop_like_any_other():
    """Tiled whole, with t2 = 1, a loop costs what it costs untiled: in both model editions, in all
    designs without it in space."""
    whole = workload("conv2d", {"o": 5, "r": 6, "c": 4, "i": 6, "p": 3, "q": 2})
    tiled = replace(whole, untiled=frozenset({"q"}))
    draw = random.Random(3)
    for edition in EDITIONS:
        for dataflow in dataflows(whole):
            for permutation in ("cin", "w", "cout"):
                array, other = (
                    derive(whole, dataflow, permutation, edition),
                    derive(tiled, dataflow, permutation, edition),
                )
                tiling = random_tiling(array, draw)
                expected = costs_of(whole, array, tiling)
                found = costs_of(
                    tiled, other, replace(tiling, array_part={**tiling.array_part, "p": 3})
                )
                assert found.modules == expected.modules
                assert metric_values(found) == metric_values(expected)


def test_with_one_lane_it_does_not_matter_which_loop_is_vectorised():
    output, inputs = parse_statement("C[i][j] += A[i][k] * B[j][k]")
    reducing = LoopNest("mm", (("i", 9), ("j", 7), ("k", 6)), output, inputs, "k")
    parallel = replace(reducing, simd="j")
    for edition in EDITIONS:
        for array, other in zip(
            designs(reducing, edition), designs(parallel, edition), strict=True
        ):
            packs = {g.name: 1 for g in array.packed_groups}
            here = Tiling({"i": 6, "j": 4, "k": 3}, {"i": 3, "j": 1}, 1, packs)
            there = Tiling({"i": 6, "j": 4, "k": 3}, {"i": 3}, 1, packs)
            one, two = costs_of(reducing, array, here), costs_of(parallel, other, there)
            assert one.modules == two.modules
            # [k] has no accumulators in either; energies count packs of SIMD words, here of one
            assert metric_values(one) == metric_values(two)
