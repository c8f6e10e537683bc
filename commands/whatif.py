"""``ithaca whatif``: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Annotated

from rich.markup import escape
from rich.table import Table
from typer import Option

from ithaca.api.keywords import Given
from ithaca.api.live_line import LiveLine, note
from ithaca.api.options import (
    OBJECTIVE,
    WRITTEN,
    AsJson,
    Method,
    Objective,
    ProblemOptions,
    Results,
    SearchOptions,
    Sizes,
    Workload,
)
from ithaca.api.parsing import parse_method, parse_number, parse_sizes
from ithaca.api.request import Request, problems
from ithaca.api.vary import OPTIONS, parse_variations, varied
from ithaca.commands.display import bound_cells, console, limited_metrics, table
from ithaca.commands.outcome import nothing_found, print_document, wrote
from ithaca.formulations.shown_numbers import number
from ithaca.results.certificate import Status
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.charts.files import check_plot, save_plot
from ithaca.studies.charts.of_studies import check_plottable, study_chart
from ithaca.studies.documents import study_document
from ithaca.studies.files import check_netcdf, save_netcdf
from ithaca.studies.marginal import Marginal
from ithaca.studies.store import Store
from ithaca.studies.whatif import Study, StudyPoint, run_study
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt


def whatif(
    *,
    workload: Workload,
    sizes: Sizes = None,
    vary: Annotated[
        list[str] | None,
        Option(
            "--vary",
            help="What to vary: a size (i=256,512), a limit (dsp=2000,4000), platform, dtype, edition, objective, "
            "permutation (A,C) or dataflow (i,j:i,k). Several make a grid.",
        ),
    ] = None,
    marginal: Annotated[
        str | None, Option("--marginal", metavar="PERCENT", help="Prove what each limit is worth, raised by so much.")
    ] = None,
    problem: ProblemOptions,
    objective: Objective = OBJECTIVE,
    method: Method = "exact",
    search: SearchOptions,
    results: Results = None,
    plot: Annotated[
        Path | None, Option("--plot", help="Plot to .png, .svg, .pdf or .html (one or two --vary)."), WRITTEN
    ] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, Option("-o", "--output", help="Write the study as NetCDF (.nc)."), WRITTEN] = None,
    given: Given,
) -> None:
    """``ithaca whatif``."""
    engine, options, threads = parse_method(method), search.options, search.workers
    percent = None if marginal is None else Fraction(repr(parse_number("--marginal", marginal, positive=True)))
    request = problem.request(workload, sizes, objective)
    fixed = {*parse_sizes(sizes or []), *request.limits, *(name for name in OPTIONS if f"--{name}" in given)}
    variations = parse_variations(vary or [], request, fixed)
    if not variations and percent is None:
        raise InputError("nothing to study; allowed: --vary NAME=VALUE,… or --marginal PERCENT or both")
    axes = [v.axis for v in variations]
    if plot is not None:
        check_plottable(axes)
        check_plot(plot)
    if output is not None:
        check_netcdf(output)
    store = None if results is None else Store(Path(results), note)
    count = prod(len(axis.values) for axis in axes)
    with Interrupt() as interrupt, LiveLine("building problems") as line:
        study = run_study(
            axes,
            lambda values: problems(varied(request, variations, values)),
            replace(options, stop=interrupt),
            method=engine,
            threads=threads,
            store=store,
            percent=percent,
            report=lambda place, done, progress: line.show(place, progress, done=done, total=count),
            provenance=_provenance(request, [axis.name for axis in axes]),
        )
    if as_json:
        print_document(study_document(study))
    else:
        print_study(study)
    if output is not None:
        from ithaca.studies.datasets import study_dataset

        save_netcdf(study_dataset(study), output)
        wrote(output)
    if plot is not None:
        save_plot(study_chart(study), plot)
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
        row.append(("status", certificate.status.value))
        row.append(("best design", "–" if answer.found is None else answer.found.problem.design.name))
        row += [(metric, number(metrics.get(metric))) for metric in limited]
        rows.append([*row, ("seconds", f"{certificate.seconds:.2f}")])
    return table(rows, left={"status", "best design", *(axis.name for axis in study.axes if not axis.numeric)})


def _label(label: str | int | float) -> str:
    return label if isinstance(label, str) else f"{label:,.10g}" if isinstance(label, float) else f"{label:,}"


def _provenance(request: Request, axes: Sequence[str]) -> dict[str, str]:
    """What is fixed; what is varied is said by the axes."""
    sizes = {loop: n for loop, n in request.nest.sizes.items() if loop not in axes}
    fixed = {name: text for name, text in request.provenance.items() if name not in axes}
    fixed["sizes"] = ",".join(f"{loop}={n}" for loop, n in sizes.items())
    sentence = f"{request.nest.name} ({fixed['sizes'].replace(',', ', ')}) {fixed.get('dtype', '')}"
    title = f"{' '.join(sentence.replace('()', '').split())}, {fixed.get('platform', 'several platforms')}, "
    title += f"{fixed['edition']} model edition" if "edition" in fixed else "both model editions"
    return {"title": title, **{name: text for name, text in fixed.items() if text}}
