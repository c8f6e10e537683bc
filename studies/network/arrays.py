"""Modes ``shared-array`` and ``multi-array``: one physical array for all layers, or several that
share the budget.

On an array, lanes, SIMD factor, port widths and buffers are the same for every layer; tile factors
are each layer's own, within them. Each of several arrays runs consecutive layers: where to cut, and
each array's design, hardware and tilings are chosen together, for the slowest array (the rate of a
stream of inputs) or for all of them one after the other (the time of one input). Both are one
search over designs, hardware and tilings together; engine, threads and store play no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import InputError
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import fixed, systolic
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import Budget
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution, make_solution
from ithaca.studies.best import all_shortfalls
from ithaca.studies.network.modes import MULTI_ARRAY, SHARED_ARRAY
from ithaca.studies.network.problems import NetworkRequest, common_designs
from ithaca.studies.network.result import LayerResult, NetworkResult, SharedDesign, Total
from ithaca.studies.network.runner import RunOptions, RunState
from ithaca.studies.network.totals import require_sum
from ithaca.studies.shared.joint import Joint
from ithaca.studies.shared.pipeline import PipelineSearch
from ithaca.studies.shared.search import SharedOutcome, SharedSearch
from ithaca.workloads.networks.folding import fold
from ithaca.workloads.networks.network import Layer, Network

#: For every design the layers on it, with how often each runs.
Designs = Sequence[Sequence[tuple[Problem, int]]]

#: Most runs of layers on several arrays: every pair of cuts is a stage of its own.
MOST_RUNS = 64


def solve_shared_array(
    network: Network, request: NetworkRequest, options: RunOptions
) -> NetworkResult:
    """Find the array that serves all layers best, each layer's configuration on it, and the total
    with its lower bound.

    Raises `InputError` if the layers cannot be folded into one kernel or have no design in common,
    the objective does not add up over layers, or a limit is not on what the array decides.
    """
    require_sum(request.objective, f"--mode {SHARED_ARRAY}")
    network, budget = fold(network), Budget(options.search)
    designs, _ = on_one_array(network, request)
    found = SharedSearch(designs, options.search, _report(options, "hardware for all layers")).run()
    value = None if found.best is None else found.best.value
    total = _total(
        value, found.lower_bound, found.hardware, found.seconds, infeasible=found.infeasible
    )
    complete = found.infeasible or options.search.gap_is_met(value, found.lower_bound)
    choices = _compared(network, designs, found)
    if found.best is None or found.design is None:
        nothing = none_alone(network, designs, total, budget)
        return NetworkResult(
            SHARED_ARRAY, network, request, "exact", nothing, total, complete, choices
        )
    layers = _on_array(
        network.layers, [problem for problem, _ in designs[found.design]], found.best, 0
    )
    return NetworkResult(
        SHARED_ARRAY, network, request, "exact", tuple(layers), total, complete, choices
    )


def solve_multi_array(
    network: Network, request: NetworkRequest, options: RunOptions
) -> NetworkResult:
    """Find the arrays that serve the layers best, each layer's configuration on its array, and the
    objective's lower bound.

    Runs of a merged layer count as neighbours; a layer whose runs are cut apart appears once per
    array. The request says how many arrays there may be, and of what they take whole shares; its
    limits are on DSP blocks and block RAM of all arrays together, and on the bandwidth (see
    `Stages`). Where arrays at their best move more at the same time than that, arrays that each
    keep to an even part of it are looked for, too; the bound is without that.

    Raises `InputError` if the layers cannot be folded into one kernel or are too many, the
    objective does not add up, or limits cannot be shared.
    """
    require_sum(request.objective, f"--mode {MULTI_ARRAY}")
    network, budget = fold(network), Budget(options.search)
    designs, sequence, report = (
        *staged(network, request),
        _report(options, f"{request.arrays} arrays"),
    )

    def search(designs: Designs, shares: Mapping[str, Fraction]) -> PipelineSearch:
        return PipelineSearch(
            designs, sequence, request.arrays, request.minimise, budget.share(), shares, report
        )

    first = search(designs, request.shares)
    found = first.run()
    if first.exceeded and found.value != found.lower_bound and not budget.over:
        even = {
            x.metric: x.bound / request.arrays for x in request.limits if x.metric == "bandwidth"
        }
        limits = tuple(replace(x, bound=even.get(x.metric, x.bound)) for x in request.limits)
        other = search(
            staged(network, replace(request, limits=limits))[0], {**request.shares, **even}
        ).run()
        if other.value is not None and (found.value is None or other.value < found.value):
            found = replace(found, stages=other.stages, value=other.value)
    total = _total(
        found.value, found.lower_bound, found.plans, found.seconds, infeasible=found.infeasible
    )
    complete = found.infeasible or options.search.gap_is_met(found.value, found.lower_bound)
    if found.value is None:
        return NetworkResult(
            MULTI_ARRAY,
            network,
            request,
            "exact",
            none_alone(network, designs, total, budget),
            total,
            complete,
        )
    layers: list[LayerResult] = []
    for number, stage in enumerate(found.stages):
        runs = sequence[stage.first : stage.end]
        members = sorted(set(runs))
        parts = [replace(network.layers[n], count=runs.count(n)) for n in members]
        problems = [designs[stage.design][n][0] for n in members]
        layers += _on_array(parts, problems, stage.joint, number)
    shown = replace(network, layers=tuple(r.layer for r in layers))
    return NetworkResult(MULTI_ARRAY, shown, request, "exact", tuple(layers), total, complete)


def on_one_array(network: Network, request: NetworkRequest) -> tuple[Designs, list[int]]:
    """The layers on every design, and their order. Raises `InputError` as `solve_shared_array`
    does."""
    counts = [layer.count for layer in network.layers]
    designs = [
        list(zip(each, counts, strict=True))
        for each in common_designs(network, request, SHARED_ARRAY)
    ]
    return designs, [*range(len(counts))]


def staged(network: Network, request: NetworkRequest) -> tuple[Designs, list[int]]:
    """The layers on every design, and the runs of layers in order. Raises `InputError` as
    `solve_multi_array` does."""
    sequence = [number for number, layer in enumerate(network.layers) for _ in range(layer.count)]
    if len(sequence) > MOST_RUNS:
        raise InputError(
            f"--mode {MULTI_ARRAY} takes up to {MOST_RUNS} runs of layers, "
            f"{network.name} has {len(sequence)}; "
            "select with --layers"
        )
    return [
        [(problem, 1) for problem in each] for each in common_designs(network, request, MULTI_ARRAY)
    ], sequence


def _compared(network: Network, designs: Designs, found: SharedOutcome) -> tuple[SharedDesign, ...]:
    """What is proven of every design, the best first; only the chosen one has a value, that of the
    array."""
    names = tuple(layer.name for layer in network.layers)
    best = None if found.best is None else found.best.value
    compared = []
    for number, (layers, known) in enumerate(zip(designs, found.designs, strict=True)):
        array, chosen = systolic(layers[0][0]).array, number == found.design
        compared.append(
            SharedDesign(
                network.layers[0].nest.name,
                array.dataflow,
                array.permutation,
                all(systolic(problem).array.buildable for problem, _ in layers),
                names,
                _total(
                    best if chosen else None,
                    known.lower_bound,
                    known.hardware,
                    found.seconds,
                    infeasible=known.infeasible,
                ),
                chosen,
                chosen and found.lower_bound == best,
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
            options.report(RunState(0, 1, 0, what, progress))

    return report


def _total(
    value: Fraction | None,
    bound: Fraction | None,
    nodes: int,
    seconds: float,
    *,
    infeasible: bool = False,
) -> Total:
    """A total with its certificate; the engine is exact."""
    found = None if infeasible else value
    return Total(
        found,
        conclude(found, bound, complete=infeasible, method="exact", nodes=nodes, seconds=seconds),
    )


def none_alone(
    network: Network, designs: Designs, total: Total, budget: Budget
) -> tuple[LayerResult, ...]:
    """The layers of a network for which there is no array; of those that cannot run alone, why."""
    certificate = Certificate(
        total.certificate.status, None, None, total.certificate.method, 0, 0.0
    )
    layers = []
    for number, layer in enumerate(network.layers):
        problems = [design[number][0] for design in designs]
        falls = all_shortfalls(problems, budget) if certificate.status is Status.INFEASIBLE else ()
        feasible = any(
            fall.smallest is not None and fall.smallest <= fall.bound for fall in falls
        )  # on some design, alone
        layers.append(
            LayerResult(
                layer, Solution(problems[0], None, None, certificate, () if feasible else falls)
            )
        )
    return tuple(layers)


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
