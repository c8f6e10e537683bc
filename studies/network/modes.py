"""The modes of a network's solve by name. Each is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.networks.network import Network

#: Solves a network: its layers, what is asked of all of them, and how to run the problems.
SolveNetwork = Callable[[Network, NetworkRequest, RunOptions], NetworkResult]

SHARED_ARRAY, MULTI_ARRAY = "shared-array", "multi-array"

#: Module and function of each mode.
MODES: Mapping[str, tuple[str, str]] = {
    "per-layer": ("layers", "solve_per_layer"),
    "shared-dataflow": ("layers", "solve_shared_dataflow"),
    SHARED_ARRAY: ("arrays", "solve_shared_array"),
    MULTI_ARRAY: ("arrays", "solve_multi_array"),
}

#: Modes that are one search over all layers: there are no problems to share out, or to keep one by
#: one.
ONE_SEARCH = frozenset({SHARED_ARRAY, MULTI_ARRAY})

#: Modes with more than one array.
SEVERAL_ARRAYS = frozenset({MULTI_ARRAY})


def mode(name: str) -> SolveNetwork:
    """What solves a network in a mode.

    Raises `InputError` if there is no such mode.
    """
    if name not in MODES:
        raise InputError(f"--mode is {quoted(name)}; allowed: {', '.join(MODES)}")
    module, function = MODES[name]
    found: SolveNetwork = getattr(import_module(f"ithaca.studies.network.{module}"), function)
    return found
