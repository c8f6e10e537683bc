"""Modes ``shared-array`` and ``multi-array``: one physical array for all layers, or several that
share the budget.

On an array, lanes, SIMD factor, port widths and buffers are the same for every layer; tile factors
are each layer's own, within them. Each of several arrays runs consecutive layers: where to cut, and
each array's design, hardware and tilings are chosen together, for the slowest array (the rate of a
stream of inputs) or for all of them one after the other (the time of one input). Both are one
search over designs, hardware and tilings together, in which workers solve layers ahead; engine and
store play no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import in_shares
from ithaca.formulations.systolic.buffering import ALL
from ithaca.formulations.systolic.channels import beside, divides_channels
from ithaca.formulations.systolic.design import fixed, systolic
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.plugins.codesign.studies.arrays.common import common_designs
from ithaca.plugins.codesign.studies.arrays.joint import ArrayStage, Joint, SequenceBounds
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.plugins.codesign.studies.arrays.stages import in_whole_shares
from ithaca.plugins.codesign.studies.arrays.together import joint_shortfalls
from ithaca.plugins.codesign.workloads.folding import fold
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.conclusion import conclude
from ithaca.solver.executors import open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.splitting import Helpers
from ithaca.studies.best import all_shortfalls
from ithaca.studies.network.layers import most_alone
from ithaca.studies.network.result import LayerResult, NetworkResult, SharedDesign, Total
from ithaca.studies.network.runner import NetworkProgress, RunOptions
from ithaca.studies.network.totals import require_one
from ithaca.workloads.networks.network import Layer, Network

SHARED_ARRAY, MULTI_ARRAY = "shared-array", "multi-array"

#: For every design the layers on it, with how often each runs.
Designs = Sequence[Sequence[tuple[Problem, int]]]

#: These, and the runs of layers in order: their numbers.
Arranged = tuple[Designs, list[int]]

#: Most runs of layers on several arrays: every pair of cuts is a stage of its own.
MOST_RUNS = 64


def solve_shared_array(
    network: Network, request: ArrayQuestion, options: RunOptions
) -> NetworkResult:
    """Find the array that serves all layers best, each layer's configuration on it, and the total
    with its lower bound.

    Raises `InputError` if the layers cannot be folded into one kernel or have no design in common,
    the objective does not add up over layers, or a limit is not on what the array decides.

    Parameters
    ----------
    network : Network
        The layers, with how often each runs.
    request : ArrayQuestion
        Designs, limits and objective.
    options : RunOptions
        How far to search, and who is told.
    """
    require_one(request.objective, f"--mode {SHARED_ARRAY}")
    network, budget = fold(network), Budget(options.search)
    arranged = on_arrays(network, request, SHARED_ARRAY)
    report = _report(options, "hardware for all layers")
    with open_executor(options.threads, options.scheduler) as workers:
        search = replace(budget.share(), helpers=Helpers(workers))
        outcome = SharedSearch(arranged[0], search, report).run()
    return answer(SHARED_ARRAY, network, request, arranged, outcome, budget)


def solve_multi_array(
    network: Network, request: ArrayQuestion, options: RunOptions
) -> NetworkResult:
    """Find the arrays that serve the layers best, each layer's configuration on its array, and the
    objective's lower bound.

    Runs of a merged layer count as neighbours; a layer whose runs are cut apart appears once per
    array. The request says how many arrays there may be, and of what they take whole shares; its
    limits are on DSP blocks and block RAM of all arrays together, and on the bandwidth (see
    `Stages`).

    Raises `InputError` if the layers cannot be folded into one kernel or are too many, the
    objective does not add up, or limits cannot be shared.

    Parameters
    ----------
    network : Network
        The layers, in their order, with how often each runs.
    request : ArrayQuestion
        Designs, limits, objective, and how many arrays there may be.
    options : RunOptions
        How far to search, and who is told.
    """
    require_one(request.objective, f"--mode {MULTI_ARRAY}")
    network, budget = fold(network), Budget(options.search)
    arranged, outcome = with_own_channels(network, request, budget, options)
    return answer(MULTI_ARRAY, network, request, arranged, outcome, budget)


def with_own_channels(
    network: Network, request: ArrayQuestion, budget: Budget, options: RunOptions
) -> tuple[Arranged, SequenceBounds]:
    """The best of any number of arrays, and layers on every design as that many arrays have them.

    Where arrays have the channels of the memory in equal parts, each number is a question of its
    own, the largest first; an answer to it of fewer arrays is a start of theirs, which have more
    channels.

    Parameters
    ----------
    network : Network
        The layers, folded into one kernel.
    request : ArrayQuestion
        The question, with all channels.
    budget : Budget
        The time of all questions together.
    options : RunOptions
        Who is told of the progress, and the workers.
    """
    questions = in_equal_parts(network, request)
    best, outcomes = None, list[SequenceBounds]()
    fewer = dict[int, tuple[ArrayStage, ...]]()
    for number, (own, arranged) in enumerate(questions):
        search = budget.share(len(questions) - number)
        rival = None if best is None else best[1].value
        outcome = several(arranged, own, search, options, rival, fewer.get(own.arrays, ()))
        outcomes.append(outcome)
        if outcome.stages and (len(outcome.stages) == own.arrays or own is questions[-1][0]):
            best = arranged, outcome
        elif outcome.stages:
            fewer[len(outcome.stages)] = outcome.stages
    arranged, known = best or (arranged, outcomes[-1])
    bounds = [each.lower_bound for each in outcomes if not each.infeasible]
    certain = [bound for bound in bounds if bound is not None]
    outcome = replace(
        known,
        lower_bound=min(certain) if certain and len(certain) == len(bounds) else None,
        infeasible=not bounds,
        examined=sum(each.examined for each in outcomes),
        seconds=budget.spent,
    )
    return arranged, outcome


def in_equal_parts(
    network: Network, request: ArrayQuestion
) -> list[tuple[ArrayQuestion, Arranged]]:
    """The question about each number of arrays that there may be, the largest first, with layers on
    every design; the question itself where arrays do not divide channels.

    Parameters
    ----------
    network : Network
        The layers, folded into one kernel.
    request : ArrayQuestion
        The question, with all channels.
    """
    if not divides_channels(request):
        return [(request, on_arrays(network, request, MULTI_ARRAY))]
    most = min(request.arrays, sum(layer.count for layer in network.layers))
    each = [(number, beside(request, number)) for number in range(most, 0, -1)]
    numbered = [replace(own, arrays=number) for number, own in each if own is not None]
    return [(own, on_arrays(network, own, MULTI_ARRAY)) for own in numbered]


def several(
    arranged: Arranged,
    request: ArrayQuestion,
    search: SolveOptions,
    options: RunOptions,
    rival: Fraction | None = None,
    start: Sequence[ArrayStage] = (),
) -> SequenceBounds:
    """The best of several arrays for layers, as far as they take less than a rival; ``options``
    say who is told, and who helps.

    Parameters
    ----------
    arranged : Arranged
        Designs and layers in order.
    request : ArrayQuestion
        What was asked.
    search : SolveOptions
        Limits of time and gap.
    options : RunOptions
        Who is told of the progress, and the workers.
    rival : Fraction, optional
        Only what takes less is of interest.
    start : sequence of ArrayStage
        Arrays to begin with; none where the search is to begin by itself.
    """
    report = _report(options, counted(request.arrays, "array"))
    with open_executor(options.threads, options.scheduler) as workers:
        own = replace(search, helpers=Helpers(workers))
        return PipelineSearch(
            *arranged, request.arrays, request.minimise, own, request.shares, report, rival, start
        ).run()


def on_arrays(network: Network, request: ArrayQuestion, mode: str) -> Arranged:
    """The layers on every design, and the runs of layers in order. Raises `InputError` as the
    modes do.

    Parameters
    ----------
    network : Network
        The layers, folded into one kernel.
    request : ArrayQuestion
        Designs, limits and objective.
    mode : str
        The name of the mode; on several arrays each run is a layer of its own.

    Returns
    -------
    Arranged
        By design, each layer's problem with its runs; and the number of the layer of each run.
    """
    for option, alone in (
        ("--two-level", request.space.two_level),
        ("--uram", request.uram),
        ("--double-buffer", request.space.double_buffer != ALL),
    ):
        if alone:
            raise InputError(
                f"{option} does not go with --mode {mode}; allowed: a nest, or an array of each "
                "layer"
            )
    layers = network.layers
    if blocks := [layer.name for layer in layers if layer.nest.sparse is not None]:
        raise InputError(
            f"block sparsity of {blocks[0]} does not go with --mode {mode}; "
            "allowed: a nest, or an array of each layer"
        )
    sequence, counts = [*range(len(layers))], [layer.count for layer in layers]
    if mode == MULTI_ARRAY:
        sequence = [number for number, count in enumerate(counts) for _ in range(count)]
        counts = [1] * len(layers)
        if len(sequence) > MOST_RUNS:
            raise InputError(
                f"--mode {mode} takes up to {MOST_RUNS} runs of layers, "
                f"{network.name} has {len(sequence)}; "
                "select with --layers"
            )
    common = common_designs(network, request, mode)
    return [list(zip(each, counts, strict=True)) for each in common], sequence


def answer(
    mode: str,
    network: Network,
    request: ArrayQuestion,
    arranged: Arranged,
    outcome: SequenceBounds,
    budget: Budget,
) -> NetworkResult:
    """The answer of a network from what is known of its arrays.

    Parameters
    ----------
    mode : str
        The mode.
    network : Network
        The network.
    request : ArrayQuestion
        What was asked.
    arranged : Arranged
        Designs and layers in order.
    outcome : Outcome
        The best arrays known, and bounds.
    budget : Budget
        The time that is left.
    """
    (designs, sequence), total = arranged, total_of(outcome)
    complete = outcome.infeasible or budget.options.gap_is_met(outcome.value, outcome.lower_bound)
    layers: list[LayerResult] = []
    for number, stage in enumerate(outcome.stages):
        runs, problems = sequence[stage.first : stage.end], designs[stage.design]
        members = sorted(set(runs))
        counts = [runs.count(n) * problems[n][1] for n in members]
        parts = [
            replace(network.layers[n], count=count)
            for n, count in zip(members, counts, strict=True)
        ]
        layers += _on_array(parts, [problems[n][0] for n in members], stage.joint, number)
    if not layers:
        layers = none_alone(network, request, arranged, total, budget)
    return NetworkResult(
        mode,
        replace(network, layers=tuple(r.layer for r in layers)),
        request,
        "exact",
        tuple(layers),
        total,
        complete,
        _compared(network, designs, outcome),
    )


def _compared(
    network: Network, designs: Designs, outcome: SequenceBounds
) -> tuple[SharedDesign, ...]:
    """Every design with what is proven of it, the best first; only the chosen one has a value, that
    of the array."""
    names = tuple(layer.name for layer in network.layers)
    best = [stage.design for stage in outcome.stages]
    compared = []
    for number, (layers, known) in enumerate(zip(designs, outcome.designs, strict=False)):
        array, chosen = systolic(layers[0][0]).array, number in best
        compared.append(
            SharedDesign(
                network.layers[0].nest.name,
                array.dataflow,
                array.permutation,
                all(systolic(problem).array.buildable for problem, _ in layers),
                names,
                total_of(replace(known, value=outcome.value if chosen else None)),
                chosen,
                chosen and outcome.lower_bound == outcome.value,
            )
        )
    return tuple(
        sorted(
            compared,
            key=lambda design: (
                not design.chosen,
                design.total.certificate.lower_bound or Fraction(0),
            ),
        )
    )


def _report(options: RunOptions, what: str) -> Callable[[Progress], None]:
    def report(progress: Progress) -> None:
        if options.report is not None:
            options.report(NetworkProgress(0, 1, 0, what, progress))

    return report


def total_of(outcome: SequenceBounds) -> Total:
    """A total with its certificate; the engine is exact."""
    certificate = conclude(
        outcome.value,
        outcome.lower_bound,
        complete=outcome.infeasible,
        method="exact",
        nodes=outcome.examined,
        seconds=outcome.seconds,
    )
    return Total(outcome.value, certificate)


def none_alone(
    network: Network, request: ArrayQuestion, arranged: Arranged, total: Total, budget: Budget
) -> list[LayerResult]:
    """The layers of a network for which there is no array; of those that cannot run alone, why, and
    which limits they do not meet together.

    Parameters
    ----------
    network : Network
        The layers.
    request : ArrayQuestion
        What was asked.
    arranged : Arranged
        Designs and layers in order.
    total : Total
        What is proven of all together.
    budget : Budget
        How far to search for what a limit would have to be.
    """
    certificate = Certificate(
        total.certificate.status, None, None, total.certificate.method, 0, 0.0
    )
    layers, limits = [], {limit.metric: limit.bound for limit in request.limits}
    (designs, sequence), none = arranged, certificate.status is Status.INFEASIBLE
    whole = in_whole_shares(designs, request.shares)
    for number, layer in enumerate(network.layers):
        problems = [design[number][0] for design in whole]
        falls = all_shortfalls(problems, budget) if none else ()
        falls = tuple(
            replace(
                fall,
                bound=limits[fall.metric],
                smallest=fall.smallest
                and in_shares(fall.smallest, request.shares.get(fall.metric)),
            )
            for fall in falls
        )
        feasible = any(
            fall.smallest is not None and fall.smallest <= fall.bound for fall in falls
        )  # on some design, alone
        layers.append(
            LayerResult(
                layer, Solution(problems[0], None, None, certificate, () if feasible else falls)
            )
        )
    ended = certificate.status is Status.UNKNOWN and not budget.over
    if len(layers) > 1 and (none or ended):
        alone = most_alone(layer.answer for layer in layers)
        falls = joint_shortfalls(designs, sequence, request, budget.share(), alone, infeasible=none)
        layers = [
            replace(
                layer,
                answer=replace(layer.answer, shortfalls=(*layer.answer.shortfalls, *falls)),
            )
            for layer in layers
        ]
    return layers


def _on_array(
    layers: Sequence[Layer], problems: Sequence[Problem], joint: Joint, number: int
) -> list[LayerResult]:
    """The layers of one array: what is proven is proven of the whole, not of a layer."""
    certificate = Certificate(Status.FEASIBLE, None, None, "exact", 0, 0.0)
    on_array = (problem.with_design(hardware=fixed(joint.hardware)) for problem in problems)
    return [
        LayerResult(layer, make_solution(problem, configuration, certificate), array=number)
        for layer, problem, configuration in zip(
            layers, on_array, joint.configurations, strict=True
        )
    ]
