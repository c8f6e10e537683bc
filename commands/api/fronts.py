"""`ithaca.pareto`: the front of two or more objectives, every point proven."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, TypeVar

from typer import Option

from ithaca.commands.api.keywords import FamilyOptions, StatedOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.network_options import (
    NestOrNetwork,
    NetworkOptions,
    parse_proving_method,
    refuse_networks,
)
from ithaca.commands.api.options import Effort, Extents, Keeping, SearchOptions, Sizes
from ithaca.commands.api.parsing import check_sizes, parse_extents
from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.files.words import parse_integer, several, split_values
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import to_minimise
from ithaca.formulations.problem import Objective
from ithaca.studies.front import Front, check_objectives, pareto_front
from ithaca.studies.network.front import NetworkFront
from ithaca.studies.points import stated_terms
from ithaca.workloads.networks.find import is_network

T = TypeVar("T")


@public
def pareto(
    workload: NestOrNetwork,
    *,
    objectives: Annotated[
        str | Sequence[str | Objective],
        Option(
            "--objectives",
            metavar="EXPR,EXPR,...",
            help="Two or more metrics or expressions to minimise, e.g. latency,dsp.",
        ),
    ],
    sizes: Sizes = None,
    family: FamilyOptions,
    method: Annotated[
        str,
        Option(
            "--method",
            help=f"Search method: {', '.join(('auto', 'exact', *Registry[object]('provers')))}.",
        ),
    ] = "exact",
    effort: Effort,
    max_points: Annotated[
        int | None, Option("--max-points", metavar="N", help="Stop after N points.")
    ] = None,
    networks: NetworkOptions,
    keeping: Keeping,
    before: Callable[[Sequence[Objective]], None] | None = None,
    stated: StatedOptions,
    **extents: Extents,
) -> Front | NetworkFront:
    """Compute the Pareto front of several objectives, every point proven.

    Of a network the front is of totals over its layers. ``before`` hears of the objectives before
    anything is solved, and may refuse them.

    Examples
    --------
    >>> question = {"dataflow": "i,j", "divisors_only": True}
    >>> front = ithaca.pareto("mm", objectives="latency,dsp", i=4, j=4, k=4, **question)
    >>> [point.values for point in front.points]
    [(Fraction(58, 1), Fraction(10, 1)), (Fraction(89, 1), Fraction(5, 1))]
    """
    if is_network(workload):
        from ithaca.commands.api.network_studies import NetworkTerms, network_pareto

        refuse_sharing(stated)
        own_sizes = parse_extents(sizes, networks.sizes | extents)
        far = SearchOptions(effort.time_limit, effort.threads)
        terms = NetworkTerms(workload, own_sizes, networks, family, None, method, far, keeping)
        words = family.spelled_out(objectives)
        return network_pareto(terms, partial(parse_objectives, words), before)
    refuse_networks(workload, stated)
    engine, search = parse_proving_method(method), effort.options
    most = None if max_points is None else parse_integer("--max-points", max_points, least=1)
    threads = effort.workers
    own = parse_extents(sizes, networks.sizes | extents)
    nest = family.nest(workload, own)
    question = family.question(workload)
    spelled = family.spelled_out(objectives)
    try:
        minimised = parse_objectives(spelled, question.vocabulary(nest))
    except InputError:
        # what poses one alone may know why it is none
        for text in split_values(",".join(map(_text, several(spelled)))):
            try:
                replace(question, objective=question.minimised(text)).problems(nest)
            except InputError as why:
                if not str(why).startswith("--objective"):
                    raise
        raise
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
            provenance=stated_terms(question, nest),
        )


def _text(objective: str | Objective) -> str:
    """The text of an objective."""
    return objective.text if isinstance(objective, Objective) else str(objective)


def refuse_sharing(stated: StatedOptions) -> None:
    """Refuse options that fronts of networks have no meaning for."""
    if other := min(stated & {"--mode", "--arrays", "--minimise", "--fuse"}, default=None):
        raise InputError(
            f"{other} does not go with pareto of a network, whose front is the sum of its layers' "
            "own; allowed: without it, each layer within all limits"
        )
    if "--max-points" in stated:
        raise InputError(
            "--max-points does not go with networks, whose front takes all points of its layers; "
            "allowed: --time-limit"
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
