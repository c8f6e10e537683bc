"""``ithaca pareto``: the front of two or more objectives, every point proven."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ithaca.commands.display import console
from ithaca.commands.interrupt import Interrupt
from ithaca.commands.live_line import LiveLine
from ithaca.commands.options import split_values
from ithaca.commands.request import Request, problems
from ithaca.commands.results_folder import open_store
from ithaca.formulations.problem import Objective
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.objectives import parse_objective
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.studies.answer import why_infeasible
from ithaca.studies.charts.files import check_plot
from ithaca.studies.charts.of_studies import check_front_plottable
from ithaca.studies.files import check_netcdf
from ithaca.studies.front import Front, check_objectives, pareto_front
from ithaca.workloads.errors import InputError


def parse_objectives(text: str) -> tuple[Objective, ...]:
    """Read ``--objectives``: expressions over metrics, separated by commas outside parentheses."""
    parts = [part.strip() for part in split_values(text)]
    if not all(parts):
        raise InputError("--objectives has an empty part; allowed: expressions between commas, e.g. latency,dsp")
    try:
        return check_objectives([parse_objective(part) for part in parts])
    except InputError as error:
        raise InputError(f"--objectives: {str(error).removeprefix('--objective: ')}") from None


def check_files(objectives: Sequence[Objective], plot: Path | None, output: Path | None) -> None:
    """Refuse, before anything is solved, files that could not be written."""
    if plot is not None:
        check_front_plottable(len(objectives))
        check_plot(plot)
    if output is not None:
        check_netcdf(output)


def run(
    request: Request,
    objectives: Sequence[Objective],
    options: SolveOptions,
    max_points: int | None,
    *,
    method: Method,
    threads: int,
    results: Path | None,
) -> Front:
    """Compute the front; Ctrl-C ends with what is known."""
    store = open_store(results)
    with Interrupt() as interrupt, LiveLine("building problems") as line:
        return pareto_front(
            problems(request),
            objectives,
            replace(options, stop=interrupt),
            max_points=max_points,
            method=method,
            threads=threads,
            store=store,
            report=lambda found, design, progress: line.show(f"{found} points · {design}", progress),
        )


def provenance(request: Request) -> dict[str, str]:
    """What the front is of."""
    return {
        "workload": request.nest.name,
        "statement": str(request.nest),
        "sizes": ",".join(f"{loop}={n}" for loop, n in request.nest.sizes.items()),
        "dtype": request.data.name,
        "platform": request.platform.name,
        "edition": request.edition.value,
    }


def write_files(front: Front, request: Request, plot: Path | None, output: Path | None) -> None:
    """Write the Dataset and the plot, if asked for."""
    if output is not None:
        from ithaca.studies.datasets import front_dataset
        from ithaca.studies.files import save_netcdf

        save_netcdf(front_dataset(front, provenance(request)), output)
        print(f"wrote {output}", file=sys.stderr)
    if plot is not None:
        from ithaca.studies.charts.files import save_plot
        from ithaca.studies.charts.of_studies import front_chart

        save_plot(front_chart(front, f"Pareto front of {title(request)}"), plot)
        print(f"wrote {plot}", file=sys.stderr)


def title(request: Request) -> str:
    """Workload, data type, platform and edition in one line."""
    nest = request.nest
    return f"{nest.name} ({nest.shown_sizes}) {request.data.name}, {request.platform.name}, {request.edition.value} edition"


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
    limits = front.problems[0].limits
    more = [m for m in dict.fromkeys(limit.metric for limit in limits) if m in METRICS and m not in texts]
    table = Table()
    for text in texts:
        table.add_column(escape(text), justify="right", no_wrap=True)
    table.add_column("design", no_wrap=True)
    for metric in more:
        table.add_column(metric, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for point in front.points:
        table.add_row(
            *(number(value) for value in point.values),
            escape(point.problem.array.name),
            *(number(point.metrics.get(metric)) for metric in more),
            f"{sum(step.seconds for step in point.proof):.2f}",
        )
    return table
