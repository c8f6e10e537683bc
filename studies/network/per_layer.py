"""Mode ``per-layer``: each layer has its own best design.

What a network could gain at most from specialising: the array is made anew for every layer.
"""

from __future__ import annotations

from ithaca.studies.network.layers import solve_layers
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import LayerResult, NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.totals import adds_up, total
from ithaca.workloads.networks.network import Network

MODE = "per-layer"


def solve_per_layer(network: Network, request: NetworkRequest, options: RunOptions) -> NetworkResult:
    """Find each layer's best design.

    Parameters
    ----------
    network : Network
        The layers.
    request : NetworkRequest
        What is asked of each of them. An objective that does not add up over layers has no total.
    options : RunOptions
        How to run the problems.

    Returns
    -------
    NetworkResult
        Each layer with all its designs; the total is Σ count · objective, its lower bound Σ count · lower bound.

    Raises
    ------
    InputError
        If the request does not fit the network, or the engine refuses every problem.
    """
    solved = solve_layers(network, request, options)
    layers = tuple(LayerResult(part.layer, part.best(), part.solutions) for part in solved.layers)
    method, summed = options.method.value, None
    if adds_up(request.objective):
        summed = total([(r.layer.count, r.answer.value, r.answer.certificate) for r in layers], method)
    return NetworkResult(MODE, network, request, method, layers, summed, solved.complete, failures=solved.failures)
