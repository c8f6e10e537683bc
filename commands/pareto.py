"""``ithaca pareto``: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from rich.table import Table
from typer import Option

from ithaca.api.fronts import Front
from ithaca.api.fronts import pareto as find_front
from ithaca.api.options import WRITTEN, AsJson, TableFile
from ithaca.commands.conclusion import tell_answer
from ithaca.commands.display import console, limited_metrics, table, unit_cells
from ithaca.commands.outcome import nothing_found, wrote
from ithaca.commands.typed import calls
from ithaca.formulations.problem import Objective
from ithaca.formulations.shown_numbers import number
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.charts.files import check_plot
from ithaca.studies.charts.of_studies import check_front_plottable
from ithaca.studies.files import check_netcdf
from ithaca.workloads.writing import check_writable


@calls(find_front)
def pareto(
    ask: Callable[..., Front],
    *,
    plot: Annotated[
        Path | None, Option("--plot", help="Plot to .png, .svg, .pdf or .html (two or three objectives)."), WRITTEN
    ] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, Option("-o", "--output", help="Write the front as NetCDF (.nc)."), WRITTEN] = None,
    table: TableFile = None,
) -> None:
    """``ithaca pareto``."""

    def check(objectives: Sequence[Objective]) -> None:
        if plot is not None:
            check_front_plottable(len(objectives))
            check_plot(plot)
        if output is not None:
            check_netcdf(output)
        if table is not None:
            check_writable(table)

    front = ask(before=check)
    tell_answer(front, lambda: print_front(front), as_json=as_json, output=output, table=table)
    if plot is not None:
        front.plot(plot)
        wrote(plot)
    if not front.points:
        nothing_found(explain_failure(front))


def print_front(front: Front) -> None:
    """Print what is proven about the front, then its points."""
    out = console()
    out.print(escape(front.request.title))
    points = f"{len(front.points)} point{'' if len(front.points) == 1 else 's'}"
    effort, among = f"{front.nodes:,} boxes, {front.seconds:.2f} s", f" among {front.among}" if front.among else ""
    if front.complete:
        out.print(f"complete: {points}, and no other vector of objectives is on the front{among}; {effort}")
    else:
        proven = f"{points}, each proven to be on the front{among}; others may exist; {effort}"
        out.print(f"partial ({escape(str(front.unfinished))}): {proven}")
    if front.points:
        out.print(_table(front))
    if target := front.request.target:
        out.print(f"the front of what --for {target.value} allows; the front without it shows what that costs")


def explain_failure(front: Front) -> str:
    """One line: why there is no point."""
    if front.complete and (among := front.problems[0].feasible_among):
        return f"nothing that meets the limits is among {among}; others, which might, were not searched"
    if front.complete:
        return f"infeasible: {why_infeasible(front.problems, front.shortfalls)}"
    return "nothing proven before the search ended; allow more time with --time-limit"


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
    return table(rows, left={"design"})
