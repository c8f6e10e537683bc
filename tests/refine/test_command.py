"""`ithaca grid` as a user runs it."""

import csv
import json

import pytest

import ithaca as ithaca_package
from ithaca.refine.grid import IN_MEMORY, load_grid
from tests.command_line import ithaca, refused, succeed
from tests.refusals import refusals

DESIGN = ("mm", "-s", "i=24,j=20,k=16", "--dataflow", "i,j", "--permutation", "C")
PLOT = ("--plot", "map.png", "--x", "lanes.i", "--y", "lanes.j")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with a result, and one that has no configuration."""
    path = tmp_path_factory.mktemp("grid")
    succeed("solve", *DESIGN, "-o", str(path / "result.json"))
    assert (
        ithaca("solve", *DESIGN, "--limit", "dsp=1", "-o", str(path / "nothing.json")).returncode
        == 1
    )
    return path


@pytest.fixture
def folder(results, monkeypatch):
    """The folder of results, as the current one."""
    monkeypatch.chdir(results)
    return results


def test_the_grid_is_written_drawn_and_right(folder):
    done = succeed("grid", "result.json", "--loops", "i,j", "--around", "2", *PLOT, "-o", "grid.nc")
    assert done.stderr == "wrote grid.nc\nwrote map.png\n"
    value = json.loads((folder / "result.json").read_text())["best"]["metrics"]["latency"]
    assert (
        f"best   latency {value:,} (the result's) at " in done.stdout
    )  # proven best of all, so of the grid
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    grid = load_grid(folder / "grid.nc")
    assert f"feasible {int(grid['feasible'].sum()):,}" in done.stdout
    assert float(grid["latency"].where(grid["feasible"]).min()) == value


def test_the_page_says_whose_answer_is_marked(folder):
    succeed(
        "grid",
        "result.json",
        "--around",
        "2",
        *PLOT[2:],
        "--metric",
        "energy",
        "--plot",
        "map.html",
    )
    page = (folder / "map.html").read_text(encoding="utf-8")
    best = json.loads((folder / "result.json").read_text())["best"]
    title = "mm (i=24, j=20, k=16) fp32, cycle model edition, u250, design [i,j] C: energy of the least latency with each pair"
    assert f"<title>{title}</title>" in page
    assert "framed: the result" in page
    assert f"the result, {best['metrics']['energy']:,.4f}".rstrip("0").rstrip(".") + " pJ" in page
    for words in ("energy (pJ)", "lanes.i", "lanes.j"):
        assert words in page


def test_points_of_the_grid_are_what_evaluate_says(folder):
    """Through the file and by the exact reference: every legal point of a small grid."""
    succeed("grid", "result.json", "--loops", "i,j", "--around", "1", "-o", "small.nc")
    best = json.loads((folder / "result.json").read_text())["best"]
    points = folder / "points.csv"
    succeed("seed", "result.json", "--for", "csv", "--count", "1", "-o", str(points))
    with points.open(newline="") as file:
        (row,) = csv.DictReader(file)
    grid = load_grid(folder / "small.nc")
    axes = [name for name in ("lanes.i", "t2.i", "lanes.j", "t2.j") if name in grid["latency"].dims]
    assert {"lanes.i", "lanes.j"} <= set(axes)
    legal = grid["legal"].stack(at=axes).to_series()
    places = [at if isinstance(at, tuple) else (at,) for at, good in legal.items() if good]
    assert len(places) > 8
    rows = []
    for place in places:
        at = dict(zip(axes, map(int, place), strict=True))
        t1, t2 = json.loads(row["array_part"]), json.loads(row["latency_hiding"])
        t2 |= {name[3:]: n for name, n in at.items() if name.startswith("t2.")}
        t1 |= {loop: at[f"lanes.{loop}"] * t2[loop] for loop in "ij"}
        rows.append(row | {"array_part": json.dumps(t1), "latency_hiding": json.dumps(t2)})
    with points.open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerows(rows)
    evaluated = succeed("evaluate", "mm", "--points", "points.csv", "--json")
    said = [point["metrics"] for point in json.loads(evaluated.stdout)["points"]]
    assert len(said) == len(places)
    for place, metrics in zip(places, said, strict=True):
        point = grid.sel(dict(zip(axes, place, strict=True)))
        for metric in ("latency", "dsp", "bram18k", "off_chip_words"):
            assert float(point[metric]) == metrics[metric], (place, metric)
    assert best["metrics"]["latency"] in [metrics["latency"] for metrics in said]


@pytest.mark.ci
def test_by_default_the_widest_window_that_fits(folder):
    """The default holds the points, of 1.4·10¹², that are so near that they are five million."""
    words = "mm -s i=256,j=256,k=256 --dataflow i,j --permutation C --limit dsp=500"
    succeed("solve", *words.split(), "-o", "large.json")
    large = ithaca_package.grid("large.json")
    around = large.window.around
    assert large.window.points <= IN_MEMORY
    assert ithaca_package.grid("large.json", around=around + 1).window.points > IN_MEMORY
    assert "the grid has " in refused("grid", "large.json", "--around", "full")
    # one that fits whole is whole
    small = ithaca_package.grid("result.json", loops="k")
    assert small.window.around is None
    assert (
        small.window.shape
        == ithaca_package.grid("result.json", loops="k", around="full").window.shape
    )
    assert "allowed: an integer ≥ 0, or full" in refused("grid", "result.json", "--around", "-1")


def test_it_is_told_what_holding_the_packs_leaves(folder):
    done = ithaca("grid", "result.json", "--loops", "k", "--around", "2")
    packs = json.loads((folder / "result.json").read_text())["best"]["tiling"]["pack"]
    line = next(line for line in done.stdout.splitlines() if line.startswith("packs "))
    assert f"pack.A={packs['A_IO_L2_in']}, pack.B={packs['B_IO_L2_in']}" in line
    free = ithaca("grid", "result.json", "--loops", "k", "--around", "2", "--free-packs").stdout
    assert "packs " not in free
    # 16 iterations of k in vectors of 16 words: of 14 to 18 lanes only 16 are a multiple of the
    # pack
    assert ("(lanes.k 1 ×" in done.stdout, "(lanes.k 5 ×" in free) == (True, True)
    assert "left of the values: lanes.k 1 of 5, t2.k 1 of 2 (--free-packs" in line


@pytest.mark.parametrize(
    ("words", "message"),
    refusals("refine-command", "what_does_not_fit_is_refused_before_anything_is_written"),
)
def test_what_does_not_fit_is_refused_before_anything_is_written(words, message, folder):
    before = sorted(path.name for path in folder.iterdir())
    done = refused("grid", *words)
    assert message in done
    assert sorted(path.name for path in folder.iterdir()) == before
