"""``ithaca pareto``: the front of two or more objectives, every point proven."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from rich.table import Table
from typer import Option

from ithaca.api.live_line import LiveLine, note
from ithaca.api.options import WRITTEN, AsJson, Effort, ProblemOptions, Results, Sizes, Workload
from ithaca.api.parsing import parse_integer, parse_proving_method, split_values
from ithaca.api.request import Request, problems
from ithaca.commands.display import console, limited_metrics, table
from ithaca.commands.outcome import nothing_found, print_document, wrote
from ithaca.formulations.problem import Objective
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.charts.files import check_plot, save_plot
from ithaca.studies.charts.of_studies import check_front_plottable, front_chart
from ithaca.studies.documents import front_document
from ithaca.studies.files import check_netcdf, save_netcdf
from ithaca.studies.front import Front, check_objectives, pareto_front
from ithaca.studies.store import Store
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt


def pareto(
    *,
    workload: Workload,
    objectives: Annotated[str, Option("--objectives", help="What to minimise: two or more expressions, e.g. latency,dsp.")],
    sizes: Sizes = None,
    problem: ProblemOptions,
    method: Annotated[str, Option("--method", help="auto, exact or cpsat.")] = "exact",
    effort: Effort,
    max_points: Annotated[str | None, Option("--max-points", metavar="N", help="End after so many points.")] = None,
    results: Results = None,
    plot: Annotated[
        Path | None, Option("--plot", help="Plot to .png, .svg, .pdf or .html (two or three objectives)."), WRITTEN
    ] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, Option("-o", "--output", help="Write the front as NetCDF (.nc)."), WRITTEN] = None,
) -> None:
    """``ithaca pareto``."""
    engine, search = parse_proving_method(method), effort.options
    most = None if max_points is None else parse_integer("--max-points", max_points, least=1)
    threads, minimised = effort.workers, parse_objectives(objectives)
    if plot is not None:
        check_front_plottable(len(minimised))
        check_plot(plot)
    if output is not None:
        check_netcdf(output)
    request = problem.request(workload, sizes, minimised[0].text)
    store = None if results is None else Store(Path(results), note)
    with Interrupt() as interrupt, LiveLine("building problems") as line:
        front = pareto_front(
            problems(request),
            minimised,
            replace(search, stop=interrupt),
            max_points=most,
            method=engine,
            threads=threads,
            store=store,
            report=lambda found, design, progress: line.show(f"{found} points · {design}", progress),
        )
    if as_json:
        print_document(front_document(front, request.provenance))
    else:
        print_front(front, request)
    if output is not None:
        from ithaca.studies.datasets import front_dataset

        save_netcdf(front_dataset(front, request.provenance), output)
        wrote(output)
    if plot is not None:
        save_plot(front_chart(front, f"Pareto front of {title(request)}"), plot)
        wrote(plot)
    if not front.points:
        nothing_found(explain_failure(front))


def parse_objectives(text: str) -> tuple[Objective, ...]:
    """Read ``--objectives``: expressions over metrics, separated by commas outside parentheses."""
    parts = [part.strip() for part in split_values(text)]
    if not all(parts):
        raise InputError("--objectives has an empty part; allowed: expressions between commas, e.g. latency,dsp")
    try:
        return check_objectives([parse_objective(part) for part in parts])
    except InputError as error:
        raise InputError(f"--objectives: {str(error).removeprefix('--objective: ')}") from None


def title(request: Request) -> str:
    """Workload, data type, platform and edition in one line."""
    nest = request.nest
    return (
        f"{nest.name} ({nest.shown_sizes}) {request.data.name}, {request.platform.name}, {request.edition.value} model edition"
    )


def print_front(front: Front, request: Request) -> None:
    """Print what is proven about the front, then its points."""
    out = console()
    out.print(escape(title(request)))
    points = f"{len(front.points)} point{'' if len(front.points) == 1 else 's'}"
    effort = f"{front.nodes:,} boxes, {front.seconds:.2f} s"
    if front.complete:
        out.print(f"complete: {points}, and no other vector of objectives is on the front; {effort}")
    else:
        out.print(
            f"partial ({escape(str(front.unfinished))}): {points}, each proven to be on the front; others may exist; {effort}"
        )
    if front.points:
        out.print(_table(front))


def explain_failure(front: Front) -> str:
    """One line: why there is no point."""
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
        row += [(metric, number(point.metrics.get(metric))) for metric in more]
        rows.append([*row, ("seconds", f"{sum(step.seconds for step in point.proof):.2f}")])
    return table(rows, left={"design"})
