"""The modes of a network's solve by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.files.words import parse_choice
from ithaca.formulations.families import UNNAMED
from ithaca.formulations.question import Question
from ithaca.studies.network import fused, layers
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.networks.network import Network

#: Solves a network: its layers, what is asked of all of them, and how to run the problems.
SolveNetwork = Callable[[Network, Question, RunOptions], NetworkResult]

SHARED_ARRAY, MULTI_ARRAY = "shared-array", "multi-array"

#: The function of each mode.
MODES: Mapping[str, str] = {
    "per-layer": "solve_per_layer",
    "shared-dataflow": "solve_shared_dataflow",
    SHARED_ARRAY: "solve_shared_array",
    MULTI_ARRAY: "solve_multi_array",
}

#: The same where tensors may stay on chip between layers.
FUSED: Mapping[str, str] = {
    "per-layer": "solve_fused",
    MULTI_ARRAY: "solve_fused_multi_array",
}

#: Modes that are one search over all layers: there are no problems to share out, or to keep one by
#: one.
ONE_SEARCH = frozenset({SHARED_ARRAY, MULTI_ARRAY})

#: What solves these by the family of the designs, and proves their answers in another way: modules
#: with the functions of such modes.
ARRAY_SEARCHES: Registry[ModuleType] = Registry("array searches")

#: Modes with more than one array.
SEVERAL_ARRAYS = frozenset({MULTI_ARRAY})


def mode(name: str, family: str = UNNAMED, *, fuse: bool = False) -> SolveNetwork:
    """The function that solves a network in a mode; of layers that share one array, the family's.

    Raises `InputError` if there is no such mode, or none with ``fuse``.

    Parameters
    ----------
    name : str
        The mode, as on the command line.
    family : str, optional
        The family of the layers' designs.
    fuse : bool, optional
        Whether tensors may stay on chip.
    """
    parse_choice("--mode", name, MODES)
    known = FUSED if fuse else MODES
    if name not in known:
        raise InputError(f"--fuse does not go with --mode {name}; allowed: {', '.join(FUSED)}")
    general = fused if fuse else layers
    own = ARRAY_SEARCHES.get(family) if name in ONE_SEARCH else general
    solve: SolveNetwork = getattr(own, known[name])
    return solve
