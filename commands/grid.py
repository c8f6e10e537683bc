"""``ithaca grid``: the cost model on a grid of factors around a result's best configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.grids import METRIC, Grid
from ithaca.commands.api.grids import grid as evaluate_grid
from ithaca.commands.api.outputs import AsJson, Written
from ithaca.commands.conclusion import write_and_show
from ithaca.commands.display import console
from ithaca.commands.outcome import nothing_found, print_document, wrote
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.heatmap import check_metric
from ithaca.files.errors import InputError
from ithaca.files.netcdf import check_netcdf
from ithaca.files.numbers import number
from ithaca.files.signals import check, deferred
from ithaca.formulations.directions import as_asked
from ithaca.formulations.space import Role
from ithaca.refine.window import Window, window_around


@calls(evaluate_grid)
def grid(
    ask: Callable[..., Grid],
    *,
    plot: Annotated[
        Path | None,
        Option(
            "--plot",
            help="Heat map of two factors to .png, .svg, .pdf or .html; needs --x and --y.",
        ),
        Written(check_plot),
    ] = None,
    x: Annotated[
        str | None,
        Option("--x", metavar="FACTOR", help="Factor to the right, e.g. t2.i, lanes.i or pack.A."),
    ] = None,
    y: Annotated[str | None, Option("--y", metavar="FACTOR", help="Factor upwards.")] = None,
    metric: Annotated[
        str | None,
        Option(
            "--metric",
            metavar="NAME",
            help="Metric to show of the best design with each pair. Default: latency.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option("-o", "--output", help="Write the grid as NetCDF (.nc)."),
        Written(check_netcdf),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """``ithaca grid``."""
    for option, text in (("--x", x), ("--y", y), ("--metric", metric)):
        if plot is None and text is not None:
            raise InputError(
                f"{option} is '{text}' without a plot; allowed: together with --plot FILE"
            )
    if plot is not None and (x is None or y is None):
        raise InputError(
            "--plot shows two factors; allowed: together with --x and "
            "--y, such as --x t2.i --y t2.j"
        )
    evaluated = ask()
    picture = (
        None
        if plot is None or x is None or y is None
        else (plot, x, y, METRIC if metric is None else metric)
    )
    if picture is not None:
        evaluated.check_plot(*picture[:3])
    # xarray, Dask and HDF5 have locks of their own: a signal is looked at between steps and chunks
    with deferred():
        _tell(evaluated, picture, output, as_json=as_json)
    if not evaluated.complete:
        nothing_found(f"time was over: {evaluated.extent}")
    if evaluated.best is None:
        nothing_found("no point of the grid is feasible")


def _tell(
    grid: Grid,
    picture: tuple[Path, str, str, str] | None,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Evaluate, write and print. A picture has a file, two factors and a metric."""
    if picture is not None or output is not None:  # which hold all points or are not written
        dataset = grid.dataset
        check()
        if picture is not None:
            check_metric(dataset, picture[3])

    def show() -> None:
        if as_json:
            print_document(grid.document)
        else:
            _print(grid)

    write_and_show(show, (output, grid.save))
    check()
    if picture is not None:
        grid.plot(*picture)
        wrote(picture[0])


def _print(grid: Grid) -> None:
    window, tally = grid.window, grid.tally
    problem, out, best = window.problem, console(), tally.best
    shape = " × ".join(f"{name} {size}" for name, size in window.shape.items())
    out.print(f"design {problem.design.name}, {window.extent}")
    out.print(f"grid   {grid.extent} ({shape}); legal {tally.legal:,}, feasible {tally.feasible:,}")
    for line in _held_packs(window):
        out.print(line)
    if best is None:
        return
    words = problem.objective.text
    exact, here = problem.feasible_value(best.configuration), problem.feasible_value(window.center)
    if exact is None or float(exact) != best.value:
        # cannot happen where doubles are exact; a rounded objective is told as such
        out.print(f"rounded: exactly, the best point has {number(as_asked(words, exact)[1])}")
    place = ", ".join(f"{name}={value}" for name, value in best.factors.items())
    same = (
        "the result's"
        if exact is not None and exact == here
        else f"the result has {number(as_asked(words, here)[1])}"
    )
    name, own = as_asked(words, exact)
    out.print(f"best   {name} {number(own)} ({same}) at {place}")


def _held_packs(window: Window) -> list[str]:
    """A line on the packs held at the result's values, and on the values of the other factors that
    this leaves; no line where none is held."""
    space = window.problem.space
    held = [(n, v) for n, v in window.fixed.items() if space.quantities[n].role is Role.PORT]
    if not held:
        return []
    loops = [
        axis.name for axis in space.axes if any(q.name in window.free for q in axis.quantities)
    ]
    free = window_around(window.problem, window.center, window.around, loops, free_packs=True).shape
    fewer = [
        f"{name} {size} of {free[name]}" for name, size in window.shape.items() if size < free[name]
    ]
    leaves = f"; left of the values: {', '.join(fewer)}" if fewer else ""
    values = ", ".join(f"{name}={n}" for name, n in held)
    return [f"packs  held at the result's {values}{leaves} (--free-packs varies them)"]
