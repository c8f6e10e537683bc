"""Strided and dilated convolutions for AutoSA: what buffers hold, and the SIMD factors that it asks
for."""

import re
from itertools import product
from math import gcd

import pytest

from ithaca.exports.autosa.folder import expected_design, sa_sizes
from ithaca.exports.autosa.requirements import nest_obstacles, obstacles
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from tests.refusals import refusals


def convolution(
    dataflow,
    t1,
    t2,
    simd,
    kernel="conv2d",
    **sizes,
):
    """Factors are those of o, r, c and i."""
    nest = workload(kernel, sizes)
    array = derive(nest, tuple(dataflow.split(",")), "cout")
    packs = {group.name: 1 if group.tensor == "cout" else simd for group in array.packed_groups}
    hiding = dict(zip("orc", t2, strict=True))
    return ArrayConfiguration(
        nest,
        array,
        data_type("fp32"),
        Tiling(dict(zip("orci", t1, strict=True)), hiding, simd, packs),
    )


STRIDED = {"o": 4, "r": 4, "c": 4, "i": 8, "p": 1, "q": 1, "s": 2}
DILATED = {"o": 4, "r": 4, "c": 4, "i": 8, "p": 3, "q": 3}


@pytest.mark.parametrize(
    ("dataflow", "t2", "sizes", "words"),
    [  # buffers of cin (words) as the compiler declared them
        ("o,r", (2, 2, 2), STRIDED, 2 * 4 * 8),
        ("o,r", (2, 2, 1), STRIDED | {"c": 8}, 2 * 4 * 8),
        ("o,c", (2, 2, 2), STRIDED | {"p": 3}, 9 * 2 * 8),
        ("o,r", (2, 2, 2), DILATED | {"s": 2, "d": 2}, 4 * 6 * 8),
        ("o,c", (2, 2, 2), STRIDED | {"p": 3, "s": 2, "d": 1}, 9 * 2 * 8),
        ("r,c", (2, 1, 1), STRIDED | {"s": 3}, 8),
    ],
)
def test_buffers_are_the_compilers(dataflow, t2, sizes, words):
    chosen = convolution(dataflow, (4, 4, 4, 8), t2, 2, **sizes)
    held = [
        m["buffers"]
        for name, m in expected_design(chosen)["modules"].items()
        if name.startswith("cin") and "buffers" in m
    ]
    assert held == [[words, words]]


@pytest.mark.parametrize("window", list(product((1, 3, 4), (1, 2, 3), (1, 2, 3, 4))))
def test_buffers_hold_the_used_elements_and_nothing_before_between_or_behind(
    window,
):
    extent, dilation, stride = window
    sizes = {"o": 4, "r": 8, "c": 8, "i": 4, "p": extent, "q": extent, "s": stride, "d": dilation}
    chosen = convolution("o,r", (4, 8, 4, 4), (2, 2, 2), 1, **sizes)
    held = 4
    for covered in (2, 4):  # t2 of r, t1 of c
        used = sorted({stride * x + dilation * y for x in range(covered) for y in range(extent)})
        held *= (used[-1] - used[0]) // gcd(*(each - used[0] for each in used)) + 1
    assert expected_design(chosen)["modules"]["cin_IO_L2_in"]["buffers"] == [held, held]
    assert expected_design(chosen)["modules"]["cin_IO_L2_in"]["pack"] == 1


def test_a_stride_without_a_window_costs_what_no_stride_does():
    both = [
        convolution("o,r", (4, 4, 4, 8), (2, 2, 2), 2, **STRIDED | {"s": s}).metrics for s in (1, 2)
    ]
    assert both[0] == both[1]
    both = [
        convolution(
            "o,r",
            (4, 4, 4, 8),
            (2, 2, 2),
            2,
            "pointwise_conv2d",
            **{x: STRIDED[x] for x in "orci"},
            s=s,
        ).metrics
        for s in (1, 2)
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("dataflow", "t1", "t2", "sizes", "factors"),
    [  # as many as the compiler found loops to vectorise
        ("o,r", (4, 4, 4, 8), (2, 2, 2), STRIDED, [2]),
        ("o,r", (4, 4, 4, 8), (2, 2, 1), STRIDED, [1, 2]),
        ("i", (4, 4, 4, 8), (2, 1, 1), STRIDED, [2, 1, 1]),
        ("r,c", (4, 2, 2, 8), (2, 1, 1), STRIDED | {"s": 3}, [2]),
        ("o,r", (4, 4, 4, 8), (2, 2, 2), DILATED, [1, 1, 2]),
    ],
)
def test_simd_factors_are_as_many_as_the_compiler_asks_for(
    dataflow,
    t1,
    t2,
    sizes,
    factors,
):
    found = re.search(r"simd\[([\d,]*)\]", sa_sizes(convolution(dataflow, t1, t2, 2, **sizes)))
    assert found
    assert [int(factor) for factor in found[1].split(",")] == factors


@pytest.mark.parametrize(
    ("changes", "reason"),
    refusals("exports-autosa_strides", "windows_that_the_compiler_treats_otherwise_are_refused"),
)
def test_windows_that_the_compiler_treats_otherwise_are_refused(changes, reason):
    found = nest_obstacles(workload("conv2d", {**DILATED, **changes}))
    assert (found == ()) if reason is None else found[0].startswith(reason)


@pytest.mark.parametrize(("t2", "t1"), [((2, 1, 2), 4), ((2, 2, 1), 1)])
def test_one_row_of_a_dilated_window_is_refused(t2, t1):
    """The compiler's buffer held 3 rows of 8 columns and 8 channels, where the model counts 5."""
    chosen = convolution("o,r", (4, 4, t1, 8), t2, 2, **DILATED, d=2)
    assert any(
        "AutoSA stores nothing between the elements of" in reason for reason in obstacles(chosen)
    )
    assert obstacles(convolution("o,r", (4, 4, 4, 8), (2, 2, 2), 2, **DILATED, d=2)) == ()
    assert obstacles(convolution("o,r", (4, 4, t1, 8), t2, 2, **DILATED)) == ()
