"""Known configurations go in: as files, those of Timeloop's too, and as rows in Python."""

import json

import pandas as pd
import pytest

import ithaca
from ithaca.files.csv_text import records
from ithaca.files.errors import InputError
from tests.command_line import refused, succeed

#: Time in which nothing is found that is not known.
NO_TIME = 1e-9

CONV = {"o": 4, "r": 4, "c": 4, "i": 4, "p": 3, "q": 1}


@pytest.fixture(scope="module")
def array():
    return ithaca.solve("mm", i=8, j=8, k=8, dataflow="i,j", divisors_only=True)


@pytest.fixture(scope="module")
def mapped():
    return ithaca.solve("conv2d", **CONV, arch="eyeriss", divisors_only=True)


ROWS = {
    "of a document": lambda answer, folder: answer.document["best"],
    "several": lambda answer, folder: [answer.document["best"]] * 2,
    "a file": lambda answer, folder: _table(answer, folder),
    "a file as a table": lambda answer, folder: pd.read_csv(_table(answer, folder)),
    "a row of it": lambda answer, folder: pd.read_csv(_table(answer, folder)).iloc[0],
    "a result": lambda answer, folder: answer,
}


def _table(answer, folder):
    evaluated = ithaca.evaluate(answer)
    evaluated.save_table(folder / "points.csv")
    return folder / "points.csv"


@pytest.mark.parametrize("rows", ROWS)
def test_configurations_of_arrays_are_evaluated_and_improved(array, rows, tmp_path):
    known, nest = ROWS[rows](array, tmp_path), array.problem.design.nest
    if rows != "a result":
        points = ithaca.evaluate(nest, points=known, edition="cycle")
        assert {row["metrics"]["latency"] for row in points.rows} == {array.value}
    words = {"i": 8, "j": 8, "k": 8, "dataflow": "i,j", "time_limit": NO_TIME}
    assert ithaca.solve("mm", **words, start=known).best.configuration == array.best.configuration


def test_tables_of_results_are_known_configurations():
    solved = ithaca.solve("mm", i=8, j=8, k=8, divisors_only=True)
    frame, nest = solved.to_dataframe(), solved.problem.design.nest
    points = ithaca.evaluate(nest, points=frame, edition="cycle")
    assert [row["metrics"]["latency"] for row in points.rows] == [s.value for s in solved.designs]
    again = ithaca.solve("mm", i=8, j=8, k=8, start=frame, time_limit=NO_TIME)
    assert [s.configuration for s in again.designs] == [s.configuration for s in solved.designs]
    (row,) = records(frame.loc["[i,k] C"])
    one = ithaca.solve("mm", i=8, j=8, k=8, dataflow="i,k", start=row, time_limit=NO_TIME)
    assert one.value == next(s.value for s in solved.designs if s.design == "[i,k] C")


@pytest.mark.parametrize("rows", ROWS)
def test_mappings_are_evaluated_and_improved(mapped, rows, tmp_path):
    known, nest = ROWS[rows](mapped, tmp_path), mapped.problem.design.nest
    if rows != "a result":
        points = ithaca.evaluate(nest, arch="eyeriss", points=known)
        assert {row["metrics"]["edp"] for row in points.rows} == {float(mapped.value)}
        assert all(row["valid"] for row in points.rows)
    again = ithaca.solve("conv2d", **CONV, arch="eyeriss", start=known, time_limit=NO_TIME)
    assert (again.value, again.status) == (mapped.value, "feasible")


def test_what_is_exported_for_timeloop_is_read_back(mapped, tmp_path):
    mapped.export("timeloop", tmp_path / "tl")
    mapped.save(tmp_path / "result.json")
    words = ["--arch", "tl", "--points", "tl/mapping.yaml"]
    succeed("evaluate", "tl/problem.yaml", *words, "--table", "points.csv", cwd=tmp_path)
    found = json.loads(
        succeed("evaluate", "tl/problem.yaml", *words, "--json", cwd=tmp_path).stdout
    )
    metrics, best = found["points"][0]["metrics"], mapped.document["best"]["metrics"]
    assert {name: metrics[name] for name in best} == best
    sizes = ",".join(f"{loop}={n}" for loop, n in CONV.items())
    for start in ("tl/mapping.yaml", "result.json", "points.csv"):
        asked = ("-s", sizes, "--arch", "eyeriss", "--time-limit", str(NO_TIME), "--json")
        done = succeed("solve", "conv2d", *asked, "--start", start, cwd=tmp_path)
        assert json.loads(done.stdout)["best"]["tiling"] == mapped.document["best"]["tiling"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mm -s i=4,j=4,k=4 --arch eyeriss", "DRAM keeps the unknown tensor 'cin'"),
        ("conv2d -s o=4,r=4,c=4,i=4 --arch simple", "column 'K:GLB' is of no level; allowed: T:"),
        ("mm -s i=4,j=4,k=4", "column 'dataflow' is missing; allowed: dataflow, reuse"),
    ],
)
def test_mappings_of_something_else_are_refused(mapped, words, line, tmp_path):
    mapped.export("timeloop", tmp_path / "tl")
    said = refused("solve", *words.split(), "--start", "tl/mapping.yaml", cwd=tmp_path)
    assert said.startswith("ithaca: tl/mapping.yaml")
    assert line in said
    assert "has no list 'mapping'; allowed: a mapping of Timeloop v0.4" in refused(
        "solve",
        "mm",
        "-s",
        "i=4,j=4,k=4",
        "--arch",
        "eyeriss",
        "--start",
        "tl/arch.yaml",
        cwd=tmp_path,
    )


@pytest.mark.parametrize("given", [3, [], "", {}, [1], [{"dataflow": "i,j"}]])
def test_what_is_no_table_is_refused(given):
    with pytest.raises(InputError) as error:
        ithaca.solve("mm", i=4, j=4, k=4, start=given)
    assert "\n" not in str(error.value)


def test_a_configuration_of_another_design_is_no_start(array):
    with pytest.raises(InputError, match="start holds no configuration"):
        ithaca.solve("mm", i=8, j=8, k=8, dataflow="k", start=array.document["best"])
