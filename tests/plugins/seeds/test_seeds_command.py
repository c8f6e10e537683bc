"""``ithaca seed`` as a user meets it: files, exit status, and one clear line for bad input."""

import json

import pytest

from ithaca.commands.api.loading import load
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.points import load_points
from ithaca.plugins.seeds.exports.parameters import result_space
from ithaca.workloads.library import workload
from tests import command_line

MM = ("mm", "-s", "i=16,j=16,k=16")
ONE = (*MM, "--dataflow", "i,j")


@pytest.fixture
def ithaca(tmp_path, monkeypatch):
    """Run a command in a folder of its own: exit status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        done = command_line.ithaca(*arguments)
        return done.returncode, done.stdout, done.stderr

    return run


def test_seeds_of_a_result_begin_with_its_configurations_and_evaluate_reads_them(ithaca, tmp_path):
    assert ithaca("solve", *MM, "-o", "result.json")[0] == 0
    recorded = load(tmp_path / "result.json").solutions
    status, output, errors = ithaca(
        "seed", "result.json", "--for", "csv", "--count", "9", "-o", "seeds.csv"
    )
    assert (status, errors) == (0, "")
    assert "9 seeds for csv" in output
    assert "and 5 of other designs" in output
    points = load_points(tmp_path / "seeds.csv", workload("mm"), data_type("fp32"))
    assert [(design.name, configuration) for design, configuration in points[:6]] == [
        (s.design, s.configuration) for s in recorded
    ]
    assert len(points) == 9
    status, output, _ = ithaca("evaluate", "mm", "--points", "seeds.csv", "--json")
    assert status == 0
    metrics = [p["metrics"]["latency"] for p in json.loads(output)["points"]]
    header, *rows = (tmp_path / "seeds.csv").read_text().splitlines()
    assert len(rows) == 9
    assert "latency" in header.split(",")
    assert (
        metrics[0]
        == min(metrics)
        == json.loads((tmp_path / "result.json").read_text())["objective"]["value"]
    )
    assert result_space("result.json").problem.space.contains(recorded[0].configuration)
    # another design of the same result
    assert (
        ithaca(
            "seed", "result.json", "--for", "csv", "--dataflow", "j", "--count", "3", "-o", "j.csv"
        )[0]
        == 0
    )
    assert {
        design.name
        for design, _ in load_points(tmp_path / "j.csv", workload("mm"), data_type("fp32"))
    } == {"[j] C"}


def test_the_same_seed_writes_the_same_file(ithaca, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert ithaca("seed", *ONE, "--for", "optuna", "--seed", seed, "-o", name)[0] == 0
    a, b, c = ((tmp_path / name).read_text() for name in "abc")
    assert a == b != c


def test_fewer_than_asked_for_are_written_and_said(ithaca, tmp_path):
    best = json.loads(ithaca("solve", *ONE, "--limit", "dsp=5", "--json")[1])["objective"]["value"]
    limits = f"dsp=5,latency={best}"
    status, output, errors = ithaca(
        "seed", *ONE, "--limit", limits, "--for", "csv", "--count", "300", "-o", "few.csv"
    )
    assert status == 0
    written = len((tmp_path / "few.csv").read_text().splitlines()) - 1
    assert 1 <= written < 300
    assert f"wrote few.csv: {written} seeds" in output
    assert errors == f"only {written} of 300 seeds: no more feasible configurations were found\n"


def test_infeasible_exits_1_and_names_the_limit(ithaca, tmp_path):
    status, output, errors = ithaca("seed", *ONE, "--limit", "dsp=4", "--for", "csv", "-o", "x.csv")
    assert (status, output) == (1, "")
    assert "limit dsp = 4 cannot be met" in errors
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


OUT = ("-o", "out")


def test_a_result_states_its_own_problem(ithaca, tmp_path):
    assert ithaca("solve", *ONE, "-o", "result.json")[0] == 0
    for option in (
        "--sizes=i=3",
        "--platform=u250",
        "--dtype=int8",
        "--limit=dsp=9",
        "--edition=exact",
        "--divisors-only",
    ):
        status, _, errors = ithaca("seed", "result.json", option, "--for", "csv", *OUT)
        assert status == 2
        assert option.split("=")[0] in errors
        assert errors.count("\n") == 1
    status, _, errors = ithaca("seed", "result.json", "--dataflow", "k", "--for", "csv", *OUT)
    assert status == 2
    assert "it has: [i,j] C" in errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["result.json"]
