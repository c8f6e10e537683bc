"""Designs that all layers of a network have."""

from __future__ import annotations

from ithaca.files.errors import InputError
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.workloads.networks.network import Network


def common_designs(network: Network, request: Question, mode: str) -> list[tuple[Problem, ...]]:
    """One problem per layer for every design that all layers have.

    Parameters
    ----------
    network : Network
        The network.
    request : Question
        What is asked of every layer.
    mode : str
        The mode, for errors.

    Returns
    -------
    list of tuple of Problem
        By design, in the order of the layers.

    Raises
    ------
    InputError
        If the layers are not of one kernel (see `ithaca.plugins.codesign.workloads.folding`) and
        of the same formats, or have no design in common.
    """
    kernels = list(dict.fromkeys((layer.nest.name, layer.nest.loops) for layer in network.layers))
    if len(kernels) > 1:
        names = ", ".join(dict.fromkeys(name for name, _ in kernels))
        typed = any(layer.nest.formats for layer in network.layers)
        raise InputError(
            f"--mode {mode} needs layers of one kernel, or that can be folded into "
            f"one{', as those with formats cannot' * typed}, but {network.name} has {names}; "
            "select with --layers"
        )
    formats = dict.fromkeys(layer.nest.labels.get("format", "none") for layer in network.layers)
    if len(formats) > 1:
        raise InputError(
            f"--mode {mode} needs layers of the same formats, as an array's ports, buffers and "
            f"multipliers have words of one width and convert none, but {network.name} has "
            f"{' and '.join(formats)}; select with --layers, or state the widest of all with "
            "network --format (none: --dtype)"
        )
    each = [{p.design.name: p for p in part.problems} for part in request.pose(network)]
    shared = [name for name in each[0] if all(name in own for own in each)]
    if not shared:
        raise InputError(
            f"the layers of {network.name} have no design in common; see --dataflow and --layers"
        )
    return [tuple(own[name] for own in each) for name in shared]
