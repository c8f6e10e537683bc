"""The designs that all layers of a network have, for arrays that layers share."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.studies.network.problems import layer_problems
from ithaca.studies.network.request import NetworkRequest
from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.network import Network


def common_designs(network: Network, request: NetworkRequest, mode: str) -> list[tuple[Problem, ...]]:
    """One problem per layer for every design that all layers have.

    Raises
    ------
    InputError
        If the layers are not of one kernel, or have no design in common.
    """
    kernels = list(dict.fromkeys((layer.nest.name, layer.nest.loops) for layer in network.layers))
    if len(kernels) > 1:
        names = ", ".join(dict.fromkeys(name for name, _ in kernels))
        raise InputError(f"--mode {mode} needs layers of one kernel, but {network.name} has {names}; select with --layers")
    each = [{p.design.name: p for p in part.problems} for part in layer_problems(network, request)]
    shared = [name for name in each[0] if all(name in own for own in each)]
    if not shared:
        raise InputError(f"the layers of {network.name} have no design in common; see --dataflow and --layers")
    return [tuple(own[name] for own in each) for name in shared]


def named(problems: Sequence[Problem]) -> tuple[tuple[str, ...], str]:
    """Dataflow and permutation of problems of one design."""
    return systolic(problems[0]).array.dataflow, systolic(problems[0]).array.permutation
