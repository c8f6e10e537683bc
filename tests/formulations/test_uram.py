"""Buffers of URAM: which, how many blocks, limits on them, and where results state them."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.exports.autosa.folder import AUTOSA, options
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.data_types import DATA_TYPES, data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import by_part, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.installed import installed_engines, needs
from tests.solver.enumeration import enumerated_optimum

URAM = replace(DEFAULT_TECHNOLOGY, uram=True)


@pytest.mark.parametrize(
    ("pack", "words", "blocks"),
    [(4, 16, 1), (8, 16, 2), (32, 32, 8), (4, 4 * 4096, 1), (4, 4 * 4097, 2)],
)
def test_blocks_are_those_that_autosa_estimates(pack, words, blocks):
    """Blocks of x, int16, doubled, inside its DRAM module: 72 bits by 4,096; its array has
    another."""
    nest = workload("mv", {"i": 64, "j": words})
    array = derive(nest, ("i",), "y")
    tiling = Tiling({"i": 16, "j": words}, {"i": 4}, 2, {"A": 2, "x": pack, "y_drain": 2})
    design = SystolicDesign(nest, array, DATA_TYPES["int16"], technology=URAM)
    costs = design.costs(design.configuration(tiling))
    parts = by_part(costs)
    assert costs.uram == 2 * blocks
    assert parts["uram_by_module"] == {"x_IO_L2_in": 2 * blocks}
    assert "x_IO_L2_in" not in parts["bram18k_by_module"]
    plain = replace(design, technology=DEFAULT_TECHNOLOGY).costs(design.configuration(tiling))
    assert plain.uram == 0
    assert plain.latency == costs.latency
    moved = by_part(plain)["bram18k_by_module"]["x_IO_L2_in"]
    assert plain.bram18k - costs.bram18k == moved


def test_arrays_of_two_dimensions_have_no_such_buffers():
    nest = workload("mm")
    for dataflow, names in ((("i", "j"), []), (("i",), ["B"]), (("k",), ["C"])):
        groups = derive(nest, dataflow, "C").groups
        assert [group.name for group in groups if group.beside_dram] == names


@pytest.mark.parametrize("uram", [4, 8])
def test_engines_find_the_optimum_within_a_limit(uram):
    nest = workload("mv", {"i": 8, "j": 24})
    array = derive(nest, ("i",), "y", Edition.CYCLE)
    design = SystolicDesign(nest, array, DATA_TYPES["fp32"], technology=URAM)
    limits = (Limit("dsp", Fraction(40)), Limit("uram", Fraction(uram)))
    posed = Problem(design, limits, parse_objective("latency"))
    for solve in installed_engines("exact", "cpsat"):
        solution = solve(posed, SolveOptions(time_limit=60))
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.value == enumerated_optimum(posed)


# -- commands --------------------------------------------------------------------------

SMALL = ["mv", "-s", "i=64,j=2048", "--dataflow", "i", "--permutation", "y", "--dtype", "int16"]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (
            ["solve", *SMALL, "--limit", "uram=1"],
            "limit 'uram': no design takes any uram; allowed: with --uram",
        ),
        (
            ["solve", *SMALL, "--uram", "--platform", "asic-28nm"],
            "--uram: asic-28nm states no uram; allowed: a platform that does",
        ),
        pytest.param(
            ["network", "resnet18", "--mode", "shared-array", "--uram"],
            "--uram does not go with --mode shared-array; allowed: a nest, or an array of each "
            "layer",
            marks=needs("codesign"),
        ),
    ],
)
def test_where_there_is_none_it_is_refused_in_a_line(command, line):
    run = ithaca(*command)
    assert (run.returncode, run.stderr) == (2, f"ithaca: {line}\n")


def test_autosa_is_asked_for_it():
    nest = workload("mv", {"i": 64, "j": 64})
    array = derive(nest, ("i",), "y")
    tiling = Tiling({"i": 16, "j": 8}, {"i": 4}, 2, {"A": 4, "x": 2, "y_drain": 2})
    for technology, memory in ((URAM, "URAM"), (DEFAULT_TECHNOLOGY, "BRAM")):
        chosen = ArrayConfiguration(nest, array, data_type("int16"), tiling, technology)
        assert ("--uram" in options(chosen)) == technology.uram
        modules = json.loads(AUTOSA.export(chosen)["expected.json"])["modules"]
        assert modules["x_IO_L2_in"]["memory"] == memory
        assert "memory" not in modules["A_IO_L1_in"]
