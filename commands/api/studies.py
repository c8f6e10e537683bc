"""`ithaca.whatif`: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ithaca.commands.api.answers import StudyAnswer, least
from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    Objective,
    Results,
    SearchOptions,
    Sizes,
    SteadyMethod,
    Workload,
)
from ithaca.commands.api.parsing import check_sizes, parse_extents, parse_steady_method
from ithaca.commands.api.vary import parse_variations, varied
from ithaca.commands.display import bound_cells, limited_metrics, unit_cells
from ithaca.exports.charts.chart import Chart, metric_label
from ithaca.exports.charts.of_studies import study_chart
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, number
from ithaca.files.words import REPEATED, parse_number
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.results.studies import study_document, study_title
from ithaca.results.study_explanation import grid_statements
from ithaca.solver.certificate import OWN, Status, as_stated
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies import whatif as studies
from ithaca.studies.grid import StudyAxis
from ithaca.studies.marginal import Marginal
from ithaca.studies.store import Store
from ithaca.studies.whatif import StudyPoint
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False, eq=False)
class Study(StudyAnswer, studies.Study):
    """The answer of `ithaca.whatif`: the best configuration at every point of a grid."""

    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def title(self) -> str:
        """What was asked, for people."""
        return self.provenance["title"]

    @property
    def headline(self) -> str:
        return f"{self.title}: {counted(len(self.points), 'point')} ({self.status})"

    @property
    def status(self) -> str:
        """The least that is proven at any point: unknown, infeasible, feasible or optimal."""
        return least(point.answer.certificate.status for point in self.points.values()).value

    @property
    def failure(self) -> str:
        points = list(self.points.values())
        if any(point.answer.value is not None for point in points):
            return ""
        if all(point.answer.certificate.status is Status.INFEASIBLE for point in points):
            more = f" (and {len(points) - 1} more points)" if len(points) > 1 else ""
            return (
                "infeasible: "
                f"{why_infeasible(points[0].problems, points[0].answer.shortfalls)}{more}"
            )
        if narrowed := next(
            (point.answer.certificate for point in points if point.answer.certificate.empty), None
        ):
            return narrowed.failure
        return "nothing found before the search ended; allow more time with --time-limit"

    @property
    def objective(self) -> str:
        """What is minimised at every point; where that differs, ``objective``."""
        texts = {point.problems[0].objective.text for point in self.points.values()}
        return texts.pop() if len(texts) == 1 else "objective"

    @property
    def statements(self) -> tuple[str, ...]:
        """What is best where, what limits are worth, and why points are infeasible, one statement a
        line."""
        known = Counter(cell.certificate.status.value for cell in self.cells.values())
        proofs = ", ".join(f"{count} {status}" for status, count in known.items())
        many = f"{counted(len(self.points), 'point')} ({proofs}{as_stated(self)})"
        lines = [f"Study: {self.title}, minimising {self.objective}; {many}."]
        if self.objective != "objective":
            lines += grid_statements(self.objective, self.axes, self.cells)
        return (*lines, *(f"Remark: {line}." for line in self.remarks))

    @property
    def remarks(self) -> list[str]:
        """What each limit is worth, and why some points are infeasible, point by point."""
        lines = []
        for index, point in self.points.items():
            labels = self.labels(index).items()
            place = ", ".join(f"{name} = {_label(label)}" for name, label in labels)
            start = f"{place}: " if place else ""
            if point.marginals:
                lines.append(start + "; ".join(marginal_text(m, point) for m in point.marginals))
            if point.answer.certificate.status is Status.INFEASIBLE:
                why = why_infeasible(point.problems, point.answer.shortfalls)
                lines.append(f"{start}infeasible: {why}")
        return lines

    @property
    def texts(self) -> set[str]:
        """Headings of `rows` whose cells are no numbers."""
        return {"status", "best design", *(axis.name for axis in self.axes if not axis.numeric)}

    @property
    def rows(self) -> list[list[tuple[str, str]]]:
        """Heading and cell of every column of the table of points."""
        points = self.points.values()
        unproven = any(p.answer.value is not None and not p.answer.settled for p in points)
        limited = limited_metrics(limit for point in points for limit in point.problems[0].limits)
        rows = []
        for index, point in self.points.items():
            answer, certificate = point.answer, point.answer.certificate
            metrics = {} if answer.found is None else answer.found.metrics
            row = [(name, _label(label)) for name, label in self.labels(index).items()]
            design = point.problems[0].design
            row.append((metric_label(self.objective, design), number(answer.value)))
            row += bound_cells(certificate) if unproven else []
            row.append(("status", certificate.told))
            row.append(("best design", "–" if answer.found is None else answer.design))
            row += unit_cells(metrics, point.problems[0].design.vocabulary)
            row += [(metric_label(name, design), number(metrics.get(name))) for name in limited]
            rows.append([*row, ("seconds", f"{certificate.seconds:.2f}")])
        return rows

    @property
    def document(self) -> dict[str, Any]:
        return study_document(self)

    def to_xarray(self) -> xr.Dataset:
        """The points as labelled arrays over the axes, with units; numbers are doubles."""
        from ithaca.results.datasets import study_dataset

        return study_dataset(self)

    @property
    def chart(self) -> Chart:
        return study_chart(self)


@public
def whatif(
    workload: Workload,
    *,
    sizes: Sizes = None,
    vary: Annotated[
        Mapping[str, Sequence[Any]] | Sequence[str] | None,
        Option(
            "--vary",
            help="What to vary: a size (i=256,512), a limit (dsp=2000,4000), "
            "platform, dtype, edition, objective, "
            "permutation (A,C), dataflow (i,j:i,k), what it is for "
            "(for=none,autosa), or a figure of --arch "
            "(GLB.words=16384,32768). Several make a grid.",
        ),
        REPEATED,
    ] = None,
    marginal: Annotated[
        float | None,
        Option(
            "--marginal",
            metavar="PERCENT",
            help="Prove what each limit is worth, raised by so much.",
        ),
    ] = None,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    method: SteadyMethod = None,
    search: SearchOptions,
    results: Results = None,
    before: Callable[[Sequence[StudyAxis]], None] | None = None,
    **extents: Extents,
) -> Study:
    """Prove the best configuration over a grid of sizes, limits, platforms and so on.

    ``before`` hears of the axes before anything is solved, and may refuse them.
    """
    engine, options, threads = (
        parse_steady_method(method, search.time_limit),
        search.options,
        search.workers,
    )
    percent = (
        None
        if marginal is None
        else Fraction(repr(parse_number("--marginal", marginal, positive=True)))
    )
    own = parse_extents(sizes, extents)
    nest = family.nest(workload, own)
    question = family.question(workload, objective)
    named = (name for name in question.variables if f"--{name}" in family.stated.values())
    fixed = {*own, *question.bounds, *(name for name in named if f"--{name}" != question.selector)}
    variations = parse_variations(vary or {}, question, nest, fixed)
    check_sizes(workload, nest, {*own, *(v.axis.name for v in variations)})
    if not variations and percent is None:
        raise InputError(
            "nothing to study; allowed: --vary NAME=VALUE,… or --marginal PERCENT or both"
        )
    axes = [v.axis for v in variations]
    if before is not None:
        before(axes)
    for remark in question.remarks(nest):
        note(remark)

    def pose(values: Mapping[str, Any]) -> Sequence[Problem]:
        one, sized = varied(question, nest, variations, values)
        return one.problems(sized)

    store = None if results is None else Store(Path(results), note)
    count = prod(len(axis.values) for axis in axes)
    with searching("building problems", options) as (stoppable, line):
        study = studies.run_study(
            axes,
            pose,
            stoppable,
            method=engine,
            threads=threads,
            store=store,
            percent=percent,
            report=lambda place, done, progress: line.show(place, progress, done=done, total=count),
            provenance=_provenance(question, nest, [axis.name for axis in axes]),
        )
    return Study.of(study)


def _provenance(question: Question, nest: LoopNest, axes: Sequence[str]) -> dict[str, str]:
    """What is fixed; what is varied is said by the axes."""
    sizes = {loop: n for loop, n in nest.sizes.items() if loop not in axes}
    fixed = {name: text for name, text in question.provenance(nest).items() if name not in axes}
    fixed["sizes"] = ",".join(f"{loop}={n}" for loop, n in sizes.items())
    title = study_title(fixed, f"several {question.places}")
    return {"title": title, **{name: text for name, text in fixed.items() if text}}


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


def _label(label: str | int | float) -> str:
    return (
        label
        if isinstance(label, str)
        else f"{label:,.10g}"
        if isinstance(label, float)
        else f"{label:,}"
    )
