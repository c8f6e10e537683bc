"""``ithaca whatif``: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from rich.table import Table
from typer import Option

from ithaca.api.options import WRITTEN, AsJson, TableFile
from ithaca.api.studies import Study
from ithaca.api.studies import whatif as run_study
from ithaca.commands.conclusion import tell_answer
from ithaca.commands.display import bound_cells, console, limited_metrics, table, unit_cells
from ithaca.commands.outcome import nothing_found, wrote
from ithaca.commands.typed import calls
from ithaca.formulations.shown_numbers import number
from ithaca.results.certificate import Status
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.charts.files import check_plot
from ithaca.studies.charts.of_studies import check_plottable
from ithaca.studies.files import check_netcdf
from ithaca.studies.grid import Axis
from ithaca.studies.marginal import Marginal
from ithaca.studies.whatif import StudyPoint
from ithaca.workloads.writing import check_writable


@calls(run_study)
def whatif(
    ask: Callable[..., Study],
    *,
    plot: Annotated[
        Path | None, Option("--plot", help="Plot to .png, .svg, .pdf or .html (one or two --vary)."), WRITTEN
    ] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, Option("-o", "--output", help="Write the study as NetCDF (.nc)."), WRITTEN] = None,
    table: TableFile = None,
) -> None:
    """``ithaca whatif``."""

    def check(axes: Sequence[Axis]) -> None:
        if plot is not None:
            check_plottable(axes)
            check_plot(plot)
        if output is not None:
            check_netcdf(output)
        if table is not None:
            check_writable(table)

    study = ask(before=check)
    tell_answer(study, lambda: print_study(study), as_json=as_json, output=output, table=table)
    if plot is not None:
        study.plot(plot)
        wrote(plot)
    if all(point.answer.value is None for point in study.points.values()):
        nothing_found(explain_failure(study))


def print_study(study: Study) -> None:
    """Print a table of the points, then what each limit is worth, then why some points are infeasible."""
    out = console()
    out.print(escape(study.provenance.get("title", "what-if study")))
    if not study.complete:
        reached = sum(p.answer.certificate.nodes > 0 or p.answer.settled for p in study.points.values())
        out.print(f"interrupted: {reached} of {len(study.points)} points were reached")
    out.print(_table(study))
    if target := study.provenance.get("for"):
        out.print(f"each the best of what --for {target} allows; --vary for=none,{target} shows what that costs")
    for index, point in study.points.items():
        place = ", ".join(f"{name} = {_label(label)}" for name, label in study.labels(index).items())
        start = escape(f"{place}: ") if place else ""
        if point.marginals:
            out.print(start + escape("; ".join(marginal_text(m, point) for m in point.marginals)))
        if point.answer.certificate.status is Status.INFEASIBLE:
            out.print(f"{start}infeasible: {escape(why_infeasible(point.problems, point.answer.shortfalls))}")


def marginal_text(marginal: Marginal, point: StudyPoint) -> str:
    """What a limit is worth, such as ``dsp +5 %: latency −4.1 %``."""
    objective = point.problems[0].objective.text
    before = marginal.limit.bound
    step = 100 * (marginal.raised.bound - before) / abs(before) if before else Fraction(0)
    head = f"{marginal.limit.metric} +{float(step):g} %: "
    if marginal.change is None:
        text = f"{objective} {number(marginal.after.value)}"
    elif not marginal.change:
        text = "no change"
    else:
        percent = float(marginal.change) * 100
        sign = "−" if percent < 0 else "+"
        text = f"{objective} {sign}{abs(percent):.1f} %" if abs(percent) >= 0.1 else f"{objective} {sign}{abs(percent):.2g} %"
    return head + text + ("" if marginal.proven else " (not proven)")


def explain_failure(study: Study) -> str:
    """One line: why no point has an answer."""
    points = list(study.points.values())
    if all(point.answer.certificate.status is Status.INFEASIBLE for point in points):
        more = f" (and {len(points) - 1} more points)" if len(points) > 1 else ""
        return f"infeasible: {why_infeasible(points[0].problems, points[0].answer.shortfalls)}{more}"
    if narrowed := next((point.answer.certificate for point in points if point.answer.certificate.empty), None):
        return narrowed.failure
    return "nothing found before the search ended; allow more time with --time-limit"


def _table(study: Study) -> Table:
    points = study.points.values()
    objectives = list(dict.fromkeys(p.problems[0].objective.text for p in points))
    unproven = any(p.answer.value is not None and not p.answer.settled for p in points)
    limited = limited_metrics(limit for point in points for limit in point.problems[0].limits)
    objective = objectives[0] if len(objectives) == 1 else "objective"
    rows = []
    for index, point in study.points.items():
        answer, certificate = point.answer, point.answer.certificate
        metrics = {} if answer.found is None else answer.found.metrics
        row = [(name, _label(label)) for name, label in study.labels(index).items()]
        row.append((objective, number(answer.value)))
        row += bound_cells(certificate) if unproven else []
        row.append(("status", certificate.told))
        row.append(("best design", "–" if answer.found is None else answer.found.problem.design.name))
        row += unit_cells(metrics, point.problems[0].design.vocabulary)
        row += [(metric, number(metrics.get(metric))) for metric in limited]
        rows.append([*row, ("seconds", f"{certificate.seconds:.2f}")])
    return table(rows, left={"status", "best design", *(axis.name for axis in study.axes if not axis.numeric)})


def _label(label: str | int | float) -> str:
    return label if isinstance(label, str) else f"{label:,.10g}" if isinstance(label, float) else f"{label:,}"
