"""Double buffering as a choice: costs by hand, optima against enumeration, and where results,
points, networks and exports state it."""

import csv
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.exports.autosa.folder import AUTOSA, autosa_tool, options
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DATA_TYPES, data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.buffering import (
    FREE,
    choosable,
    doubled_words,
    has_cycles,
    single_buffered,
    variants,
)
from ithaca.formulations.systolic.derivation import derive, in_edition
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import by_part, parse_objective
from ithaca.formulations.systolic.points import load_points, points_text
from ithaca.formulations.systolic.systolic_array import DramAccess, Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.engines import ENGINES, engine
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from tests.command_line import ithaca, succeed
from tests.installed import installed_engines, needs
from tests.solver.enumeration import enumerated_optimum
from tests.whole_spaces import small_arrays

#: How data lie in DRAM: laid out by no host, and of several ports each.
IN_PLACE, SEVERAL_PORTS = DramAccess(serialized=False), DramAccess(ports=True)

# -- costs -----------------------------------------------------------------------------


def array_of(name, dataflow, single, edition=Edition.EXACT):
    nest = workload(name)
    return single_buffered(derive(nest, dataflow, nest.output.tensor, edition), single)


def test_a_single_buffer_is_filled_and_fed_in_turn():
    """mm [i,j], 2 × 3 lanes; A: 4 tiles, of each lane 8 · 16 words, by 4; B: 5 · 16 words, by 8."""
    nest = workload("mm", {"i": 32, "j": 30, "k": 32})
    tiling = Tiling(
        {"i": 16, "j": 15, "k": 16}, {"i": 8, "j": 5}, 4, {"A": 4, "B": 8, "C_drain": 1}
    )
    trips, fills = 4 * 8 * 5, {"A": 2 * 8 * 16 // 4, "B": 3 * 5 * 16 // 8}
    tiles = 2 * 2 * 2
    double = derive(nest, ("i", "j"), "C")
    for single in ((), ("A",), ("B",), ("A", "B")):
        design = SystolicDesign(nest, single_buffered(double, single), DATA_TYPES["fp32"])
        costs = design.costs(design.configuration(tiling))
        for name, fill in fills.items():
            cost = costs.modules[f"{name}_IO_L2_in"]
            each = fill + trips if name in single else max(fill, trips) + 1
            assert (cost.per_tile, cost.total) == (each, each * tiles)
        # one block of a lane holds 512 words of 32 bits; packs of p words take p of them
        blocks = {"A": 2 * 4, "B": 3 * 8}
        parts = by_part(costs)["bram18k_by_module"]
        for name, least in blocks.items():
            copies = 1 if name in single else 2
            assert parts[f"{name}_IO_L2_in"] == copies * least
        assert costs.prologue == max(fills[x] + (x not in single) for x in fills)


def test_what_may_be_doubled():
    assert choosable(array_of("mm", ("i", "j"), ())) == ("A", "B")
    assert choosable(array_of("mm", ("i", "k"), ())) == ("A", "B", "C")  # which buffers add up
    array = array_of("mm", ("i", "k"), ("A", "C"))
    assert (array.single, doubled_words(array)) == (("A", "C"), "B")
    assert array.name == "[i,k] C single A,C"
    assert single_buffered(array, ()) == array_of("mm", ("i", "k"), ())
    assert len({own.name for own in variants(array, FREE)}) == 8
    drains = [g for g in array_of("mm", ("i", "j"), ()).groups if g.name == "C_drain"]
    assert not drains[0].double_buffered


def test_editions_keep_the_choice():
    nest, array = workload("mm"), array_of("mm", ("i", "j"), ("B",))
    for edition in Edition:
        assert in_edition(nest, array, edition).single == ("B",)


# -- optima ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes", "dataflow", "edition", "single"),
    [
        ("mv", {"i": 12, "j": 16}, ("i",), Edition.CYCLE, ("A",)),
        ("mv", {"i": 8, "j": 16}, ("j",), Edition.CYCLE, ("x", "y")),
        ("mv", {"i": 12, "j": 24}, ("i", "j"), Edition.EXACT, ("A", "y")),
        ("mm", {"i": 2, "j": 12, "k": 8}, ("i", "j"), Edition.CYCLE, ("A", "B")),
        ("mm", {"i": 6, "j": 2, "k": 16}, ("i", "k"), Edition.CYCLE, ("A",)),
    ],
)
def test_engines_find_the_optimum(name, sizes, dataflow, edition, single):
    nest = workload(name, sizes)
    array = single_buffered(derive(nest, dataflow, nest.output.tensor, edition), single)
    design = SystolicDesign(nest, array, DATA_TYPES["int16"])
    limits = (Limit("dsp", Fraction(12)), Limit("bram18k", Fraction(40)))
    case = Problem(design, limits, parse_objective("latency"))
    optimum = enumerated_optimum(case)
    assert optimum is not None
    for solve in installed_engines("exact", "cpsat"):
        solution = solve(case, SolveOptions(time_limit=60))
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.value == optimum
    if edition is Edition.EXACT and "gp" in ENGINES:
        bound = engine("gp")(case, SolveOptions(time_limit=60)).certificate.lower_bound
        assert bound is not None
        assert bound <= optimum


@pytest.mark.parametrize(
    ("dataflow", "limits", "doubled", "best", "single"),
    [  # figures of a prototype, with the flags freed in the model
        ("i,k", (), 17_954, 17_521, ["A"]),
        ("i,j", ("--limit", "bram18k=100"), 263_681, 168_000, ["A", "B"]),
        ("i", ("--limit", "bram18k=100"), 476_865, 272_641, ["A"]),
    ],
)
def test_the_best_choice_beats_doubled_buffers(dataflow, limits, doubled, best, single):
    command = ["solve", "mm", "-s", "i=256,j=256,k=256", "--dataflow", dataflow, *limits]
    command += ["--permutation", "C", "--edition", "exact", "--json"]
    assert json.loads(succeed(*command).stdout)["objective"]["value"] == doubled
    answer = json.loads(succeed(*command, "--double-buffer", "free").stdout)
    assert (answer["objective"]["value"], answer["best"]["single"]) == (best, single)
    assert answer["space"] == {"double_buffer": "free"}
    designs = {tuple(design.get("single", ())): design for design in answer["designs"]}
    assert len(designs) == len(answer["designs"]) == 2 ** len(max(designs, key=len))


# -- commands and files ----------------------------------------------------------------

SMALL = ["mm", "-s", "i=16,j=16,k=16", "--dtype", "int16", "--limit", "dsp=40,bram18k=16"]
ONE = [*SMALL, "--dataflow", "i,j", "--permutation", "C"]


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (
            ["solve", *SMALL, "--double-buffer", "D"],
            "--double-buffer names 'D', of which no design has buffers to double; allowed: all, "
            "none, free, A, B, C",
        ),
        (
            ["solve", *SMALL, "--double-buffer", "none,A"],
            "--double-buffer is 'none,A'; allowed: none alone, or names",
        ),
        (
            ["solve", *SMALL, "--double-buffer", "free", "--no-host-serialize"],
            "--double-buffer free does not go with --ports, --no-host-serialize, --two-level; "
            "allowed: without them, or --edition exact",
        ),
        pytest.param(
            ["network", "resnet18", "--mode", "shared-array", "--double-buffer", "free"],
            "--double-buffer does not go with --mode shared-array; allowed: a nest, or an array "
            "of each layer",
            marks=needs("codesign"),
        ),
    ],
)
def test_what_it_does_not_go_with_is_refused_in_a_line(command, line):
    run = ithaca(*command)
    assert (run.returncode, run.stderr.splitlines()[-1]) == (2, f"ithaca: {line}")


def test_results_state_the_choice_and_are_proven_again(tmp_path):
    file = tmp_path / "r.json"
    run = succeed("solve", *ONE, "--double-buffer", "free", "-o", file)
    assert "design [i,j] C single A,B" in run.stdout
    document = json.loads(file.read_text())
    assert document["best"]["single"] == ["A", "B"]
    names = {tuple(d.get("single", ())) for d in document["designs"]}
    assert names == {(), ("A",), ("B",), ("A", "B")}
    succeed("verify", file)
    explained = succeed("explain", file, "--design", "i,j C single A,B").stdout
    assert "Design: [i,j] C single A,B" in explained
    document["best"]["single"] = ["A", "C"]
    file.write_text(json.dumps(document))
    run = ithaca("verify", file)
    assert run.returncode == 2
    assert "single is 'A,C'; allowed: none or B or A or A,B" in run.stderr


def test_the_choice_is_an_axis_of_studies():
    varied = succeed("whatif", *ONE, "--vary", "double-buffer=all,none,free,A", "--json").stdout
    values = [point["objective"]["value"] for point in json.loads(varied)["points"]]
    assert values[2] == min(values) < values[0]


def test_points_state_it():
    nest = workload("mm", {"i": 32, "j": 30, "k": 32})
    tiling = Tiling(
        {"i": 16, "j": 15, "k": 16}, {"i": 8, "j": 5}, 4, {"A": 4, "B": 8, "C_drain": 1}
    )
    points = []
    for single in ((), ("A",), ("A", "B")):
        array = single_buffered(derive(nest, ("i", "j"), "C", Edition.CYCLE), single)
        design = SystolicDesign(nest, array, DATA_TYPES["fp32"])
        points.append((design, design.configuration(tiling)))
    text = points_text(points)
    header, *rows = (line.split(",") for line in text.splitlines())
    assert "double_buffer" in header
    assert "double_buffer" not in points_text(points[:1])
    assert len({*map(tuple, rows)}) == 3
    table = [*csv.DictReader(text.splitlines())]
    assert [row["double_buffer"] for row in table] == ["all", "B", "none"]
    read = load_points(table, nest, None)
    assert [design.array.single for design, _ in read] == [(), ("A",), ("A", "B")]
    assert [d.costs(c).latency for d, c in read] == [d.costs(c).latency for d, c in points]
    table[0]["double_buffer"] = "free"
    with pytest.raises(InputError, match="double_buffer is free; allowed: all, none, or names"):
        load_points(table, nest, None)


def test_networks_state_it(tmp_path):
    file = tmp_path / "n.json"
    command = ["network", "alexnet", "--layers", "conv5", "--edition", "exact"]
    command += ["--limit", "dsp=400,bram18k=200", "--dataflow", "o,r", "--mode", "shared-dataflow"]
    succeed(*command, "--double-buffer", "free", "-o", file)
    document = json.loads(file.read_text())
    assert document["space"] == {"double_buffer": "free"}
    (layer,) = document["layers"]
    names = {tuple(design.get("single", ())) for design in layer["designs"]}
    assert names == {(), ("cin",), ("w",), ("cin", "w")}
    chosen = [choice.get("single", []) for choice in document["choices"] if choice["chosen"]]
    assert chosen == [layer["best"].get("single", [])]
    succeed("verify", file)


# -- cycles that are not known ---------------------------------------------------------


@pytest.mark.parametrize("dram", [IN_PLACE, SEVERAL_PORTS, DramAccess(two_level=True)])
def test_cycles_have_a_closed_form_of_data_that_the_host_lays_out_for_one_port(dram):
    nest = workload("mm", {"i": 8, "j": 8, "k": 8})
    array = derive(nest, ("i", "j"), "C", Edition.CYCLE, dram)
    single = single_buffered(array, ("A",))
    assert (has_cycles(array), has_cycles(single)) == (True, False)
    exact = SystolicDesign(nest, in_edition(nest, single, Edition.EXACT), DATA_TYPES["fp32"])
    assert exact._timed is None
    if dram.ports:
        return
    (configuration,) = small_arrays(exact, 1, 1)
    with pytest.raises(InputError, match=r"says nothing of \[i,j\] C single A with several memory"):
        replace(exact, array=single).costs(configuration)
    assert exact.costs(configuration).latency > 0


# -- exports ---------------------------------------------------------------------------


def test_autosa_is_asked_for_it():
    """The default doubles all buffers but those of drains; an assignment names those it doubles."""
    nest = workload("mm", {"i": 32, "j": 32, "k": 32})
    tiling = Tiling(
        {"i": 16, "j": 16, "k": 16}, {"i": 8, "j": 8}, 4, {"A": 4, "B": 8, "C_drain": 1}
    )
    double = derive(nest, ("i", "j"), "C")
    flags = {
        (): [],
        ("A",): ['--double-buffer-assign="{kernel[]->B[]}"'],
        ("A", "B"): ["--no-double-buffer"],
    }
    for single, words in flags.items():
        array = single_buffered(double, single)
        chosen = ArrayConfiguration(nest, array, data_type("fp32"), tiling)
        assert [o for o in options(chosen) if "double" in o] == words
        modules = json.loads(AUTOSA.export(chosen)["expected.json"])["modules"]
        for name in "AB":
            copies = 1 if name in single else 2
            assert modules[f"{name}_IO_L2_in"]["buffers"] == [8 * 16] * copies
        refused = autosa_tool("tapa").obstacles(chosen)
        assert bool(refused) == bool(single)
