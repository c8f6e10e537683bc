"""`ithaca.pareto`: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, TypeVar

from typer import Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.options import Effort, Extents, Keeping, Sizes, Workload
from ithaca.commands.api.parsing import check_sizes, parse_extents, parse_proving_method
from ithaca.files.errors import InputError
from ithaca.files.words import parse_integer, split_values
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import to_minimise
from ithaca.formulations.problem import Objective
from ithaca.studies.front import Front, check_objectives, pareto_front

T = TypeVar("T")


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
    keeping: Keeping,
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
    spelled = family.spelled_out(objectives)
    minimised = parse_objectives(spelled, question.vocabulary(nest))
    question = replace(question, objective=minimised[0])
    for remark in question.remarks(nest):
        note(remark)
    problems = question.problems(nest)
    check_sizes(workload, nest, own)
    if before is not None:
        before(minimised)
    with (
        keeping.store(search) as store,
        searching("building problems", search) as (stoppable, line),
    ):
        return pareto_front(
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


def parse_objectives(
    objectives: str | Sequence[str | Objective], vocabulary: Mapping[str, Metric]
) -> tuple[Objective, ...]:
    """Read ``--objectives``: expressions over metrics, separated by commas outside parentheses."""
    parts = split_objectives(objectives)
    try:
        wanted = [to_minimise(p, vocabulary) if isinstance(p, str) else p for p in parts]
        return check_objectives(wanted, vocabulary)
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
