"""``ithaca map``: Timeloop's files in, a proven mapping out, told, written and read back."""

import csv
import json
from itertools import product

import pytest

import ithaca
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from tests.command_line import ithaca as command
from tests.command_line import succeed
from tests.plugins.hierarchies.exports.timeloop_rules import count, read_hierarchy
from tests.plugins.hierarchies.formulations.cases import golden
from tests.refusals import refusals

TINY = """
architecture:
  version: '0.4'
  nodes:
    - !Component
      name: DRAM
      class: DRAM
      attributes: {word_bits: 16, read_energy: 100, write_energy: 100, read_bandwidth: 2, write_bandwidth: 2}
    - !Component
      {name: Buffer, class: SRAM, attributes: {word_bits: 16, entries: 24, read_energy: 5, write_energy: 5}}
    - !Container
      {name: PE, spatial: {meshX: 2, meshY: 2}}
    - !Component
      {name: mac, class: intmac, attributes: {energy: 1}}
"""
PROBLEM = """
problem:
  version: '0.4'
  shape:
    name: product
    dimensions: [M, N, K]
    coefficients: []
    data_spaces:
      - {name: Weights, projection: [[[K]], [[N]]]}
      - {name: Inputs, projection: [[[M]], [[K]]]}
      - {name: Outputs, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 4, N: 4, K: 6}
"""
ASKED = ("--arch", "tiny.yaml", "--problem", "problem.yaml")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "problem.yaml").write_text(PROBLEM)
    return tmp_path


def best_of_all(design, metric):
    """The least value of a metric over every mapping, one by one."""
    tables = [axis.table() for axis in design.space.axes]
    least = None
    for picked in product(*(range(next(iter(table.values())).size) for table in tables)):
        values = {
            n: int(c[row])
            for table, row in zip(tables, picked, strict=True)
            for n, c in table.items()
        }
        if design.space.contains(values):
            value = design.metrics(values, FRACTION, [metric])[metric]
            least = value if least is None else min(least, value)
    assert least is not None
    return least


@pytest.mark.parametrize("objective", ["energy", "latency"])
def test_the_proven_mapping_is_the_best_of_all(objective, files):
    (files / "constraints.yaml").write_text(
        "mapspace_constraints: [{target: DRAM, type: temporal, factors: N=1, permutation: KM}]"
    )
    words = (
        *ASKED,
        "--constraints",
        "constraints.yaml",
        "--divisors-only",
        "--objective",
        objective,
    )
    done = command("map", *words, "--json", cwd=files)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["best"]["certificate"]["status"] == "optimal"
    (files / "r.json").write_text(done.stdout)
    read = ithaca.load(files / "r.json")
    design = read.problem.design
    assert isinstance(design, SpatialDesign)
    assert read.value == best_of_all(design, objective)
    assert not any(text.startswith("N=") for text in document["best"]["tiling"][0].get("loops", []))


@pytest.mark.parametrize("divisors", [("--divisors-only",), ()])
def test_what_is_exported_evaluates_to_the_same_figures(divisors, files):
    """Rules of the real tool that were written without Ithaca's model."""
    words = ("-s", "N=5", *divisors, "--bypass", "free", "--objective", "energy", "-o", "r.json")
    succeed("map", *ASKED, *words, cwd=files)
    succeed("export", "r.json", "--to", "timeloop", "-o", "out", cwd=files)
    best = ithaca.load(files / "r.json").best
    found = count(
        read_hierarchy({file.name: file.read_text() for file in (files / "out").iterdir()})
    )
    assert (found.cycles, found.macs) == (best.metrics["latency"], best.metrics["computes"])
    for level, counted in found.levels.items():
        for what in ("reads", "fills", "updates", "capacity"):
            for tensor, words in getattr(counted, what).items():
                assert words == best.metrics[f"{level}.{tensor}.{what}"]
    told = command("export", "r.json", "--to", "autosa", "-o", "other", cwd=files)
    assert (told.returncode, len(told.stderr.splitlines())) == (2, 1)


def test_a_file_that_says_nothing_of_bypasses_is_taken_at_its_word_and_that_is_said(
    files,
):
    words = ("map", *ASKED, "--divisors-only", "--objective", "energy", "--json")
    kept = command(*words, cwd=files)
    assert kept.stderr.startswith(
        "ithaca: tiny does not say which tensors its levels keep, so every level keeps every tensor"
    )
    assert len(kept.stderr.splitlines()) == 1
    free = command(*words, "--bypass", "free", cwd=files)
    assert free.stderr == ""
    costs = [json.loads(done.stdout)["objective"]["value"] for done in (free, kept)]
    assert costs[0] <= costs[1]


def test_what_binds_is_what_takes_all_cycles(files):
    """DRAM gives one word a cycle, so the words that are read set the latency of this product."""
    (files / "tiny.yaml").write_text(TINY.replace("read_bandwidth: 2", "read_bandwidth: 1"))
    found = ithaca.map(
        files / "problem.yaml", arch=files / "tiny.yaml", divisors_only=True, objective="latency"
    )
    (binding, *_) = found.explain(quick=True).statements[2:]
    latency, reads = (
        found.best.metrics["latency"],
        sum(found.best.metrics[f"DRAM.{t}.reads"] for t in ("Weights", "Inputs")),
    )
    assert latency == reads
    assert binding.startswith(
        f"Binding: DRAM reads (mostly Weights), {latency} cycles; meanwhile at work: "
    )
    steps = found.best.metrics["computes"] / found.best.metrics["pes"]
    assert f"computation {float(100 * steps / latency):.1f} %" in binding


def test_what_would_help_is_solved_again(files):
    found = ithaca.map(
        files / "problem.yaml", arch=files / "tiny.yaml", divisors_only=True, objective="energy"
    )
    (files / "larger.yaml").write_text(TINY.replace("entries: 24", "entries: 48"))
    larger = ithaca.map(
        files / "problem.yaml", arch=files / "larger.yaml", divisors_only=True, objective="energy"
    )
    assert larger.value < found.value
    said = found.explain().statements
    gain = f"give Buffer twice the words (48, energies as they are): energy {int(found.value):,} becomes {int(larger.value):,}"
    assert any(line.startswith(f"Tried: {gain}") for line in said)
    assert any(
        line.startswith("Tried: give DRAM twice the bandwidth: energy stays") for line in said
    )
    assert said[-1].startswith("To change first: give Buffer twice the words")


@pytest.mark.parametrize(
    ("words", "told"),
    refusals("map", "what_does_not_fit_is_one_line"),
)
def test_what_does_not_fit_is_one_line(words, told, files):
    done = command("map", *words, cwd=files)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_workloads_are_solved_on_architectures(tmp_path):
    sizes = ("-s", "o=4,r=4,c=4,i=2,p=1,q=1")
    words = (
        "--arch",
        "simple",
        "--divisors-only",
        "--objective",
        "energy",
        "--limit",
        "DRAM.w.reads=8",
        "--json",
    )
    solved = json.loads(command("solve", "conv2d", *sizes, *words, cwd=tmp_path).stdout)
    mapped = json.loads(command("map", "--problem", "conv2d", *sizes, *words, cwd=tmp_path).stdout)
    assert solved["best"]["metrics"] == mapped["best"]["metrics"]
    assert solved["best"]["metrics"]["DRAM.w.reads"] == 8
    assert solved["best"]["certificate"]["status"] == "optimal"


def test_a_level_without_room_is_named(files):
    (files / "tiny.yaml").write_text(TINY.replace("entries: 24", "entries: 2"))
    done = command("map", *ASKED, cwd=files)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert (
        "tiny: Buffer has room for 2 words; allowed: at least 3, a value of each tensor that it keeps, Weights"
        in done.stderr
    )
    succeed(
        "map", *ASKED, "--bypass", "free", "--divisors-only", "--objective", "energy", cwd=files
    )


def test_a_limit_that_nothing_meets_is_named(files):
    done = command("map", *ASKED, "--divisors-only", "--limit", "latency=5", cwd=files)
    assert done.returncode == 1
    assert "infeasible" in done.stderr
    assert "latency" in done.stderr


def test_levels_called_as_those_of_a_known_machine_keep_what_they_keep_there(
    tmp_path,
):
    folder = golden() / "eyeriss"
    asked = (
        "--problem",
        str(folder / "problem_conv1x1.yaml"),
        "--divisors-only",
        "--objective",
        "energy",
        "--json",
    )
    told = command("map", "--arch", str(folder), *asked, cwd=tmp_path)
    assert (
        "does not say which tensors its levels keep, so they keep what they keep in Ithaca's eyeriss; --constraints"
        in told.stderr
    )
    assert round(json.loads(told.stdout)["objective"]["value"]) == 396_075_418
    with (folder.parent / "eyeriss.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "mappings.csv").open("w") as file:
        kept = [name for name in rows[0] if name == "workload" or name.startswith(("T:", "S:"))]
        writer = csv.DictWriter(file, kept, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    done = command(
        "evaluate", "--arch", str(folder), "--points", "mappings.csv", "--json", cwd=tmp_path
    )
    for row, point in zip(rows, json.loads(done.stdout)["points"], strict=True):
        assert point["valid"] == (row["valid"] == "1")
        assert not point["valid"] or abs(
            point["metrics"]["energy"] - float(row["energy_pJ"])
        ) <= 1e-6 * float(row["energy_pJ"])


def test_a_nest_of_one_iteration_has_no_grid(tmp_path):
    command(
        "map",
        "--arch",
        "simple",
        "--problem",
        "mm",
        "-s",
        "i=1,j=1,k=1",
        "-o",
        "one.json",
        cwd=tmp_path,
    )
    done = command("grid", "one.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "ithaca: one.json: mm (i=1, j=1, k=1), timeloop model edition has no factors to vary; "
        "allowed: a nest with a loop of two iterations or more\n",
    )
