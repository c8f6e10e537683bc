"""Exact grids against brute force, the exact engine and the Fraction reference."""

import random
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import xarray as xr

from ithaca.commands.api.grids import Grid
from ithaca.commands.api.live_line import LiveLine
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.rounding import largest_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import METRICS, metric_values, tensor_words
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.refine import grid as grids
from ithaca.refine.grid import best_point, exact_grid
from ithaca.refine.window import window_around
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from tests.problems import MM_DATAFLOWS, configuration_of, mm_problem


def random_point(seed):
    """A small problem with limits that bind, and a configuration of it, feasible or not."""
    rng = random.Random(seed)
    problem = mm_problem(
        (rng.randint(1, 7), rng.randint(1, 7), rng.randint(1, 7)),
        MM_DATAFLOWS[seed % 6],
        rng.choice("ABC"),
        rng.choice(["exact", "exact", "odyssey"]),
        dsp=rng.choice(["40", "160.5", "8601.6"]),
        bram18k=rng.choice(["12", "60", "3763.2"]),
        objective=rng.choice(["latency", "latency", "latency*dsp", "max(latency, 3*bram18k)"]),
        dtype=rng.choice(["fp32", "int16"]),
    )
    values = {}
    own = [axis for axis in problem.space.axes if axis.name not in systolic(problem).array.band]
    for axis in problem.space.axes:
        if axis in own:
            continue
        rows = next(iter(axis.rows()))
        small = np.flatnonzero(rows[f"t1.{axis.name}"] <= 8)
        index = int(rng.choice(list(small)))
        values |= {name: int(column[index]) for name, column in rows.items()}
    choices = [next(iter(axis.rows()))[axis.name] for axis in own]
    for packs in product(*choices):
        configuration = Configuration(
            values | {a.name: int(p) for a, p in zip(own, packs, strict=True)}
        )
        if problem.space.contains(configuration):
            return problem, configuration
    return random_point(seed + 6000)  # no legal pack spans these factors


def configurations(window):
    """Every configuration of a window's coordinates, from the window's definition and not its
    tables."""
    problem = window.problem
    array, sizes, center = systolic(problem).array, systolic(problem).nest.sizes, window.center
    choices = {}
    for loop in array.band:
        for name in (f"lanes.{loop}", f"t2.{loop}"):
            value = center[name]
            near = range(max(1, value - window.around), value + window.around + 1)
            choices[name] = near if name in window.free else [value]
    for group in array.packed_groups:
        name = f"pack.{group.name}"
        choices[name] = [center[name]] if name in window.fixed else [2**n for n in range(6)]
    for values in product(*choices.values()):
        at = dict(zip(choices, values, strict=True))
        if any(array_t2 > 1 for loop in array.sequential if (array_t2 := at[f"t2.{loop}"])):
            continue
        at |= {f"t1.{loop}": at[f"lanes.{loop}"] * at[f"t2.{loop}"] for loop in array.band}
        yield Configuration(
            at | {f"tiles.{loop}": -(-sizes[loop] // at[f"t1.{loop}"]) for loop in array.band}
        )


@pytest.mark.parametrize(
    "seed", [1, 3, *(pytest.param(s, marks=pytest.mark.slow) for s in (0, 2, *range(4, 30)))]
)
def test_the_minimum_of_a_window_is_its_optimum_and_feasibility_is_membership(seed):
    problem, center = random_point(seed)
    loops = random.Random(seed).sample(systolic(problem).array.band, 2)
    inferred = systolic(problem).array.edition.value == "odyssey"
    window = window_around(problem, center, 1, loops, free_packs=not inferred and seed % 2 == 0)
    grid = exact_grid(window)
    feasible, legal = 0, 0
    optimum = None
    for configuration in configurations(window):
        if not problem.space.contains(configuration):
            continue
        legal += 1
        here = grid.sel({name: configuration[name] for name in window.free})
        value = problem.feasible_value(configuration)
        assert bool(here["legal"])
        assert bool(here["feasible"]) == (value is not None)
        assert Fraction(float(here["objective"])) == problem.value(configuration)
        if value is not None:
            feasible += 1
            optimum = value if optimum is None else min(optimum, value)
    assert legal
    assert int(grid["legal"].sum()) == legal
    assert int(grid["feasible"].sum()) == feasible
    best = best_point(grid, window)
    assert (None if best is None else Fraction(best.value)) == optimum
    if best is not None:
        assert problem.feasible_value(best.configuration) == optimum


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_a_full_grid_has_the_exact_engines_optimum(dataflow):
    problem, simd = mm_problem((5, 6, 4), dataflow, dsp="330"), 2
    free = solve_exact(problem, SolveOptions())
    simd_loop = systolic(problem).array.simd_loop
    fixed = (
        {f"lanes.{loop}": 2 for loop in dataflow}
        | {f"t2.{simd_loop}": simd}
        | {f"pack.{group}": simd for group in free.tiling.pack}
    )
    given = Problem(
        SystolicDesign(
            systolic(problem).nest,
            systolic(problem).array,
            systolic(problem).data,
            hardware=tuple((name, (value, value)) for name, value in fixed.items()),
        ),
        problem.limits,
        problem.objective,
    )
    solved = solve_exact(given, SolveOptions())
    assert solved.certificate.status is Status.OPTIMAL
    assert solved.configuration is not None
    window = window_around(given, solved.configuration)
    assert window.around is None
    best = best_point(exact_grid(window), window)
    assert Fraction(best.value) == solved.value


@pytest.mark.parametrize("seed", range(4))
def test_every_variable_is_the_reference(seed):
    problem, center = random_point(seed)
    window = window_around(problem, center, 2)
    grid = exact_grid(window)
    here = grid.sel({name: window.center[name] for name in window.free})
    costs = systolic(problem).costs(center)
    expected = metric_values(costs) | {
        f"words.{n}": v for n, v in tensor_words(systolic(problem).array, costs).items()
    }
    for name, value in expected.items():
        rounded = name in ("throughput", "power")
        assert float(here[name]) == pytest.approx(
            float(value), rel=1e-14 if rounded else 0, abs=0
        ), name
        if name in METRICS:
            assert grid[name].attrs["units"] == METRICS[name].unit
    assert (here["latency"] == here["prologue"] + here["main"] + here["epilogue"]).item()
    assert bool(here["meets_bounds"]) == bool(costs.meets_bounds)


def test_limits_decide_as_exactly_as_fractions():
    # 0.1 as a double lies above 1/10: a metric of exactly that double is not within the limit
    assert Fraction(largest_double(Fraction(1, 10))) <= Fraction(1, 10)
    assert largest_double(Fraction(80)) == 80
    problem, center = random_point(1)
    dsp = systolic(problem).costs(center).dsp
    for bound, met in ((dsp, True), (dsp - Fraction(1, 10**12), False)):
        tight = mm_problem(
            tuple(systolic(problem).nest.sizes[x] for x in "ijk"),
            systolic(problem).array.dataflow,
            systolic(problem).array.permutation,
            systolic(problem).array.edition.value,
            dsp=str(bound),
            dtype=systolic(problem).data.name,
            bram18k="1000000",
        )
        window = window_around(tight, center, 0)
        assert bool(exact_grid(window)["feasible"].item()) == (
            met and bool(systolic(problem).costs(center).meets_bounds)
        )


def test_dask_chunks_give_the_same_grid(monkeypatch):
    problem, center = random_point(0)
    window = window_around(problem, center, 2)
    whole = exact_grid(window)
    monkeypatch.setattr(grids, "IN_MEMORY", 10)
    monkeypatch.setattr(grids, "CHUNK_POINTS", 400)
    chunked = exact_grid(window)
    assert chunked["feasible"].chunks is not None
    assert len(chunked["feasible"].data.dask) > 10
    xr.testing.assert_identical(chunked.compute(), whole)
    assert best_point(chunked, window) == best_point(whole, window)


def test_large_grids_say_how_far_they_are(monkeypatch):
    problem, center = random_point(0)
    monkeypatch.setattr(grids, "IN_MEMORY", 10)
    monkeypatch.setattr(grids, "CHUNK_POINTS", 400)
    shown = []
    monkeypatch.setattr(
        LiveLine, "show", lambda line, text, *, done, total: shown.append((done, total))
    )
    window = window_around(problem, center, 1)
    assert Grid(window, "u250").best == best_point(exact_grid(window), window)
    most = max(total for _, total in shown)
    counts = {done for done, total in shown if total == most}
    assert min(counts) == 0
    assert 0.9 * most < max(counts) < most  # what needs no computing is never begun
    assert len(counts) > 10


def test_large_grids_are_refused_in_one_line(monkeypatch):
    problem, center = random_point(0)
    window = window_around(problem, center, 2)
    monkeypatch.setattr(grids, "IN_MEMORY", 10)
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(InputError, match="allowed without the package dask: at most 10"):
        exact_grid(window)
    monkeypatch.setattr(grids, "LARGEST", 11)
    with pytest.raises(InputError, match="allowed: at most 11"):
        exact_grid(window)


def test_windows_refuse_what_does_not_fit():
    problem = mm_problem((4, 4, 4), edition="odyssey")
    solved = solve_exact(problem, SolveOptions())
    center, tiling = solved.configuration, solved.tiling
    assert center is not None
    for loops, message in ((["i", "i"], "given twice"), (["z"], "no band loop"), ([], "empty")):
        with pytest.raises(InputError, match=message):
            window_around(problem, center, 1, loops)
    with pytest.raises(InputError, match="infers packs"):
        window_around(problem, center, 1, free_packs=True)
    with pytest.raises(InputError, match="around is -1"):
        window_around(problem, center, -1)
    outside = Tiling(
        {**tiling.array_part, "i": 32 * tiling.t2(systolic(problem).array, "i")},
        tiling.latency_hiding,
        tiling.simd,
        tiling.pack,
    )
    with pytest.raises(InputError, match="outside the design space"):
        window_around(problem, configuration_of(problem, outside), 1)


def test_a_rule_of_the_space_clips_the_window():
    from ithaca.formulations.systolic.design import SpaceOptions

    problem = mm_problem(
        (12, 6, 8),
        space=SpaceOptions(min_lanes=2, divisors_only=True),
        more_limits=(Limit("comp", Fraction(99)),),
    )
    center = solve_exact(problem, SolveOptions()).configuration
    assert center is not None
    window = window_around(problem, center, 20, ["i"])
    assert set(window.free["lanes.i"].tolist()) <= {2, 3, 4, 6, 12}
    grid = exact_grid(window)
    t1 = grid["lanes.i"] * grid["t2.i"]
    assert bool((12 % t1 == 0).where(grid["legal"], True).all())
    assert np.isnan(grid["latency"].where(~grid["legal"]).to_numpy()).all()
