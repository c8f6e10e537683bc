"""``ithaca pareto``: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.fronts import pareto as find_front
from ithaca.commands.api.options import Written
from ithaca.commands.conclusion import Outputs, conclude
from ithaca.commands.display import console
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.of_studies import check_front_plottable
from ithaca.files.numbers import counted
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
    conclude(
        front,
        lambda: print_front(front),
        outputs,
        (plot, front.plot),
    )


def print_front(front: Front) -> None:
    """Print what is proven about the front, then its points."""
    out = console()
    out.print(front.title)
    points = counted(len(front.points), "point")
    effort, among = (
        f"{front.nodes:,} boxes, {front.seconds:.2f} s",
        f" among {front.among}" if front.among else "",
    )
    if front.complete:
        out.print(
            f"complete: {points}, and no other vector of objectives is "
            f"on the front{among}; {effort}"
        )
    else:
        proven = f"{points}, each proven to be on the front{among}; others may exist; {effort}"
        out.print(f"partial ({front.unfinished!s}): {proven}")
    if front.points:
        out.print(Table(front.rows, left=front.texts))
    if target := front.provenance.get("for"):
        out.print(
            f"the front of what --for {target} allows; the front without it shows what that costs"
        )
