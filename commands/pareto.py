"""``ithaca pareto``: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.fronts import pareto as find_front
from ithaca.commands.api.options import Written
from ithaca.commands.conclusion import Outputs, conclude
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.of_studies import check_front_plottable
from ithaca.studies.front import Front


@calls(find_front)
def pareto(
    ask: Callable[..., Front],
    *,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot to .png, .svg, .pdf or .html (two or three objectives)."),
        Written(check_plot),
    ] = None,
    outputs: Outputs,
) -> None:
    """``ithaca pareto``."""

    front = ask(
        before=None if plot is None else lambda objectives: check_front_plottable(len(objectives))
    )
    conclude(front, outputs, (plot, front.plot))
