"""``ithaca grid``: the cost model on a grid of factors around a result's best configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.markup import escape
from typer import Option

from ithaca.api.options import WRITTEN, ResultFile
from ithaca.api.parsing import parse_integer
from ithaca.commands.display import console
from ithaca.commands.outcome import nothing_found, wrote
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design import systolic
from ithaca.grids.grid import asked_between_chunks, best_point, exact_grid, load_grid, save_grid
from ithaca.grids.heatmap import check_heat_map, heat_map
from ithaca.grids.window import Window, window_around
from ithaca.results.files import load_result
from ithaca.studies.charts.files import check_plot, save_plot
from ithaca.studies.files import check_netcdf
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import check, deferred

if TYPE_CHECKING:
    import xarray as xr

METRIC = "latency"


def grid(
    *,
    file: ResultFile,
    around: Annotated[
        str | None, Option("--around", metavar="N", help="Only factors at most N from the result's; default: full ranges.")
    ] = None,
    loops: Annotated[
        str | None, Option("--loops", help="Loops whose factors vary, e.g. i,j; default: all. The others keep the result's.")
    ] = None,
    free_packs: Annotated[bool, Option("--free-packs", help="Vary the data packing factors, too (all legal values).")] = False,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Heat map of two factors to .png, .svg, .pdf or .html; needs --x and --y."),
        WRITTEN,
    ] = None,
    x: Annotated[str | None, Option("--x", metavar="FACTOR", help="Factor to the right, e.g. t2.i, lanes.i or pack.A.")] = None,
    y: Annotated[str | None, Option("--y", metavar="FACTOR", help="Factor upwards.")] = None,
    metric: Annotated[
        str | None, Option("--metric", help="Metric to show of the best design with each pair; default: latency.")
    ] = None,
    output: Annotated[Path | None, Option("-o", "--output", help="Write the grid as NetCDF (.nc)."), WRITTEN] = None,
) -> None:
    """``ithaca grid``."""
    distance = None if around is None else parse_integer("--around", around, least=0)
    for option, given in (("--x", x), ("--y", y), ("--metric", metric)):
        if plot is None and given is not None:
            raise InputError(f"{option} is '{given}' without a plot; allowed: together with --plot FILE")
    if plot is not None:
        check_plot(plot)
        if x is None or y is None:
            raise InputError("--plot shows two factors; allowed: together with --x and --y, such as --x t2.i --y t2.j")
    if output is not None:
        check_netcdf(output)
    result = load_result(file)
    if result.best is None or result.best.configuration is None:
        raise InputError(f"{file}: best is null; allowed: a result with a configuration")
    names = None if loops is None else [part.strip() for part in loops.split(",")]
    try:
        window = window_around(result.best.problem, result.best.configuration, distance, names, free_packs=free_packs)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    picture = None if plot is None or x is None or y is None else (plot, x, y, METRIC if metric is None else metric)
    if picture is not None:
        for option, name in (("--x", x), ("--y", y)):
            if name not in window.free:
                raise InputError(f"{option} is '{name}'; allowed: a free factor of the grid: {', '.join(window.free)}")
        if x == y:
            raise InputError(f"--y is '{y}', like --x; allowed: another free factor: {', '.join(window.free)}")
    # xarray, Dask and HDF5 have locks of their own: a signal is looked at between steps and chunks
    with deferred():
        found = _evaluate(window, {"platform": result.platform_name}, picture, output)
    if not found:
        nothing_found("no point of the grid is feasible")


def _evaluate(
    window: Window, provenance: dict[str, str], picture: tuple[Path, str, str, str] | None, output: Path | None
) -> bool:
    """Evaluate, write and print; whether a point is feasible. A picture has a file, two factors and a metric."""
    grid = exact_grid(window, provenance)
    check()
    if picture is not None:
        try:
            check_heat_map(grid, *picture[1:])
        except InputError as error:  # of the option that is named like what it gives
            raise InputError(f"--{error}") from None
    if output is not None:
        save_grid(grid, output)
        wrote(output)
        if grid.chunks:  # what was just computed need not be computed again
            grid = load_grid(output, lazily=True)
    check()
    with asked_between_chunks(grid):
        found = _print(grid, window)
        check()
        if picture is not None:
            save_plot(heat_map(grid, *picture[1:]), picture[0])
            wrote(picture[0])
    return found


def _print(grid: xr.Dataset, window: Window) -> bool:
    problem, out = window.problem, console()
    shape = " × ".join(f"{name} {size}" for name, size in window.shape.items())
    legal, feasible = (int(grid[name].sum()) for name in ("legal", "feasible"))
    out.print(f"design {escape(problem.design.name)}, {grid.attrs['window']}")
    out.print(f"grid   {_points(window.points)} ({shape}); legal {legal:,}, feasible {feasible:,}")
    for line in _held_packs(window):
        out.print(escape(line))
    best = best_point(grid, window)
    if best is None:
        return False
    exact, here = problem.feasible_value(best.configuration), problem.feasible_value(window.center)
    if exact is None or float(exact) != best.value:
        # cannot happen where doubles are exact; a rounded objective is told as such
        out.print(f"rounded: exactly, the best point has {number(exact)}")
    place = ", ".join(f"{name}={value}" for name, value in best.factors.items())
    same = "the result's" if exact is not None and exact == here else f"the result has {number(here)}"
    out.print(f"best   {escape(problem.objective.text)} {number(exact)} ({same}) at {place}")
    return True


def _held_packs(window: Window) -> list[str]:
    """What holding the packs at the result's values leaves of the other factors; nothing where none is held."""
    array = systolic(window.problem).array
    packs = {quantities.pack(group.name).name for group in array.packed_groups}
    held = [(name, n) for name, n in window.fixed.items() if name in packs]
    if not held:
        return []
    loops = [loop for loop in array.band if quantities.lanes(loop).name in window.free]
    free = window_around(window.problem, window.center, window.around, loops, free_packs=True).shape
    fewer = [f"{name} {size} of {free[name]}" for name, size in window.shape.items() if size < free[name]]
    leaves = f"; left of the values: {', '.join(fewer)}" if fewer else ""
    values = ", ".join(f"{name}={n}" for name, n in held)
    return [f"packs  held at the result's {values}{leaves} (--free-packs varies them)"]


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count:,} points"
