"""`ithaca.whatif`: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ithaca.commands.api.answers import StudyAnswer, least
from ithaca.commands.api.keywords import Given, public
from ithaca.commands.api.live_line import LiveLine, note
from ithaca.commands.api.mapping import MappedRequest, request_of
from ithaca.commands.api.options import (
    OBJECTIVE,
    REPEATED,
    Extents,
    HierarchyOptions,
    Objective,
    Results,
    SearchOptions,
    Sizes,
    SteadyMethod,
    TargetedOptions,
    Workload,
)
from ithaca.commands.api.parsing import parse_extents, parse_number, parse_steady_method
from ithaca.commands.api.request import Request
from ithaca.commands.api.vary import OPTIONS, TARGET, parse_variations, varied
from ithaca.exports.charts.chart import Chart
from ithaca.exports.charts.of_studies import study_chart
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.files.signals import Interrupt
from ithaca.formulations.problem import Problem
from ithaca.results.studies import study_document, study_title
from ithaca.solver.certificate import OWN, Status
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies import whatif as studies
from ithaca.studies.grid import StudyAxis
from ithaca.studies.store import Store

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Study(StudyAnswer, studies.Study):
    """The answer of `ithaca.whatif`: the best configuration at every point of a grid."""

    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def headline(self) -> str:
        return f"{self.provenance['title']}: {counted(len(self.points), 'point')} ({self.status})"

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
    problem: TargetedOptions,
    hierarchy: HierarchyOptions,
    objective: Objective = OBJECTIVE,
    method: SteadyMethod = None,
    search: SearchOptions,
    results: Results = None,
    before: Callable[[Sequence[StudyAxis]], None] | None = None,
    given: Given,
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
    request = request_of(workload, own, problem, hierarchy, objective, given)
    fixed = {*own, *request.limits, *(name for name in (*OPTIONS, TARGET) if f"--{name}" in given)}
    variations = parse_variations(vary or {}, request, fixed)
    if not variations and percent is None:
        raise InputError(
            "nothing to study; allowed: --vary NAME=VALUE,… or --marginal PERCENT or both"
        )
    axes = [v.axis for v in variations]
    if before is not None:
        before(axes)
    request.remark()

    def pose(values: Mapping[str, Any]) -> Sequence[Problem]:
        # of a platform that is varied, too
        return varied(request, variations, values).timed(problem.regime, problem.sums).posed

    store = None if results is None else Store(Path(results), note)
    count = prod(len(axis.values) for axis in axes)
    with Interrupt() as interrupt, LiveLine("building problems") as line:
        study = studies.run_study(
            axes,
            pose,
            replace(options, stop=interrupt),
            method=engine,
            threads=threads,
            store=store,
            percent=percent,
            report=lambda place, done, progress: line.show(place, progress, done=done, total=count),
            provenance=_provenance(request, [axis.name for axis in axes]),
        )
    return Study.of(study)


def _provenance(request: Request | MappedRequest, axes: Sequence[str]) -> dict[str, str]:
    """What is fixed; what is varied is said by the axes."""
    sizes = {loop: n for loop, n in request.nest.sizes.items() if loop not in axes}
    fixed = {name: text for name, text in request.provenance.items() if name not in axes}
    fixed["sizes"] = ",".join(f"{loop}={n}" for loop, n in sizes.items())
    title = study_title(fixed, request.several)
    return {"title": title, **{name: text for name, text in fixed.items() if text}}
