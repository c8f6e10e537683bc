"""`ithaca.codesign`: the best accelerator of a hardware space for some workloads, proven over the
whole space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ithaca.commands.api.fronts import split_objectives
from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import searching
from ithaca.commands.api.normalising import is_normalised, normalised
from ithaca.commands.api.options import Fuse, Keeping, LayerPatterns, Scheduler, SearchOptions
from ithaca.commands.api.parsing import check_sizes, parse_sizes
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.reading import is_there
from ithaca.files.registry import Registry
from ithaca.files.words import REPEATED, parse_choice, parse_integer, several
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.goals import parse_requirements
from ithaca.formulations.limits import parse_limits
from ithaca.formulations.own_metrics import (
    check_expressions,
    check_names,
    parse_metrics,
    spelled_out,
)
from ithaca.formulations.question_kind import RARE, Limits, Metrics
from ithaca.plugins.codesign.commands.study import CodesignStudy, run_codesign_study
from ithaca.plugins.codesign.formulations.files import find_space, read_space
from ithaca.plugins.codesign.formulations.space import HardwareSpace
from ithaca.plugins.codesign.studies import codesign as searches
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, make_bank
from ithaca.plugins.codesign.studies.methods import HARDWARE_SEARCHES, search_hardware
from ithaca.plugins.codesign.studies.question import CodesignQuestion, make_question
from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.plugins.codesign.studies.workloads import Workload, find_workloads, weighted
from ithaca.solver.certificate import Certificate
from ithaca.solver.options import Budget, SolveOptions
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.study import NetworkStudy
from ithaca.workloads.library import read_nest, workload_names

#: What is minimised unless the space or an option says otherwise.
OBJECTIVE = "edp"

#: The search by boxes alone, and how many accelerators another one looks at before it.
PROOF, TRIALS = "proof", 40

#: Searches that share out a whole device, where a family's accelerators are its parts.
DEVICE_SEARCHES: Registry[Callable[..., Any]] = Registry("device searches")

#: The others, which know an accelerator only by what it costs.
_BLIND = [name for name in HARDWARE_SEARCHES if name != "explained"]


@public
def codesign(
    space: Annotated[
        str | PathLike[str] | HardwareSpace | Mapping[str, Any],
        Argument(
            metavar="SPACE|FILE",
            help="A hardware space that comes with Ithaca (ithaca list spaces), or a file: .yaml.",
        ),
    ],
    workloads: Annotated[
        Workload | Sequence[Workload] | Mapping[Any, float | str] | None,
        Argument(
            metavar="NAME[:WEIGHT]",
            help="Networks, files of layers, or loop nests, and what each counts; "
            "default: the space's own.",
        ),
        REPEATED,
    ] = None,
    *,
    workload: Annotated[
        Workload | Sequence[Workload] | Mapping[Any, float | str] | None,
        Option(
            "--workload",
            "-w",
            metavar="NAME[:WEIGHT]",
            rich_help_panel=RARE,
            help="A workload, as an option (repeatable).",
        ),
        REPEATED,
    ] = None,
    sizes: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--sizes",
            "-s",
            metavar="LOOP=N,...",
            help="Extents of loop nests, e.g. i=1024,j=1024,k=1024.",
        ),
        REPEATED,
    ] = None,
    layers: LayerPatterns = None,
    objective: Annotated[
        str | None,
        Option(
            "--objective",
            help="Expression to minimise, over metrics of layers and of the hardware.",
        ),
    ] = None,
    objectives: Annotated[
        str | Sequence[str] | None,
        Option(
            "--objectives",
            help="Two or more expressions, for their front, e.g. latency,energy,area.",
        ),
    ] = None,
    limit: Annotated[
        Limits,
        Option(
            "--limit",
            help="Upper limits on the hardware, or on totals of each "
            "workload, e.g. area=75mm2,power=4W,latency=2e7.",
        ),
        REPEATED,
    ] = None,
    require: Annotated[
        str | Sequence[str] | None,
        Option(
            "--require",
            metavar="RULE",
            help="Comparison that must hold, e.g. 'spm_kb >= 2*rf_bytes' (repeatable).",
        ),
        REPEATED,
    ] = None,
    metric: Metrics = None,
    divisors_only: Annotated[
        bool, Option("--divisors-only", help="Only factors that divide the extents (no padding).")
    ] = False,
    fuse: Fuse = False,
    vary: Annotated[
        Mapping[str, Sequence[Any]] | Sequence[str] | None,
        Option(
            "--vary",
            help="What-if study: limits (area=50,75), weights (weight.resnet18=1,2), "
            "objective, or quantities of the space.",
        ),
        REPEATED,
    ] = None,
    method: Annotated[
        str,
        Option(
            "--method",
            help="proof alone, or after a search: explained (tells its steps), "
            f"{' or '.join(filter(None, (', '.join(_BLIND[:-1]), _BLIND[-1])))}.",
        ),
    ] = PROOF,
    trials: Annotated[
        int | None,
        Option(
            "--trials", metavar="N", help=f"Accelerators that --method tries. Default: {TRIALS}."
        ),
    ] = None,
    search: SearchOptions,
    scheduler: Scheduler = None,
    keeping: Keeping,
) -> CodesignResult | CodesignStudy | NetworkResult | NetworkStudy:
    """Choose an accelerator and every layer's mapping together, and prove that no other of the
    space is better.

    Examples
    --------
    >>> sizes = {"i": 4, "j": 4, "k": 4}
    >>> ithaca.codesign("dmazerunner-memory", "mm", sizes=sizes, divisors_only=True)
    <CodesignResult: dmazerunner-memory for mm: sum(edp) 1,883,760 (optimal)>
    """
    chosen_space = (
        space
        if isinstance(space, HardwareSpace)
        else read_space(space, "space")
        if isinstance(space, Mapping)
        else find_space(str(space))
    )
    if divisors_only:
        chosen_space = _without_padding(chosen_space)
    if metric:
        names = parse_metrics(metric)
        check_names(names, chosen_space.vocabulary)
        check_expressions(names, chosen_space.vocabulary)
        objective, objectives, limit, require = (
            spelled_out(words, names) for words in (objective, objectives, limit, require)
        )
    required = parse_requirements(require)
    if workload and workloads:
        raise InputError("--workload is given beside workloads; allowed: one of them")
    own = workloads or workload or _beside(space, chosen_space.workloads)
    named = [own] if not isinstance(own, Sequence | Mapping) or isinstance(own, str) else own
    extents = parse_sizes(sizes or {})
    own_search = DEVICE_SEARCHES.get(chosen_space.accelerator.family)
    if own_search is not None:
        refused = {
            "--results": keeping.results,
            "--recheck": keeping.recheck,
            "--trust-results": keeping.trust_results,
            "--scheduler": scheduler,
            "--method": method != PROOF,
            "--require": required,
        }
        if ignored := [name for name, value in refused.items() if value]:
            raise InputError(
                f"{ignored[0]} does not go with space {chosen_space.name}; allowed: "
                f"one search, without {ignored[0]}"
            )
        split: NetworkResult | NetworkStudy = own_search(
            chosen_space,
            named,
            several(layers),
            extents,
            _minimised(chosen_space, objective, objectives),
            {**chosen_space.limits, **parse_limits(limit or [], chosen_space.metrics)},
            vary,
            search.options,
            fuse=fuse,
        )
        return split
    if fuse:
        raise InputError(
            f"--fuse does not go with space {chosen_space.name}; allowed: spaces of systolic arrays"
        )
    minimised = _minimised(chosen_space, objective, objectives)
    works = find_workloads(named, several(layers), extents)
    bounds = _limits(chosen_space, limit) | required
    options = CodesignOptions(search.options, threads=search.on(scheduler), scheduler=scheduler)
    if len(minimised) == 1 and is_normalised(minimised[0]):
        if vary:
            raise InputError("--vary does not go with norm(); allowed: an objective without it")
        whole = Budget(options.search)

        def optimum(text: str, share: SolveOptions) -> tuple[Fraction | None, Certificate]:
            alone = make_question(chosen_space, works, [text], bounds)
            answer = searches.codesign(alone, replace(options, search=share))
            return answer.value, answer.certificate

        minimised = (normalised(minimised[0], optimum, whole),)
        options = replace(options, search=whole.share())
    question = make_question(chosen_space, works, minimised, bounds)
    nests = [name for name, _ in weighted(named) if name in workload_names()]
    for name in nests:
        check_sizes(name, read_nest(name), extents)
    if vary and (method != PROOF or len(question.objectives) > 1):
        raise InputError(
            "--vary does not go with --method or --objectives; allowed: "
            "with one objective, and the proof"
        )
    if method != PROOF and question.minimised[0].factors is not None:
        text = question.objectives[0].text
        raise InputError(
            f"--method {method} does not go with '{text}' over {len(question.works)} layers, "
            f"which is no sum; allowed: sum({text}), or the proof"
        )
    if trials is not None and method == PROOF:
        raise InputError(
            "--trials goes with --method only, as the proof looks at "
            "what it needs; allowed: without it"
        )
    many = TRIALS if trials is None else parse_integer("--trials", trials, least=1)
    among = f"choosing among {question.space.box.count:,} accelerators"
    with (
        keeping.store(options.search) as store,
        searching(among, options.search) as (stoppable, line),
    ):
        budget = Budget(stoppable)
        options = replace(
            options,
            store=store,
            report=lambda progress: line.show(question.space.name, progress),
        )
        bank, starts, trail = (
            make_bank(question, options),
            tuple[Configuration, ...](),
            tuple[str, ...](),
        )
        if vary:

            def solve(varied: CodesignQuestion) -> CodesignResult:
                return searches.codesign(varied, replace(options, search=budget.share()), bank)

            return run_codesign_study(question, vary, solve)
        if method != PROOF:
            name, seed = (
                parse_choice("--method", method, (PROOF, *HARDWARE_SEARCHES)),
                search.options.seed,
            )
            trace = search_hardware(name, question, bank, many, seed, lambda: budget.over)
            starts, trail = (
                tuple(each.point for each in trace.evaluations if each.feasible),
                trace.trail,
            )
        answer = searches.codesign(
            question, replace(options, search=budget.share(), starts=starts), bank
        )
    return replace(answer, trail=trail)


def _beside(space: object, workloads: Sequence[str]) -> tuple[str, ...]:
    """Workloads that a space names; files stand beside that of the space."""
    beside = Path(str(space)).parent
    return tuple(
        str(beside / name) if is_there(beside / name, Path.is_file) else name for name in workloads
    )


def _without_padding(space: HardwareSpace) -> HardwareSpace:
    accelerator = space.accelerator.dividing()
    if accelerator is None:
        raise InputError(
            f"--divisors-only does not go with space {space.name}; "
            "allowed: spaces of memory hierarchies"
        )
    return replace(space, accelerator=accelerator)


def _minimised(
    space: HardwareSpace, one: str | None, several: str | Sequence[str] | None
) -> tuple[str, ...]:
    """The objectives asked for, or else the space's own."""
    if several is None:
        return ((space.objective or OBJECTIVE) if one is None else one,)
    if one is not None:
        raise InputError("--objective and --objectives are given; allowed: one of them")
    texts = split_objectives(several)
    if len(texts) < 2:
        raise InputError(
            f"--objectives is {quoted(','.join(texts))}; allowed: two or more, e.g. latency,area"
        )
    return tuple(texts)


def _limits(space: HardwareSpace, changes: Limits) -> dict[str, Fraction]:
    """The space's limits with those given in their place; ``none`` drops one."""
    limits: dict[str, Fraction] = dict(space.limits)
    for name, bound in parse_limits(changes or [], space.metrics).items():
        if bound is None:
            if name not in limits:
                raise InputError(
                    f"--limit: {quoted(name)} is none, but space {space.name} states no limit of "
                    f"that name; allowed: none for {', '.join(limits) or 'nothing'}"
                )
            del limits[name]
        elif isinstance(bound, Fraction):
            limits[name] = bound
        else:
            raise InputError(
                f"--limit: {quoted(name)} is a share; allowed: a number, as "
                "spaces have no totals to share"
            )
    return limits
