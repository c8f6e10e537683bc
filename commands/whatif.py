"""``ithaca whatif``: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ithaca.commands.display import console
from ithaca.commands.interrupt import Interrupt
from ithaca.commands.live_line import LiveLine
from ithaca.commands.request import Request, problems
from ithaca.commands.results_folder import open_store
from ithaca.commands.vary import Variation, parse_variations, varied
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.studies.answer import why_infeasible
from ithaca.studies.charts.files import check_plot
from ithaca.studies.charts.of_studies import check_plottable
from ithaca.studies.files import check_netcdf
from ithaca.studies.marginal import Marginal
from ithaca.studies.whatif import Study, StudyPoint, run_study
from ithaca.workloads.errors import InputError


@dataclass(frozen=True)
class WhatIf:
    """What ``ithaca whatif`` was asked for.

    Attributes
    ----------
    request : Request
        What is fixed.
    variations : tuple of Variation
        What is varied.
    percent : Fraction or None
        By how much to raise limits for marginal values (%).
    results : Path or None
        Folder of results to keep and reuse.
    plot, output : Path or None
        Files to write.
    """

    request: Request
    variations: tuple[Variation, ...]
    percent: Fraction | None
    results: Path | None
    plot: Path | None
    output: Path | None


def plan(
    request: Request,
    vary: Sequence[str],
    given: Collection[str],
    percent: float | None,
    results: Path | None,
    plot: Path | None,
    output: Path | None,
) -> WhatIf:
    """Read and check everything before anything is solved.

    Raises
    ------
    InputError
        If something does not fit.
    """
    variations = parse_variations(vary, request, given)
    if not variations and percent is None:
        raise InputError("nothing to study; allowed: --vary NAME=VALUE,… or --marginal PERCENT or both")
    if plot is not None:
        check_plottable([v.axis for v in variations])
        check_plot(plot)
    if output is not None:
        check_netcdf(output)
    exact = None if percent is None else Fraction(repr(percent))
    return WhatIf(request, variations, exact, results, plot, output)


def run(asked: WhatIf, options: SolveOptions, threads: int, method: Method) -> Study:
    """Run the study; Ctrl-C ends it with what is known."""
    store = open_store(asked.results)
    count = prod(len(v.axis.values) for v in asked.variations)
    with Interrupt() as interrupt, LiveLine("building problems") as line:
        return run_study(
            [v.axis for v in asked.variations],
            lambda values: problems(varied(asked.request, asked.variations, values)),
            replace(options, stop=interrupt),
            method=method,
            threads=threads,
            store=store,
            percent=asked.percent,
            report=lambda place, done, progress: line.show(place, progress, done=done, total=count),
            provenance=_provenance(asked),
        )


def write_files(study: Study, asked: WhatIf) -> None:
    """Write the Dataset and the plot, if asked for."""
    if asked.output is not None:
        from ithaca.studies.datasets import study_dataset
        from ithaca.studies.files import save_netcdf

        save_netcdf(study_dataset(study), asked.output)
        print(f"wrote {asked.output}", file=sys.stderr)
    if asked.plot is not None:
        from ithaca.studies.charts.files import save_plot
        from ithaca.studies.charts.of_studies import study_chart

        save_plot(study_chart(study), asked.plot)
        print(f"wrote {asked.plot}", file=sys.stderr)


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
    limited = list(dict.fromkeys(x.metric for p in points for x in p.problems[0].limits if x.metric in METRICS))
    table = Table()
    for axis in study.axes:
        table.add_column(escape(axis.name), justify="right" if axis.numeric else "left", no_wrap=True)
    table.add_column(escape(objectives[0]) if len(objectives) == 1 else "objective", justify="right", no_wrap=True)
    if unproven:
        table.add_column("lower bound", justify="right", no_wrap=True)
        table.add_column("gap", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("best design", no_wrap=True)
    for metric in limited:
        table.add_column(metric, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for index, point in study.points.items():
        answer, certificate = point.answer, point.answer.certificate
        gap = "–" if certificate.gap is None else f"{certificate.gap:.2%}"
        metrics = {} if answer.solution is None else answer.solution.metrics
        table.add_row(
            *(escape(_label(label)) for label in study.labels(index).values()),
            number(answer.value),
            *((number(certificate.lower_bound), gap) if unproven else ()),
            certificate.status.value,
            "–" if answer.solution is None else escape(answer.solution.problem.array.name),
            *(number(metrics.get(metric)) for metric in limited),
            f"{certificate.seconds:.2f}",
        )
    return table


def _label(label: str | int | float) -> str:
    return label if isinstance(label, str) else f"{label:,.10g}" if isinstance(label, float) else f"{label:,}"


def _provenance(asked: WhatIf) -> dict[str, str]:
    """What is fixed; what is varied is said by the axes."""
    request, axes = asked.request, {v.axis.name for v in asked.variations}
    sizes = {loop: n for loop, n in request.nest.sizes.items() if loop not in axes}
    fixed = {
        "workload": request.nest.name,
        "statement": str(request.nest),
        "sizes": ",".join(f"{loop}={n}" for loop, n in sizes.items()),
        "dtype": "" if "dtype" in axes else request.data.name,
        "platform": "" if "platform" in axes else request.platform.name,
        "edition": "" if "edition" in axes else request.edition.value,
    }
    sentence = f"{request.nest.name} ({fixed['sizes'].replace(',', ', ')}) {fixed['dtype']}"
    title = f"{' '.join(sentence.replace('()', '').split())}, {fixed['platform'] or 'several platforms'}, "
    title += f"{fixed['edition']} edition" if fixed["edition"] else "both editions"
    return {"title": title, **{name: text for name, text in fixed.items() if text}}
