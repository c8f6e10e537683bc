"""``--table``: the table of a command as CSV, with the figures of its document."""

import csv
import json

import pytest

from tests.command_line import succeed

MM = ("mm", "-s", "i=16,j=8,k=8", "--limit", "dsp=40", "--divisors-only", "--edition", "exact")


def run(words, folder):
    """The document of a command, and its table."""
    done = succeed(*words, "--json", "--table", folder / "t.csv", cwd=folder)
    assert f"wrote {folder / 't.csv'}" in done.stderr
    return json.loads(done.stdout), list(csv.DictReader((folder / "t.csv").open()))


@pytest.mark.parametrize("command", ["solve", "refine"])
def test_a_row_per_design(tmp_path, command):
    succeed("solve", *MM, "-o", tmp_path / "r.json")
    document, rows = run(("solve", *MM) if command == "solve" else ("refine", "r.json"), tmp_path)
    found = {f"[{','.join(d['dataflow'])}] {d['permutation']}": d for d in document["designs"]}
    assert {row["design"] for row in rows} == found.keys()
    for row in rows:
        design = found[row["design"]]
        assert row["status"] == design["certificate"]["status"]
        assert float(row["lower_bound"]) == design["certificate"]["lower_bound"]
        for metric in ("latency", "dsp", "bram18k", "throughput"):
            assert float(row[metric]) == pytest.approx(design["metrics"][metric])
        assert row["latency"] == str(
            design["metrics"]["latency"]
        )  # whole numbers are written as such
        assert row["t1.i"] == str(design["tiling"]["array_part"]["i"])


def test_a_row_per_point_of_a_study(tmp_path):
    words = (
        "whatif",
        "mm",
        "-s",
        "i=16,j=8,k=8",
        "--dataflow",
        "i,j",
        "--divisors-only",
        "--vary",
        "dsp=1,40,80",
    )
    document, rows = run(words, tmp_path)
    for row, point in zip(rows, document["points"], strict=True):
        assert float(row["dsp_limit"]) == point["at"]["dsp_limit"]
        value = point["objective"]["value"]
        assert row["value"] == ("" if value is None else str(value))
        assert row["status"] == point["certificate"]["status"]
    assert [row["status"] for row in rows] == ["infeasible", "optimal", "optimal"]


def test_a_row_per_point_of_a_front(tmp_path):
    document, rows = run(
        ("pareto", *MM, "--dataflow", "i,j", "--objectives", "latency,dsp"), tmp_path
    )
    assert len(rows) == len(document["points"]) > 1
    for row, point in zip(rows, document["points"], strict=True):
        assert {name: float(row[f"objectives.{name}"]) for name in ("latency", "dsp")} == point[
            "values"
        ]


def test_a_row_per_module_of_a_run_and_of_every_design(tmp_path):
    succeed("solve", *MM, "-o", tmp_path / "r.json")
    document, rows = run(("simulate", "r.json"), tmp_path)
    assert [row["module"] for row in rows] == [
        module["module"] for module in document["simulation"]["modules"]
    ]
    kinds = ("working", "entering", "starved", "held_up", "meeting", "idle")
    assert all(sum(float(row[kind]) for kind in kinds) == pytest.approx(1) for row in rows)
    document, rows = run(("list", "designs", "mm"), tmp_path)
    modules = [
        (",".join(d["dataflow"]), d["permutation"], m["name"])
        for d in document["designs"]
        for m in d["modules"]
    ]
    assert [(row["dataflow"], row["permutation"], row["name"]) for row in rows] == modules
