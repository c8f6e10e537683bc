"""``ithaca refine``: the answer printed, drawn, and written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api import refining
from ithaca.commands.api.outputs import Written
from ithaca.commands.conclusion import OutputOptions, conclude
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.files.netcdf import check_netcdf
from ithaca.results.view import Fact, View
from ithaca.solver.result import NEAR, Result


@calls(refining.refine)
def refine(
    ask: Callable[..., Result],
    *,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot the best value by sample to .png, .svg, .pdf or .html."),
        Written(check_plot),
    ] = None,
    grid: Annotated[
        Path | None,
        Option(
            "--grid",
            help=f"Write the cost model on all factors at most {NEAR} from the best's (.nc).",
        ),
        Written(check_netcdf),
    ] = None,
    outputs: OutputOptions,
) -> None:
    """Print the answer, and write its files."""
    answer = ask()

    def save_grid(path: Path) -> None:
        from ithaca.commands.api.grids import grid as evaluate
        from ithaca.refine.grid import IN_MEMORY
        from ithaca.refine.kept import distance

        assert answer.best is not None
        evaluate(answer, around=distance(answer.best, IN_MEMORY) or 0).save(path)

    if answer.best is None:
        plot = grid = None
    more = ((plot, answer.plot), (grid, save_grid))
    conclude(answer, outputs, *more, also=_around(answer))


def _around(answer: Result) -> View:
    """The fact on the neighbourhood that the answer keeps; none where it keeps none."""
    if answer.near is None:
        return ()
    from ithaca.refine.kept import neighbourhood

    return (Fact("around", neighbourhood(answer).words),)
