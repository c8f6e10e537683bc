"""Mode ``multi-array``: several arrays share the budget, each runs consecutive layers.

Where to cut, and each array's design, hardware and tilings are chosen together, for the slowest array (the rate of a
stream of inputs) or for all of them one after the other (the time of one input).
"""

from __future__ import annotations

from ithaca.solver.progress import Progress
from ithaca.studies.network.joint_results import array_of, layer_on, nothing, total_of
from ithaca.studies.network.problems import common_designs
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import ArrayResult, LayerResult, NetworkResult
from ithaca.studies.network.runner import RunOptions, RunState
from ithaca.studies.network.totals import require_sum
from ithaca.studies.shared.pipeline import PipelineSearch
from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.network import Layer, Network

MODE = "multi-array"

#: Most runs of layers: every pair of cuts is a stage of its own.
MOST_RUNS = 64


def solve_multi_array(network: Network, request: NetworkRequest, options: RunOptions) -> NetworkResult:
    """Find the arrays that serve the layers best.

    Parameters
    ----------
    network : Network
        The layers, of one kernel, in order; runs of a merged layer count as neighbours.
    request : NetworkRequest
        What is asked; ``arrays`` is the most arrays there may be. Limits are on DSP blocks and block RAM of all
        arrays together.
    options : RunOptions
        Time limit, gap and stop of the one search that this mode is; engine, threads and store play no part.

    Returns
    -------
    NetworkResult
        The arrays, each layer's configuration on its array (a merged layer whose runs are cut apart appears once per
        array), and the objective of the slowest array or of all with its lower bound.

    Raises
    ------
    InputError
        If the layers are not of one kernel or too many, the objective does not add up, or limits cannot be shared.
    """
    require_sum(request.objective, f"--mode {MODE}")
    designs = common_designs(network, request, MODE)
    sequence = [number for number, layer in enumerate(network.layers) for _ in range(layer.count)]
    if len(sequence) > MOST_RUNS:
        raise InputError(
            f"--mode {MODE} takes up to {MOST_RUNS} runs of layers, {network.name} has {len(sequence)}; select with --layers"
        )

    def report(progress: Progress) -> None:
        if options.report is not None:
            options.report(RunState(0, 1, 0, f"{request.arrays} arrays", progress))

    pairs = [tuple((problem, 1) for problem in design) for design in designs]
    outcome = PipelineSearch(pairs, sequence, request.arrays, request.minimise, options.search, report).run()
    total = total_of(outcome.value, outcome.lower_bound, outcome.plans, outcome.seconds)
    complete = options.search.gap_is_met(outcome.value, outcome.lower_bound)
    if outcome.value is None:
        return NetworkResult(MODE, network, request, "exact", nothing(network, request, total), total, complete)
    layers: list[LayerResult] = []
    arrays: list[ArrayResult] = []
    for number, stage in enumerate(outcome.stages):
        runs = sequence[stage.first : stage.end]
        members = [_part(network.layers[n], runs.count(n)) for n in sorted(set(runs))]
        problems = [designs[stage.design][n] for n in sorted(set(runs))]
        layers += [
            layer_on(layer, p, stage.joint, i, number) for i, (layer, p) in enumerate(zip(members, problems, strict=True))
        ]
        own = total_of(stage.joint.value, None, 0, 0.0)
        arrays.append(array_of(problems[0], stage.joint, members, own))
    shown = Network(network.name, tuple(r.layer for r in layers), network.description, network.unsupported, network.parameters)
    return NetworkResult(MODE, shown, request, "exact", tuple(layers), total, complete, arrays=tuple(arrays))


def _part(layer: Layer, count: int) -> Layer:
    """Some of a layer's runs."""
    return layer if count == layer.count else Layer(layer.name, layer.nest, count, layer.sources)
