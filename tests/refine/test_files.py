"""Grids written, read back and drawn."""

import resource
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from netCDF4 import Dataset

from ithaca.exports.charts.files import save_plot
from ithaca.exports.charts.heatmap import heat_map
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.formulations.families import profile_of
from ithaca.refine import grid as grids
from ithaca.refine.grid import exact_grid, load_grid, save_grid
from ithaca.refine.window import window_around
from tests.refine.test_grid import random_point


@pytest.mark.parametrize("chunk", [None, 40])
def test_a_grid_is_loaded_back_identically(tmp_path, monkeypatch, chunk):
    window = window_around(*random_point(1), 2, ["i"])
    whole = exact_grid(window)
    if chunk is not None:
        monkeypatch.setattr(grids, "IN_MEMORY", 2)
        monkeypatch.setattr(grids, "CHUNK_POINTS", 4)
    save_grid(exact_grid(window), tmp_path / "grid.nc")
    xr.testing.assert_identical(load_grid(tmp_path / "grid.nc"), whole)
    lazy = load_grid(tmp_path / "grid.nc", lazily=True)
    assert lazy["feasible"].chunks is not None
    xr.testing.assert_identical(lazy.compute(), whole)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.nc").write_text("no grid")
    xr.Dataset({"a": 1}).to_netcdf(tmp_path / "other.nc")
    for name in ("text.nc", "other.nc"):
        with pytest.raises(InputError, match="written by ithaca grid -o"):
            load_grid(tmp_path / name)
    for path in (tmp_path / "missing.nc", tmp_path, Path("/dev/zero")):
        with pytest.raises(InputError, match="allowed: a file"):
            load_grid(path)


@pytest.mark.parametrize(
    ("variable", "name", "value"),
    [
        ("objective", "add_offset", "x"),
        ("objective", "scale_factor", "1/0"),
        ("latency", "_Encoding", 0.5),
        ("latency", "coordinates", 1e300),
    ],
)
def test_numbers_with_a_strange_meaning_are_refused(variable, name, value, tmp_path):
    problem, center = random_point(1)
    save_grid(exact_grid(window_around(problem, center, 1, ["i"])), tmp_path / "grid.nc")
    with Dataset(tmp_path / "grid.nc", "r+") as file:
        file.variables[variable].setncattr(name, value)
    with pytest.raises(InputError, match="written by ithaca grid -o"):
        load_grid(tmp_path / "grid.nc")


@pytest.mark.parametrize("dimension", ["x", "y"])  # an index is read as soon as a file is opened
@pytest.mark.parametrize("size", [4_000_000, 1])
def test_a_file_with_more_data_than_bytes_is_refused(tmp_path, dimension, size):
    path, chunk = tmp_path / "bomb.nc", 4_000_000
    with Dataset(path, "w") as file:
        file.createDimension("x", None)
        own = file.createVariable(dimension, "f8", ("x",), zlib=True, chunksizes=(chunk,))
        own[:size] = 0.0
        file.title = grids.TITLE
    assert path.stat().st_size < 100_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match="holds more data than a file of its size"):
        load_grid(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 20_000


def test_a_heat_map_shows_the_best_of_each_pair(tmp_path):
    problem, center = random_point(1)
    grid = exact_grid(window_around(problem, center, 2))
    chart = heat_map(grid, "lanes.i", "t2.i", "objective")
    expected = (
        grid["objective"]
        .where(grid["feasible"])
        .min([d for d in grid["feasible"].dims if d not in ("lanes.i", "t2.i")])
    )
    np.testing.assert_array_equal(chart.values, expected.transpose("t2.i", "lanes.i").to_numpy())
    assert chart.marked == (center["lanes.i"], center["t2.i"])
    value = problem.feasible_value(center)
    assert value is None or chart.mark.startswith(f"the result, {number(value)}")
    assert profile_of(problem.design).title in chart.title
    # the more the better only of what is to be large
    assert {
        m: heat_map(grid, "lanes.i", "t2.i", m).most for m in ("latency", "throughput", "dsp")
    } == {
        "latency": False,
        "throughput": True,
        "dsp": False,
    }
    plain = grid.copy()
    plain.attrs = {
        key: text for key, text in grid.attrs.items() if key not in ("center_factors", "subject")
    }
    assert heat_map(plain, "lanes.i", "t2.i").marked is None  # files of earlier versions
    for name in ("map.png", "map.html"):
        save_plot(chart, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    with pytest.raises(InputError, match="allowed:"):
        heat_map(grid, "t2.i", "lanes.i", "legal")
