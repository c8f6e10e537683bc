"""`ithaca.pareto`: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from typer import Option

from ithaca.commands.api.answers import StudyAnswer
from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.options import Effort, Extents, Results, Sizes, Workload
from ithaca.commands.api.parsing import check_sizes, parse_extents, parse_proving_method
from ithaca.commands.display import limited_metrics, unit_cells
from ithaca.exports.charts.chart import Chart, metric_label
from ithaca.exports.charts.of_studies import front_chart
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, number
from ithaca.files.words import parse_integer, split_values
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Objective
from ithaca.results.studies import front_document, study_title
from ithaca.results.study_explanation import front_statements
from ithaca.solver.certificate import OWN, Status, as_stated
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies import front as fronts
from ithaca.studies.store import Store

if TYPE_CHECKING:
    import xarray as xr

T = TypeVar("T")


@dataclass(frozen=True, repr=False, eq=False)
class Front(StudyAnswer, fronts.Front):
    """The answer of `ithaca.pareto`: points proven to be on the front, and whether they are all."""

    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def title(self) -> str:
        """What was asked, for people."""
        return study_title(self.provenance)

    @property
    def headline(self) -> str:
        return f"Pareto front of {self.title}: {counted(len(self.points), 'point')} ({self.status})"

    @property
    def status(self) -> str:
        """Optimal if the front is proven complete, feasible if points of it are known; infeasible
        or unknown without points."""
        if self.points:
            status = Status.OPTIMAL if self.complete else Status.FEASIBLE
        else:
            narrowed = self.problems[0].feasible_among
            status = Status.INFEASIBLE if self.complete and not narrowed else Status.UNKNOWN
        return status.value

    @property
    def failure(self) -> str:
        if self.points:
            return ""
        if self.complete and (among := self.problems[0].feasible_among):
            return (
                f"nothing that meets the limits is among {among}; others, "
                "which might, were not searched"
            )
        if self.complete:
            return f"infeasible: {why_infeasible(self.problems, self.shortfalls)}"
        return "nothing proven before the search ended; allow more time with --time-limit"

    @property
    def statements(self) -> tuple[str, ...]:
        """What is on the front, and what one objective costs of another, one statement a line."""
        texts = [objective.text for objective in self.objectives]
        points = [(point.problem.design.name, point.values) for point in self.points]
        lines = front_statements(texts, points) if points else [f"No point: {self.failure}."]
        many = f"{counted(len(points), 'point')} ({self.status}{as_stated(self)})"
        return (f"Front: {self.title}, minimising {', '.join(texts)}; {many}.", *lines)

    @property
    def texts(self) -> set[str]:
        """Headings of `rows` whose cells are no numbers."""
        return {"design"}

    @property
    def rows(self) -> list[list[tuple[str, str]]]:
        """Heading and cell of every column of the table of points."""
        texts = [objective.text for objective in self.objectives]
        limited = [n for n in limited_metrics(self.problems[0].limits) if n not in texts]
        rows, design = [], self.problems[0].design
        for place, point in enumerate(self.points, 1):
            row = [("point", str(place))]
            row += [
                (metric_label(text, design), number(value))
                for text, value in zip(texts, point.values, strict=True)
            ]
            row.append(("design", point.problem.design.name))
            row += unit_cells(point.metrics, point.problem.design.vocabulary)
            row += [
                (metric_label(name, design), number(point.metrics.get(name))) for name in limited
            ]
            rows.append([*row, ("seconds", f"{sum(step.seconds for step in point.proof):.2f}")])
        return rows

    @property
    def document(self) -> dict[str, Any]:
        return front_document(self)

    def to_xarray(self) -> xr.Dataset:
        """The points as labelled arrays with units, by ascending first objective; numbers are
        doubles."""
        from ithaca.results.datasets import front_dataset

        return front_dataset(self)

    @property
    def chart(self) -> Chart:
        return front_chart(self, f"Pareto front of {self.title}")


@public
def pareto(
    workload: Workload,
    *,
    objectives: Annotated[
        str | Sequence[str | Objective],
        Option("--objectives", help="What to minimise: two or more expressions, e.g. latency,dsp."),
    ],
    sizes: Sizes = None,
    family: FamilyOptions,
    method: Annotated[str, Option("--method", help="auto, exact or cpsat.")] = "exact",
    effort: Effort,
    max_points: Annotated[
        int | None, Option("--max-points", metavar="N", help="End after so many points.")
    ] = None,
    results: Results = None,
    before: Callable[[Sequence[Objective]], None] | None = None,
    **extents: Extents,
) -> Front:
    """Compute the Pareto front of several objectives, every point proven.

    ``before`` hears of the objectives before anything is solved, and may refuse them.
    """
    engine, search = parse_proving_method(method), effort.options
    most = None if max_points is None else parse_integer("--max-points", max_points, least=1)
    threads = effort.workers
    own = parse_extents(sizes, extents)
    nest = family.nest(workload, own)
    question = family.question(workload)
    minimised = parse_objectives(objectives, question.vocabulary(nest))
    question = replace(question, objective=minimised[0])
    for remark in question.remarks(nest):
        note(remark)
    problems = question.problems(nest)
    check_sizes(workload, nest, own)
    if before is not None:
        before(minimised)
    store = None if results is None else Store(Path(results), note)
    with searching("building problems", search) as (stoppable, line):
        front = fronts.pareto_front(
            problems,
            minimised,
            stoppable,
            max_points=most,
            method=engine,
            threads=threads,
            store=store,
            report=lambda count, design, progress: line.show(
                f"{count} points · {design}", progress
            ),
            provenance=question.provenance(nest),
        )
    return Front.of(front)


def parse_objectives(
    objectives: str | Sequence[str | Objective], vocabulary: Mapping[str, Metric]
) -> tuple[Objective, ...]:
    """Read ``--objectives``: expressions over metrics, separated by commas outside parentheses."""
    parts = split_objectives(objectives)
    try:
        return fronts.check_objectives(parts, vocabulary)
    except InputError as error:
        raise InputError(f"--objectives: {str(error).removeprefix('--objective: ')}") from None


def split_objectives(objectives: str | Sequence[T]) -> Sequence[str | T]:
    """The parts of ``--objectives``, none of them empty."""
    parts = (
        [part.strip() for part in split_values(objectives)]
        if isinstance(objectives, str)
        else objectives
    )
    if not all(parts):
        raise InputError(
            "--objectives has an empty part; allowed: expressions between commas, e.g. latency,dsp"
        )
    return parts
