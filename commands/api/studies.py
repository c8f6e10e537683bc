"""`ithaca.whatif`: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.keywords import FamilyOptions, StatedOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.network_options import (
    NestOrNetwork,
    NetworkOptions,
    parse_steady_method,
    refuse_networks,
)
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    Keeping,
    Objective,
    SearchOptions,
    Sizes,
    SteadyMethod,
)
from ithaca.commands.api.parsing import check_sizes, parse_extents
from ithaca.commands.api.vary import parse_variations, varied
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.words import REPEATED, parse_number
from ithaca.formulations.families import QUESTION_KINDS
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.studies.grid import StudyAxis
from ithaca.studies.network.study import NetworkStudy
from ithaca.studies.points import places_text, stated_terms, study_title
from ithaca.studies.whatif import Study, run_study
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.find import is_network

#: A percentage may have its sign.
PERCENT = {"%": 1}

#: What is said where nothing is varied.
NOTHING = "nothing to study; allowed: --vary NAME=VALUE,… or --marginal PERCENT or both"


@public
def whatif(
    workload: NestOrNetwork,
    *,
    sizes: Sizes = None,
    vary: Annotated[
        Mapping[str, Sequence[Any]] | Sequence[str] | None,
        Option(
            "--vary",
            help="Vary a size (i=256,512), a limit (dsp=2000,4000), "
            "platform, dtype, edition, objective, "
            "permutation (A,C), dataflow (i,j:i,k), what it is for "
            "(for=none,autosa), or a figure of --arch "
            "(GLB.words=16384,32768); of networks batch, phase, mode. Several: a grid.",
        ),
        REPEATED,
    ] = None,
    marginal: Annotated[
        float | None,
        Option(
            "--marginal",
            metavar="PERCENT",
            help="Prove what raising each limit by this much would gain.",
        ),
    ] = None,
    price: Annotated[
        Mapping[str, float] | Sequence[str] | None,
        Option(
            "--price",
            metavar="NAME=N",
            help="Prices of varied platforms, in a unit of yours: u250=9000,u55c=4400.",
        ),
        REPEATED,
    ] = None,
    networks: NetworkOptions,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    method: SteadyMethod = None,
    search: SearchOptions,
    keeping: Keeping,
    before: Callable[[Sequence[StudyAxis]], None] | None = None,
    stated: StatedOptions,
    **extents: Extents,
) -> Study | NetworkStudy:
    """Prove the best configuration over sizes, limits, platforms and so on.

    Of a network every point is what `ithaca.network` answers. ``before`` hears of the axes before
    anything is solved, and may refuse them.

    Examples
    --------
    >>> question = {"dataflow": "i,j", "divisors_only": True}
    >>> study = ithaca.whatif("mm", vary="dsp=5,40", i=4, j=4, k=4, **question)
    >>> list(study.to_dataframe()["value"])
    [89.0, 58.0]
    """
    percent = None
    if marginal is not None:
        share = str(marginal).replace(" %", "%")
        percent = Fraction(repr(parse_number("--marginal", share, positive=True, units=PERCENT)))
    if not vary and percent is None:
        raise InputError(NOTHING)
    own = parse_extents(sizes, networks.sizes | extents)
    if is_network(workload):
        from ithaca.commands.api.network_studies import NetworkTerms, network_whatif

        terms = NetworkTerms(workload, own, networks, family, objective, method, search, keeping)
        return network_whatif(terms, vary or {}, percent, price, before)
    refuse_networks(workload, stated)
    if price:
        what = f"--price goes with networks, not {quoted(str(workload))}"
        raise InputError(f"{what}; allowed: without it")
    engine, options, threads = (
        parse_steady_method(method, search.time_limit),
        search.options,
        search.workers,
    )
    nest = family.nest(workload, own)
    question = family.question(workload, objective)
    named = (name for name in question.variables if f"--{name}" in family.stated.values())
    selector = QUESTION_KINDS[family.family(workload)].selector
    fixed = {*own, *question.bounds, *(name for name in named if f"--{name}" != selector)}
    variations = parse_variations(vary or {}, question, nest, fixed)
    check_sizes(workload, nest, {*own, *(v.axis.name for v in variations)})
    axes = [v.axis for v in variations]
    if before is not None:
        before(axes)
    for remark in question.remarks(nest):
        note(remark)

    def pose(values: Mapping[str, Any]) -> Sequence[Problem]:
        one, own_sizes = varied(question, variations, values)
        return one.problems(nest.with_sizes(own_sizes))

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
            provenance=_provenance(question, nest, axes),
        )


def _provenance(question: Question, nest: LoopNest, axes: Sequence[StudyAxis]) -> dict[str, str]:
    """The fixed parts of a study's question by name, with a title; the varied ones are stated by
    the axes."""
    names = {axis.name for axis in axes}
    sizes = {loop: n for loop, n in nest.sizes.items() if loop not in names}
    fixed = {name: text for name, text in stated_terms(question, nest).items() if name not in names}
    fixed["sizes"] = ",".join(f"{loop}={n}" for loop, n in sizes.items())
    title = study_title(fixed, places_text(axes, question.places))
    return {"title": title, **{name: text for name, text in fixed.items() if text}}
