"""Data in DRAM that no host lays out: every row of a tile opens a burst; in cycles, optima, files,
studies and exports."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import REGIMES, Sums
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive, in_edition
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.values import check_values
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.plugins.rtl.formulations.memory_access import IN_PLACE, on, random_arrays, simulated
from tests.solver.enumeration import enumerated_optimum

# -- cycles ----------------------------------------------------------------------------


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("name", "dataflow"),
    [
        ("mm", ("i", "j")),
        ("mm", ("i", "k")),
        ("mm", ("j", "k")),
        ("mm", ("k",)),
        ("mv", ("i", "j")),
        ("mv", ("j",)),
    ],
)
def test_cycles_are_those_of_the_simulated_array(name, dataflow, regime):
    machine = REGIMES[regime]
    for design, configuration in random_arrays(name, dataflow, 6, 1, IN_PLACE):
        closed = on(design, machine).costs(configuration).latency
        assert closed == simulated(design, configuration, machine), configuration


@pytest.mark.parametrize("dataflow", [("i",), ("j",)], ids=",".join)
def test_cycles_are_close_where_rows_of_a_word_are_drained(dataflow):
    machine, off = REGIMES["rtl"], []
    for design, configuration in random_arrays("mm", dataflow, 16, 2, IN_PLACE):
        closed = on(design, machine).costs(configuration).latency
        run = simulated(design, configuration, machine)
        assert abs(closed - run) <= max(0.05 * run, 10), configuration
        off.append(closed / run - 1)
    assert sum(map(abs, off)) <= 0.015 * len(off)


@pytest.mark.parametrize("dataflow", dataflows(workload("mm")), ids=",".join)
def test_only_transfers_take_longer(dataflow):
    """The array computes what it did, with as many modules, words and blocks."""
    for design, configuration in random_arrays("mm", dataflow, 4, 3, IN_PLACE):
        exact = replace(design, array=in_edition(design.nest, design.array, Edition.EXACT))
        network = array_network(exact, configuration, REGIMES["rtl"])
        assert check_values(exact, configuration, network, Sums.FIRST).wrong == 0
        values = {x: Fraction(n) for x, n in configuration.items()}
        for edition in (Edition.CYCLE, Edition.EXACT):
            plain = replace(design, array=derive(design.nest, dataflow, "C", edition))
            bursts = replace(design, array=in_edition(design.nest, design.array, edition))
            before, after = (each.metrics(values, FRACTION) for each in (plain, bursts))
            assert after["latency"] > before["latency"]
            same = ("dsp", "bram18k", "off_chip_words", "comp")
            assert [after[name] for name in same] == [before[name] for name in same]


def test_bursts_by_hand():
    """A: 2 lanes of 1 row of 4 packs, of B 8 of 8 rows of 2; they have all of k and adjoin. C: 16
    drains of 1 row of 2 packs; each burst 20 cycles more."""
    nest = workload("mm", {"i": 2, "j": 64, "k": 16})
    values = {"pack.A": 4, "pack.B": 8, "pack.C_drain": 4}
    for x, t1, t2 in (("i", 2, 1), ("j", 64, 8), ("k", 16, 4)):
        values |= {f"t1.{x}": t1, f"t2.{x}": t2, f"lanes.{x}": t1 // t2, f"tiles.{x}": 1}
    array = derive(nest, ("i", "j"), "C", Edition.EXACT, IN_PLACE)
    modules = SystolicDesign(nest, array, DATA_TYPES["fp32"]).costs(values).modules
    assert modules["A_IO_L3_in"].transfer == 2 * 4 + 20
    assert modules["B_IO_L3_in"].transfer == 8 * 8 * 2 + 20
    assert modules["C_drain_IO_L3_out"].transfer == 16 * (2 + 20)
    helper = array.helpers["A_IO_L3_in_serialize"]
    assert helper.evaluate({x: Fraction(n) for x, n in values.items()}, FRACTION) == 0


# -- optima ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes", "dataflow", "edition"),
    [
        ("mv", {"i": 12, "j": 16}, ("i",), Edition.CYCLE),
        ("mv", {"i": 12, "j": 24}, ("i", "j"), Edition.EXACT),
        ("mm", {"i": 2, "j": 12, "k": 8}, ("i", "j"), Edition.CYCLE),
    ],
)
def test_engines_find_the_optimum(name, sizes, dataflow, edition):
    nest = workload(name, sizes)
    array = derive(nest, dataflow, nest.output.tensor, edition, IN_PLACE)
    options = SpaceOptions(host_serialize=False)
    design = SystolicDesign(nest, array, DATA_TYPES["int16"], options)
    posed = Problem(design, (Limit("dsp", Fraction(12)),), parse_objective("latency"))
    optimum = enumerated_optimum(posed)
    assert optimum is not None
    for solve in (solve_exact, solve_cpsat):
        solution = solve(posed, SolveOptions(time_limit=60))
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.value == optimum


# -- commands --------------------------------------------------------------------------

SMALL = ["mm", "-s", "i=16,j=16,k=16", "--dataflow", "i,j", "--permutation", "C"]
SMALL += ["--dtype", "int16", "--limit", "dsp=40,bram18k=60"]
IN_BURSTS = [*SMALL, "--no-host-serialize"]


def test_the_choice_is_an_axis_of_studies():
    run = ithaca("whatif", *SMALL, "--vary", "host-serialize=yes,no", "--json")
    points = json.loads(run.stdout)["points"]
    assert [point["objective"]["value"] for point in points] == [177, 231]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (
            ["solve", *IN_BURSTS, "--edition", "odyssey"],
            "--no-host-serialize does not go with --edition odyssey, which publishes data that the "
            "host lays out; allowed: --edition cycle or exact",
        ),
        (
            ["whatif", *SMALL, "--vary", "host-serialize=perhaps"],
            "--vary 'host-serialize': host-serialize is 'perhaps'; allowed: yes, no",
        ),
    ],
)
def test_what_it_does_not_go_with_is_refused_in_a_line(command, line):
    run = ithaca(*command)
    assert (run.returncode, run.stderr) == (2, f"ithaca: {line}\n")


def test_exports(tmp_path):
    file = tmp_path / "r.json"
    assert ithaca("solve", *IN_BURSTS, "--for", "autosa", "-o", file).returncode == 0
    run = ithaca("export", file, "--to", "autosa", "-o", tmp_path / "autosa")
    assert run.returncode == 0, run.stderr
    assert "--host-serialize" not in (tmp_path / "autosa" / "autosa_command.sh").read_text()
    modules = json.loads((tmp_path / "autosa" / "expected.json").read_text())["modules"]
    assert "B_IO_L3_in" in modules
    assert not [name for name in modules if name.endswith("_serialize")]
    run = ithaca("export", file, "--to", "rtl", "-o", tmp_path / "rtl")
    assert run.returncode == 2
    assert run.stderr.endswith(
        ": every row of a tile opens a burst, and hardware asks for rows ahead of time; "
        "allowed: without --no-host-serialize\n"
    )
