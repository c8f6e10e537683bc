"""Dataflows, permutations and the derived arrays."""

from dataclasses import replace

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.systolic.dataflows import dataflows, find_dataflow, loop_order
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.systolic_array import Edition, GroupRole
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement


def test_mm_has_18_designs_of_which_6_are_buildable():
    found = designs(workload("mm"))
    assert len(found) == 18
    assert [",".join(a.dataflow) for a in found[::3]] == ["i", "j", "k", "i,j", "i,k", "j,k"]
    assert [a.name for a in found if a.buildable] == [
        "[i] C",
        "[j] C",
        "[k] C",
        "[i,j] C",
        "[i,k] C",
        "[j,k] C",
    ]
    assert all("feedback" in (a.obstacle or "") for a in found if not a.buildable)


def test_conv2d_has_30_designs_of_which_10_are_buildable():
    found = designs(workload("conv2d"))
    assert len(found) == 30
    assert {a.permutation for a in found if a.buildable} == {"cout"}
    assert sum(a.buildable for a in found) == 10


@pytest.mark.parametrize(
    ("name", "dataflow", "dummies"),
    [  # as in code that AutoSA generated, published at github.com
        ("mm", "i", {"B_PE_dummy_in": "1"}),
        ("mm", "k", {"C_PE_dummy_out": "1"}),
        ("mm", "i,j", {"A_PE_dummy_in": "lanes.i", "B_PE_dummy_in": "lanes.j"}),
        ("mm", "i,k", {"B_PE_dummy_in": "lanes.k", "C_PE_dummy_out": "lanes.i"}),
        ("conv2d", "o", {"cin_PE_dummy_in": "1"}),
        ("conv2d", "i", {"cout_1_PE_dummy_out": "1"}),
        ("batched_mm", "b", {}),
    ],
)
def test_helpers_at_the_ends_of_chains_and_of_dram(name, dataflow, dummies):
    nest = workload(name)
    array = derive(nest, tuple(dataflow.split(",")), nest.output.tensor)
    assert {name: str(count) for name, count in array.dummies.items()} == dummies
    streams = {f"{module.name}_serialize": "1" for _, module in array.modules if module.dram}
    assert {name: str(count) for name, count in array.helpers.items()} == streams | dummies


def test_a_stride_beyond_one_keeps_a_loop_out_of_space():
    output, inputs = parse_statement("y[a] += x[2*a+3*b] * w[b]")
    assert dataflows(LoopNest("test", (("a", 4), ("b", 4)), output, inputs, "b")) == ()


@pytest.mark.parametrize(
    ("dataflow", "permutation", "expected"),
    [
        # name, level, buffer, DRAM
        ("i,j", "C", ["A_IO_L2_in b", "A_IO_L3_in d", "B_IO_L2_in b", "B_IO_L3_in d",
                      "C_drain_IO_L1_out b", "C_drain_IO_L2_out", "C_drain_IO_L3_out d"]),
        ("k", "C", ["A_IO_L1_in b", "A_IO_L2_in d", "B_IO_L1_in b", "B_IO_L2_in d", "C_IO_L2_out bd"]),
        ("i", "A", ["A_IO_L1_in b", "A_IO_L2_in d", "B_IO_L2_in bd", "C_IO_L1_in b", "C_IO_L2_in d", "C_IO_L1_out b",
                    "C_IO_L2_out d", "C_drain_IO_L1_out b", "C_drain_IO_L2_out d"]),
        ("i,k", "C", ["A_IO_L1_in b", "A_IO_L2_in", "A_IO_L3_in d", "B_IO_L2_in b", "B_IO_L3_in d",
                      "C_IO_L2_out b", "C_IO_L3_out d"]),
    ],
)  # fmt: skip
def test_modules_of_mm(dataflow, permutation, expected):
    array = derive(workload("mm"), tuple(dataflow.split(",")), permutation)
    shown = [f"{m.name} {'b' * m.buffer}{'d' * m.dram}".strip() for _, m in array.modules]
    assert shown == expected


def test_an_untiled_reduction_gives_the_output_two_flow_groups():
    array = derive(workload("conv2d"), ("o", "i"), "w")
    flows = [g for g in array.groups if g.role is GroupRole.FLOW]
    assert [(g.name, g.exterior, bool(g.modules)) for g in flows] == [
        ("cout", False, False),
        ("cout_1", True, True),
    ]
    assert array.pe.accumulators is not None


def test_a_halo_is_the_footprint_of_the_window():
    cin = derive(workload("conv2d"), ("o", "r"), "cout").groups[0]
    assert str(cin.size) == "(t2.r + extent.p - 1)·(t1.c + extent.q - 1)·t1.i"


def test_odyssey_merges_the_drain_into_a_copy_out_of_the_same_shape():
    nest = workload("mm")
    assert [g.role for g in derive(nest, ("i", "j"), "A", Edition.ODYSSEY).groups].count(
        GroupRole.DRAIN
    ) == 0
    assert [g.role for g in derive(nest, ("i", "j"), "A", Edition.EXACT).groups].count(
        GroupRole.DRAIN
    ) == 1


def test_nothing_knows_the_names_of_loops_and_arrays():
    nest = workload("mm")
    renaming = {"i": "u", "j": "v", "k": "w", "A": "P", "B": "Q", "C": "R"}
    output, inputs = parse_statement("R[u][v] += P[u][w] * Q[v][w]")
    renamed = LoopNest("mm", tuple((renaming[x], n) for x, n in nest.extents), output, inputs, "w")
    for array, twin in zip(designs(nest), designs(renamed), strict=True):
        text = repr(replace(array, workload="mm"))
        for dot in ("tiles.", "t1.", "t2.", "lanes."):
            for old in "ijk":
                text = text.replace(f"'{dot}{old}'", f"'{dot}{renaming[old]}'")
        for old in "ijk":
            text = text.replace(f"'{old}'", f"'{renaming[old]}'")
        for old in "ABC":
            text = text.replace(f"'{old}'", f"'{renaming[old]}'").replace(
                f"'{old}_", f"'{renaming[old]}_"
            )
        assert text == repr(twin)


def test_two_reductions_in_space_are_refused():
    output, inputs = parse_statement("y[a] += x[a][b][c] * w[b][c]")
    nest = LoopNest("test", (("a", 4), ("b", 4), ("c", 4)), output, inputs, "c")
    with pytest.raises(InputError, match="two reduction loops"):
        derive(nest, ("b", "c"), "y")


def test_unknown_names_are_refused_with_the_allowed_ones():
    nest = workload("mm")
    with pytest.raises(
        InputError, match=r"unknown dataflow 'i,x' of mm; allowed: i j k i,j i,k j,k"
    ):
        find_dataflow(nest, ("i", "x"))
    with pytest.raises(InputError, match="unknown permutation 'D' of mm; allowed: A, B, C"):
        loop_order(nest, "D")
