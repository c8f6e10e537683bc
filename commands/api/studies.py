"""`ithaca.whatif`: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    Keeping,
    Objective,
    SearchOptions,
    Sizes,
    SteadyMethod,
    Workload,
)
from ithaca.commands.api.parsing import check_sizes, parse_extents, parse_steady_method
from ithaca.commands.api.vary import parse_variations, varied
from ithaca.files.errors import InputError
from ithaca.files.words import REPEATED, parse_number
from ithaca.formulations.families import QUESTION_KINDS
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.studies.grid import StudyAxis
from ithaca.studies.titles import study_title
from ithaca.studies.whatif import Study, run_study
from ithaca.workloads.nest import LoopNest


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
    keeping: Keeping,
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
    selector = QUESTION_KINDS[family.family(workload)].selector
    fixed = {*own, *question.bounds, *(name for name in named if f"--{name}" != selector)}
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

    count = prod(len(axis.values) for axis in axes)
    with (
        keeping.store(options) as store,
        searching("building problems", options) as (stoppable, line),
    ):
        return run_study(
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


def _provenance(question: Question, nest: LoopNest, axes: Sequence[str]) -> dict[str, str]:
    """The fixed parts of a study's question by name, with a title; the varied ones are stated by
    the axes."""
    sizes = {loop: n for loop, n in nest.sizes.items() if loop not in axes}
    fixed = {name: text for name, text in question.provenance(nest).items() if name not in axes}
    fixed["sizes"] = ",".join(f"{loop}={n}" for loop, n in sizes.items())
    title = study_title(fixed, f"several {question.places}")
    return {"title": title, **{name: text for name, text in fixed.items() if text}}
