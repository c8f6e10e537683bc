"""``ithaca whatif``: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from typer import Option

from ithaca.commands.api.options import AsJson, TableFile, Written
from ithaca.commands.api.studies import Study
from ithaca.commands.api.studies import whatif as run_study
from ithaca.commands.conclusion import Told, conclude
from ithaca.commands.display import bound_cells, console, limited_metrics, unit_cells
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.of_studies import check_plottable
from ithaca.files.netcdf import check_netcdf
from ithaca.files.numbers import number
from ithaca.solver.certificate import Status
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.marginal import Marginal
from ithaca.studies.whatif import StudyPoint


@calls(run_study)
def whatif(
    ask: Callable[..., Study],
    *,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot to .png, .svg, .pdf or .html (one or two --vary)."),
        Written(check_plot),
    ] = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        Option("-o", "--output", help="Write the study as NetCDF (.nc)."),
        Written(check_netcdf),
    ] = None,
    table: TableFile = None,
) -> None:
    """``ithaca whatif``."""

    study = ask(before=None if plot is None else check_plottable)
    conclude(
        study,
        lambda: print_study(study),
        Told(as_json=as_json, output=output, table=table),
        (plot, study.plot),
    )


def print_study(study: Study) -> None:
    """Print a table of the points, then what each limit is worth, then why some points are
    infeasible."""
    out = console()
    out.print(escape(study.provenance.get("title", "what-if study")))
    if not study.complete:
        reached = sum(
            p.answer.certificate.nodes > 0 or p.answer.settled for p in study.points.values()
        )
        out.print(f"interrupted: {reached} of {len(study.points)} points were reached")
    out.print(_table(study))
    if target := study.provenance.get("for"):
        out.print(
            f"each the best of what --for {target} allows; --vary "
            f"for=none,{target} shows what that costs"
        )
    for index, point in study.points.items():
        place = ", ".join(
            f"{name} = {_label(label)}" for name, label in study.labels(index).items()
        )
        start = escape(f"{place}: ") if place else ""
        if point.marginals:
            out.print(start + escape("; ".join(marginal_text(m, point) for m in point.marginals)))
        if point.answer.certificate.status is Status.INFEASIBLE:
            out.print(
                f"{start}infeasible: "
                f"{escape(why_infeasible(point.problems, point.answer.shortfalls))}"
            )


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
        text = (
            f"{objective} {sign}{abs(percent):.1f} %"
            if abs(percent) >= 0.1
            else f"{objective} {sign}{abs(percent):.2g} %"
        )
    return head + text + ("" if marginal.proven else " (not proven)")


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
        row.append(
            ("best design", "–" if answer.found is None else answer.found.problem.design.name)
        )
        row += unit_cells(metrics, point.problems[0].design.vocabulary)
        row += [(metric, number(metrics.get(metric))) for metric in limited]
        rows.append([*row, ("seconds", f"{certificate.seconds:.2f}")])
    return Table(
        rows,
        left={"status", "best design", *(axis.name for axis in study.axes if not axis.numeric)},
    )


def _label(label: str | int | float) -> str:
    return (
        label
        if isinstance(label, str)
        else f"{label:,.10g}"
        if isinstance(label, float)
        else f"{label:,}"
    )
