"""Time limits of commands that read results: the answer is what was done before, and says so; what
has no part that is an answer ends with a line, and writes nothing."""

import sys
from dataclasses import astuple
from functools import partial
from itertools import islice

import pytest

import ithaca
from ithaca.commands.api.exporting import _buildable
from ithaca.commands.api.grids import A_SECOND
from ithaca.files.clock import StoppedError
from ithaca.files.errors import NothingFoundError
from ithaca.refine import tally
from ithaca.solver.options import SolveOptions
from tests.command_line import ithaca as command
from tests.command_line import refused
from tests.results.forgeries import written
from tests.test_time_limits import LIMIT, end_after


@pytest.fixture(scope="module")
def result():
    return ithaca.solve("mm", i=16, j=16, k=16, limit={"dsp": 40}, dataflow="i,j")


@pytest.fixture
def file(result, tmp_path):
    result.save(tmp_path / "r.json")
    return tmp_path / "r.json"


def points(count):
    """Rows of a table of points."""
    row = {"dataflow": "i,j", "reuse": "C", "edition": "exact", "simd": 2}
    row |= {"sizes": '{"i": 8, "j": 8, "k": 8}', "array_part": '{"i": 4, "j": 4, "k": 4}'}
    packs = '{"A_IO_L2_in": 2, "B_IO_L2_in": 2, "C_drain_IO_L1_out": 1}'
    return [row | {"latency_hiding": '{"i": 2, "j": 2}', "pack": packs} for _ in range(count)]


def test_points_end_with_the_time(monkeypatch):
    rows = points(400)
    assert len(ithaca.evaluate("mm", points=rows, time_limit=1000).rows) == 400
    whole = ithaca.evaluate("mm", points=rows)
    part = end_after(20, lambda: ithaca.evaluate("mm", points=rows, time_limit=1), monkeypatch)
    assert whole.complete
    assert "complete" not in whole.document
    assert 0 < len(part.rows) < 400
    assert part.rows == whole.rows[: len(part.rows)]
    assert len(part.names) == len(part.points) == len(part.rows)
    assert part.document["complete"] is False
    many = f"{len(part.rows)} configurations evaluated, the others were not"
    assert part.headline == f"mm: {many}"
    assert part.failure == f"time was over: {many}"
    with pytest.raises(NothingFoundError, match="time was over before any configuration was"):
        ithaca.evaluate("mm", points=rows, time_limit=1e-9)


def test_mappings_end_with_the_time(tmp_path, monkeypatch):
    best = ithaca.map("mm", i=4, j=4, k=4, arch="simple", divisors_only=True)
    ithaca.evaluate(best).save_table(tmp_path / "one.csv")
    head, row = (tmp_path / "one.csv").read_text().splitlines()
    (tmp_path / "many.csv").write_text("\n".join([head, *[row] * 100]) + "\n")
    ask = lambda **more: ithaca.evaluate("mm", arch="simple", points=tmp_path / "many.csv", **more)  # noqa: E731
    part = end_after(20, lambda: ask(time_limit=1), monkeypatch)
    assert 0 < len(part.rows) < 100
    assert part.rows == ask().rows[: len(part.rows)]
    assert not part.complete
    part.save_table(tmp_path / "part.csv")
    assert len((tmp_path / "part.csv").read_text().splitlines()) == 1 + len(part.rows)


def test_configurations_of_results_end_with_the_time(result, monkeypatch):
    with pytest.raises(NothingFoundError, match="time was over before any configuration was"):
        end_after(2, lambda: ithaca.evaluate(result, time_limit=LIMIT), monkeypatch)


def test_programs_end_with_the_time(tmp_path, monkeypatch):
    with pytest.raises(NothingFoundError, match="time was over before all files were made"):
        end_after(
            4,
            lambda: ithaca.programs(
                "mm", "gams", tmp_path / "out", i=4, j=4, k=4, time_limit=LIMIT
            ),
            monkeypatch,
        )
    assert not (tmp_path / "out").exists()


def test_neighbourhoods_are_smaller_in_less_time(result):
    sizes = [ithaca.grid(result, time_limit=limit).window.points for limit in (0.01, 1, None)]
    assert sizes[0] <= A_SECOND // 100 < sizes[1] <= A_SECOND
    assert sizes[1] <= sizes[2]
    with_limit, without = (
        ithaca.grid(result, around=1, time_limit=limit).document for limit in (100, None)
    )
    assert with_limit == without


@pytest.mark.parametrize("around", [2, 200])
def test_grids_end_with_the_time(result, around, monkeypatch):
    monkeypatch.setattr("ithaca.commands.api.grids.CHUNK_POINTS", 1)  # all are Dask's
    grid = ithaca.grid(result, around=around, loops="i,j", time_limit=1e-9)
    for answer in (lambda: grid.document, lambda: grid.dataset):
        with pytest.raises(NothingFoundError, match=r"time was over before all .* points were"):
            answer()


def test_of_grids_the_points_around_the_result_come_first(result, monkeypatch):
    monkeypatch.setattr(tally, "BLOCK", 40)
    whole = ithaca.grid(result, around=3, loops="i,j")
    parts = [*tally.tallies(whole.window)]
    assert parts[-1] == whole.tally
    assert len(parts) > 3
    value = float(result.best.value)
    assert parts[0].best is not None
    assert [part.best.value for part in parts] == [value] * len(parts)
    assert [part.points for part in parts] == sorted({part.points for part in parts})
    grid = ithaca.grid(result, around=3, loops="i,j", time_limit=60)
    monkeypatch.setattr("ithaca.commands.api.grids.tallies", partial(until_over, 2))
    assert not grid.complete
    many = f"{parts[1].points:,} of {whole.window.points:,} points evaluated"
    assert grid.extent == many
    own = grid.document
    assert (own["complete"], own["evaluated"], own["legal"]) == (False, *astuple(parts[1])[:2])
    assert own["value"] == whole.document["value"]


def until_over(count, window):
    """A function that makes so many tallies of a window, and then time is over."""
    yield from islice(tally.tallies(window), count)
    raise StoppedError


def test_the_nearest_is_the_best_that_was_found_in_time(tmp_path):
    result = ithaca.solve("mm", i=24, j=20, k=16, limit={"dsp": 40}, dataflow="i", time_limit=60)
    path = tmp_path / "out"
    line = str(ithaca.export(result, "autosa", path, nearest=True, time_limit=60))
    assert path.exists()
    assert "proven-best" in line or "the result's best" in line


def test_what_is_not_proven_is_no_proven_best():
    result = ithaca.solve("mm", i=50, j=36, k=28, dataflow="i,j")
    problems = [design.problem for design in result.designs]
    best, how = _buildable(problems, SolveOptions(boxes=1, gap=1))
    assert best.certificate.status.value == "feasible"
    assert how == "the best buildable configuration found in time, not proven"
    assert _buildable(problems, SolveOptions())[1] == "the proven-best buildable configuration"


@pytest.mark.parametrize("kind", ["layers", "layers mapped and fused", "front", "study"])
def test_nothing_is_searched_to_explain_what_takes_no_limit(kind, tmp_path):
    """Work is what reading the file is, of at most 32 MiB."""
    (tmp_path / "r.json").write_text(written(kind))
    answer, called = ithaca.load(tmp_path / "r.json"), set()

    def count(frame, event, argument):
        if event == "call":
            called.add(frame.f_code.co_filename)

    sys.setprofile(count)
    try:
        ithaca.explain(answer)
        ithaca.report(answer, tmp_path / "r.html")
    finally:
        sys.setprofile(None)
    assert not [name for name in called if "/solver/exact/" in name or "/solver/tables/" in name]
    for command_ in ("explain", "report"):
        words = () if command_ == "explain" else ("-o", str(tmp_path / "r.html"))
        line = refused(command_, tmp_path / "r.json", *words, "--time-limit", "1")
        assert "--time-limit does not go with" in line


def test_the_command_says_it_in_a_line(file):
    for word, what in (("evaluate", "any"), ("grid", "all")):
        ended = command(word, str(file), "--time-limit", "1e-9")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith(f"time was over before {what} ")
        assert ended.stderr.count("\n") == 1


def test_the_command_prints_the_part_and_says_that_it_is_one(file, monkeypatch):
    monkeypatch.setattr(tally, "BLOCK", 40)
    monkeypatch.setattr("ithaca.commands.api.grids.tallies", partial(until_over, 2))
    ended = command("grid", str(file), "--around", "2", "--time-limit", "60")
    assert ended.returncode == 1
    assert " points evaluated (" in ended.stdout
    assert "best   latency" in ended.stdout
    assert ended.stderr.startswith("time was over: ")
    assert ended.stderr.count("\n") == 1
