"""The modes of a network's solve by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.files.words import parse_choice
from ithaca.studies.network import fused, layers
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.networks.network import Network

#: Solves a network: its layers, the question asked of all of them, and how to run the problems.
SolveNetwork = Callable[[Network, Any, RunOptions], NetworkResult]


@dataclass(frozen=True)
class Mode:
    """A way to solve a network, by what its layers share."""

    solve: SolveNetwork
    """Solves a network."""
    fused: SolveNetwork | None = None
    """Solves one whose tensors may stay on chip between layers; None: that cannot be asked for."""


PER_LAYER = Mode(layers.solve_per_layer, fused.solve_fused)
SHARED_DATAFLOW = Mode(layers.solve_shared_dataflow)

#: All modes.
MODES: Registry[Mode] = Registry("network modes")


def mode(name: str, *, fuse: bool = False) -> SolveNetwork:
    """The function that solves a network in a mode.

    Raises `InputError` if there is no such mode, or none with ``fuse``.
    """
    own = MODES[parse_choice("--mode", name, MODES)]
    if not fuse:
        return own.solve
    if own.fused is None:
        allowed = ", ".join(each for each, other in MODES.items() if other.fused is not None)
        raise InputError(f"--fuse does not go with --mode {name}; allowed: {allowed}")
    return own.fused
