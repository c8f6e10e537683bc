"""Every reason for which AutoSA cannot build a configuration."""

from dataclasses import replace

import pytest

from ithaca.exports.autosa.folder import AUTOSA
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement


def test_none_for_buildable_configurations(row, configure):
    assert AUTOSA.obstacles(configure(row)) == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"t1": {"i": 2}}, ["space loop i has less than the 2 lanes that AutoSA needs"]),
        (
            {"t1": {"i": 1}, "t2": {"i": 1}},
            ["space loop i has less than the 2 lanes that AutoSA needs"],
        ),
        ({"t1": {"i": 5}}, ["loop i: t2 = 2 does not divide t1 = 5"]),
        (
            {"t1": {"k": 9}, "pack": {"A": 2, "B": 2}},
            ["loop k: SIMD factor 2 does not divide t1 = 9"] + ["does not divide"] * 2,
        ),
        (
            {"t1": {"k": 32}, "simd": 32, "pack": {"A": 32, "B": 32}},
            ["SIMD factor 32 does not divide the 16 words of fp32 in the 64 bytes"]
            + ["takes 128 bytes, more than the 64"] * 2,
        ),
        (
            {"t1": {"k": 6}, "simd": 3, "pack": {"A": 3, "B": 3}},
            ["SIMD factor 3 does not divide the 16"] + ["power of two"] * 2,
        ),
        (
            {"pack": {"A": 16}},
            ["tensor A: pack 16 does not divide the last dimension of its buffer, 8 words"],
        ),
        (
            {"pack": {"C_drain": 2}},
            ["tensor C: pack 2 does not divide the last dimension of its buffer, 3 words"],
        ),
        ({"pack": {"C_drain": 3}}, ["tensor C: pack 3 is not a power of two"]),
        ({"pack": {"A": 1}}, ["tensor A: pack 1 is not a multiple of the SIMD factor 2"]),
        (
            {"t1": {"k": 32}, "pack": {"A": 32}},
            ["tensor A: pack 32 takes 128 bytes, more than the 64 of a DRAM port"],
        ),
        (
            {"permutation": "A"},
            [
                "partial sums of C are copied in (C_IO_L1_in): a feedback loop that HLS does not synthesize",
                "permutation A: AutoSA orders the array-partitioning loops as in permutation C",
            ],
        ),
    ],
)
def test_tilings_and_designs(changes, expected, configure):
    found = AUTOSA.obstacles(configure(**changes))
    assert len(found) == len(expected)
    assert all(part in reason for part, reason in zip(expected, found, strict=True))


def test_bytes_are_those_of_the_type(configure):
    changes = {"sizes": {"k": 64}, "t1": {"k": 32}, "simd": 32, "pack": {"A": 32, "B": 32}}
    assert AUTOSA.obstacles(configure(dtype="int16", **changes)) == ()
    assert AUTOSA.obstacles(configure(dtype="int8", **changes)) == ()


def test_only_the_designs_of_the_default_order_are_buildable():
    nest = workload("mm")
    t1, t2 = {"i": 16, "j": 16, "k": 16}, {"i": 4, "j": 4}
    built = [
        array.name
        for array in designs(nest)
        if not AUTOSA.obstacles(
            ArrayConfiguration(
                nest,
                array,
                data_type("fp32"),
                Tiling(t1, t2, 4, {g.name: 4 for g in array.packed_groups}),
            )
        )
    ]
    assert built == ["[i] C", "[j] C", "[k] C", "[i,j] C", "[i,k] C", "[j,k] C"]


def test_packs_inferred_by_the_published_estimator_may_not_divide():
    nest = workload("mm", {"i": 64, "j": 64, "k": 64})
    array = derive(nest, ("i", "j"), "C", Edition.ODYSSEY)
    tiling = Tiling(
        {"i": 16, "j": 24, "k": 24}, {"i": 4, "j": 6}, 8, {"A": 16, "B": 16, "C_drain": 4}
    )
    assert AUTOSA.obstacles(ArrayConfiguration(nest, array, data_type("fp32"), tiling)) == (
        "tensor A: pack 16 does not divide the last dimension of its buffer, 24 words",
        "tensor B: pack 16 does not divide the last dimension of its buffer, 24 words",
        "tensor C: pack 4 does not divide the last dimension of its buffer, 6 words",
    )


def found_in(nest, permutation):
    array = derive(nest, nest.band[:2], permutation)
    inner = dict.fromkeys(array.latency_hiding_loops, 2)
    packs = {group.name: 1 for group in array.packed_groups}
    return AUTOSA.obstacles(
        ArrayConfiguration(
            nest, array, data_type("fp32"), Tiling(dict.fromkeys(nest.band, 4), inner, 1, packs)
        )
    )


@pytest.mark.parametrize(
    ("statement", "loops", "simd", "expected"),
    [
        (
            "C[i][j] += A[i-1][k] * B[j][k]",
            "ijk",
            "k",
            "subscript i-1 of A[i-1][k] counts downwards",
        ),
        (
            "C[i][j] += A[7-i][k] * B[j][k]",
            "ijk",
            "k",
            "subscript -1*i+7 of A[-1*i+7][k] counts downwards",
        ),
        ("C[i][j] += A[i][2*k] * B[j][k]", "ijk", "k", "SIMD loop k strides over A[i][2*k]"),
        (
            "C[i][j] += A[i][k][l] * B[k][j][l]",
            "ijkl",
            "l",
            "loop l is tiled; of the reduction loops (k, l) AutoSA",
        ),
        (
            "C[i][j] += A[i][k][l] * B[k][j][l]",
            "ijkl",
            "l",
            "SIMD loop l is not k, the first reduction loop",
        ),
        ("C[i][j] += A[i][k] * B[j][k]", "ijk", "j", "SIMD loop j is parallel"),
        (
            "C[i][j] += A[i][k] * B[j][k]",
            "ikj",
            "k",
            "a reduction loop lies outside a parallel one (i, k, j)",
        ),
        (
            "C[i][j] += A[i][k] * B[k][j]",
            "ijk",
            "k",
            "SIMD loop k is not the last subscript of B[k][j]",
        ),
        ("int[i][j] += A[i][k] * B[j][k]", "ijk", "k", "'int' cannot be a name in C"),
        ("C[i][j] += é[i][k] * B[j][k]", "ijk", "k", "'é' cannot be a name in C"),
        (
            "C[i][j] += printf[i][k] * B[j][k]",
            "ijk",
            "k",
            "'printf' is a name that the exported program uses itself",
        ),
        ("C[i][j] += i[i][k] * B[j][k]", "ijk", "k", "'i' names both a loop and a tensor"),
    ],
)
def test_nests(statement, loops, simd, expected):
    output, inputs = parse_statement(statement)
    nest = LoopNest("mine", tuple((loop, 8) for loop in loops), output, inputs, simd)
    assert any(expected in reason for reason in found_in(nest, output.tensor))


def test_an_unknown_dataflow_is_refused(configure):
    chosen = configure()
    other = derive(chosen.nest, ("j", "i"), "C")
    assert "dataflow j,i is none that AutoSA derives" in AUTOSA.obstacles(
        replace(chosen, design=other)
    )


def test_export_names_all_obstacles(configure):
    with pytest.raises(InputError) as error:
        AUTOSA.export(configure(t1={"i": 5}, pack={"C_drain": 2}))
    message = str(error.value)
    assert message.startswith("AutoSA cannot build C[i][j] += A[i][k] * B[j][k], design [i,j] C: ")
    assert "loop i: t2 = 2 does not divide t1 = 5; tensor C: pack 2 does not divide" in message
    assert "\n" not in message


@pytest.mark.parametrize("field", ["array_part", "latency_hiding", "pack"])
def test_a_tiling_of_another_design_is_refused(field, configure):
    chosen = configure()
    wrong = replace(chosen.tiling, **{field: {"x": 2}})
    with pytest.raises(InputError, match=f"{field} of the configuration names x; "):
        AUTOSA.obstacles(replace(chosen, tiling=wrong))


def test_a_design_of_another_nest_is_refused(configure):
    with pytest.raises(InputError, match="does not belong to the nest"):
        AUTOSA.obstacles(replace(configure(), nest=workload("conv2d")))
