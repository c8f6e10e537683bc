"""``ithaca network`` as a user meets it."""

import csv
import json
import os
import signal
import subprocess
import time

import pytest

from ithaca.solver import schedule
from tests.command_line import ithaca, refused, start, succeed
from tests.refusals import refusals
from tests.studies.network.tiny import QUICK, tiny_file

#: Restricted so that a run takes a second.


def test_a_network_prints_layers_totals_and_what_is_left_out(tmp_path):
    output, table = tmp_path / "r.json", tmp_path / "r.csv"
    done = succeed(
        "network",
        tiny_file(tmp_path),
        *QUICK,
        "-o",
        output,
        "--table",
        table,
        "--mode",
        "shared-dataflow",
    )
    document = json.loads(output.read_text())
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["layer"] for row in rows] == ["wide", "deep", "image"]
    assert (
        sum(int(row["count"]) * int(row["latency"]) for row in rows) == document["total"]["value"]
    )
    for piece in (
        "tiny fp32 on u250",
        "mm: design [",
        "(no other design is better)",
        "proven     3 of 3 layers",
        "(optimal)",
    ):
        assert piece in done.stdout
    assert f"latency {document['total']['value']}" in done.stdout
    assert "left out   Relu × 2 (element by element)" in done.stdout
    assert done.stderr.splitlines() == [f"wrote {output}", f"wrote {table}"]


def test_an_infeasible_network_exits_1_and_names_the_layers(tmp_path):
    done = ithaca("network", tiny_file(tmp_path), "--limit", "dsp=4", "--layers", "mm", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith("infeasible: wide, deep: limit dsp = 4 cannot be met")
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)["total"]["certificate"]["status"] == "infeasible"


@pytest.mark.parametrize(
    ("arguments", "line"),
    refusals("studies-network-command", "bad_input_is_refused_in_one_line"),
)
def test_bad_input_is_refused_in_one_line(tmp_path, arguments, line):
    done = refused("network", tiny_file(tmp_path), *arguments)
    assert line in done


def test_processes_end_with_the_run_that_is_killed(tmp_path):
    kept = tmp_path / "kept"
    words = ("network", tiny_file(tmp_path), *QUICK, "--threads", "2", "--results", kept)
    running = start(
        *words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not (kept.exists() and list(kept.glob("*.json"))):
        assert running.poll() is None
        time.sleep(0.01)
    running.kill()
    running.wait()
    deadline = time.monotonic() + 300  # only if they never end
    while time.monotonic() < deadline:
        try:
            os.killpg(running.pid, 0)  # asks whether any process of its group is left
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    pytest.fail("processes were left behind")


def test_a_layer_takes_one_line_with_its_stride_or_fits_100_columns(tmp_path):
    model = tmp_path / "long.yaml"
    sizes = "{o: 2048, r: 14, c: 14, i: 1024, p: 3, q: 3, s: 2, d: 1}"
    name = "stage5/block1/shortcut/branch/Conv"
    model.write_text(
        f"name: long\nlayers:\n  - {{op: kernel, name: {name}, kernel: conv2d, sizes: {sizes}, count: 3}}\n"
    )
    words = ("network", model, "--dataflow", "o,r", "--divisors-only", "--gap", "0.99")
    narrow = succeed(*words, env={"COLUMNS": "100"}).stdout.partition("─")[2].split("\ntotal ")[0]
    assert max(map(len, narrow.splitlines())) <= 100
    assert "s2" in narrow.split()
    lines = succeed(*words).stdout.splitlines()
    heading = next(index for index, line in enumerate(lines) if line.startswith("layer "))
    row = lines[heading + 2].split()
    assert row[:2] == ["stage5/b…anch/Conv", "3"]
    assert row[2:10] == ["o2048", "r14", "c14", "i1024", "p3", "q3", "s2", "[o,r]"]
    assert lines[heading + 3].startswith("total ")


@pytest.mark.ci
def test_a_failing_problem_is_reported_at_the_end(tmp_path, monkeypatch, capsys):
    advance = schedule.advance

    def breaks(entry, *rest):
        problem = entry.course.problem
        if problem.design.name in ("[i] C", "[j] C"):
            raise RuntimeError("broken")
        return advance(entry, *rest)

    monkeypatch.setattr(schedule, "advance", breaks)
    done = succeed("network", tiny_file(tmp_path), *QUICK, "--layers", "mm", "--json")
    assert (
        "ithaca: failed: wide [i] C, wide [j] C, deep [i] C and 1 more: RuntimeError: broken"
        in done.stderr
    )
    document = json.loads(done.stdout)
    assert [f["place"] for f in document["failures"]] == [
        "wide [i] C",
        "wide [j] C",
        "deep [i] C",
        "deep [j] C",
    ]
    assert document["total"]["certificate"]["status"] == "feasible"
