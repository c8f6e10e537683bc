"""Mode ``shared-array``: one physical array for all layers.

Lanes, SIMD factor, port widths and buffers are the same for every layer; tile factors are each layer's own, within
them. The total is minimised over designs, hardware and tilings together.
"""

from __future__ import annotations

from ithaca.solver.progress import Progress
from ithaca.studies.network.joint_results import array_of, layer_on, nothing, total_of
from ithaca.studies.network.problems import common_designs
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions, RunState
from ithaca.studies.network.totals import require_sum
from ithaca.studies.shared.search import SharedSearch
from ithaca.workloads.networks.network import Network

MODE = "shared-array"


def solve_shared_array(network: Network, request: NetworkRequest, options: RunOptions) -> NetworkResult:
    """Find the array that serves all layers best.

    Parameters
    ----------
    network : Network
        The layers, of one kernel.
    request : NetworkRequest
        What is asked; its objective must add up over layers, its limits be on what the array decides.
    options : RunOptions
        Time limit, gap and stop of the one search that this mode is; engine, threads and store play no part.

    Returns
    -------
    NetworkResult
        The array, each layer's configuration on it, and the total with its lower bound.

    Raises
    ------
    InputError
        If the layers are not of one kernel or have no design in common, the objective does not add up, or a
        limit is not on what the array decides.
    """
    require_sum(request.objective, f"--mode {MODE}")
    designs = common_designs(network, request, MODE)
    counts = [layer.count for layer in network.layers]

    def report(progress: Progress) -> None:
        if options.report is not None:
            options.report(RunState(0, 1, 0, "hardware for all layers", progress))

    search = SharedSearch([tuple(zip(d, counts, strict=True)) for d in designs], options.search, report)
    outcome = search.run()
    value = None if outcome.best is None else outcome.best.value
    total = total_of(value, outcome.lower_bound, outcome.hardware, outcome.seconds, infeasible=outcome.infeasible)
    complete = outcome.infeasible or options.search.gap_is_met(value, outcome.lower_bound)
    if outcome.best is None or outcome.design is None:
        return NetworkResult(MODE, network, request, "exact", nothing(network, request, total), total, complete)
    problems = designs[outcome.design]
    members = enumerate(zip(network.layers, problems, strict=True))
    layers = tuple(layer_on(layer, problem, outcome.best, position, 0) for position, (layer, problem) in members)
    array = array_of(problems[0], outcome.best, network.layers, total)
    return NetworkResult(MODE, network, request, "exact", layers, total, complete, arrays=(array,))
