"""``ithaca pareto``: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from typer import Option

from ithaca.commands.api.fronts import Front
from ithaca.commands.api.fronts import pareto as find_front
from ithaca.commands.api.options import AsJson, TableFile, Written
from ithaca.commands.conclusion import Told, conclude
from ithaca.commands.display import console, limited_metrics, unit_cells
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.of_studies import check_front_plottable
from ithaca.files.netcdf import check_netcdf
from ithaca.files.numbers import counted, number


@calls(find_front)
def pareto(
    ask: Callable[..., Front],
    *,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot to .png, .svg, .pdf or .html (two or three objectives)."),
        Written(check_plot),
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        Option("-o", "--output", help="Write the front as NetCDF (.nc)."),
        Written(check_netcdf),
    ] = None,
    table: TableFile = None,
) -> None:
    """``ithaca pareto``."""

    front = ask(
        before=None if plot is None else lambda objectives: check_front_plottable(len(objectives))
    )
    conclude(
        front,
        lambda: print_front(front),
        Told(as_json=as_json, output=output, table=table),
        (plot, front.plot),
    )


def print_front(front: Front) -> None:
    """Print what is proven about the front, then its points."""
    out = console()
    out.print(escape(front.title))
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
        out.print(f"partial ({escape(str(front.unfinished))}): {proven}")
    if front.points:
        out.print(_table(front))
    if target := front.provenance.get("for"):
        out.print(
            f"the front of what --for {target} allows; the front "
            "without it shows what that costs"
        )


def _table(front: Front) -> Table:
    texts = [objective.text for objective in front.objectives]
    more = [metric for metric in limited_metrics(front.problems[0].limits) if metric not in texts]
    rows = []
    for point in front.points:
        row = [(text, number(value)) for text, value in zip(texts, point.values, strict=True)]
        row.append(("design", point.problem.design.name))
        row += unit_cells(point.metrics, point.problem.design.vocabulary)
        row += [(metric, number(point.metrics.get(metric))) for metric in more]
        rows.append([*row, ("seconds", f"{sum(step.seconds for step in point.proof):.2f}")])
    return Table(rows, left={"design"})
