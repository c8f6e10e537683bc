"""The problems of a network: the layers asked for, and the designs that all of them have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from ithaca.files.errors import InputError
from ithaca.files.messages import meant, quoted
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Question
from ithaca.workloads.networks.network import Network, Omission, OmissionKind


def only_layers(network: Network, patterns: Sequence[str]) -> Network:
    """A network reduced to the layers that some patterns name; without patterns the network itself.

    Patterns are names of layers or of their kernels, with ``*``, ``?`` and ``[…]`` as in file
    names, e.g. ``conv3_*``.

    Raises `InputError` if a pattern matches no layer.
    """
    if not patterns:
        return network
    kept: set[int] = set()
    for pattern in patterns:
        hits = {
            index
            for index, layer in enumerate(network.layers)
            if fnmatchcase(layer.name, pattern) or fnmatchcase(layer.nest.name, pattern)
        }
        if not hits:
            kernels = ", ".join(dict.fromkeys(layer.nest.name for layer in network.layers))
            names = ", ".join(layer.name for layer in network.layers)
            raise InputError(
                f"--layers: {quoted(pattern)} is no layer of {network.name}; "
                f"allowed: kernels {kernels}; layers {names}"
                f"{meant(pattern, (f'{kernels}, {names}').split(', '))}"
            )
        kept |= hits
    layers = tuple(layer for index, layer in enumerate(network.layers) if index in kept)
    others = [layer for index, layer in enumerate(network.layers) if index not in kept]
    if not others:
        return network
    sources = tuple(source for layer in others for source in layer.sources)
    left_out = Omission(
        "layers",
        len(sources),
        OmissionKind.DESELECTED,
        "--layers does not name them",
        sources,
        sum(layer.operations for layer in others),
    )
    return replace(network, layers=layers, unsupported=(*network.unsupported, left_out))


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
        If the layers are not of one kernel (see `ithaca.workloads.networks.folding`), or have no
        design in common.
    """
    kernels = list(dict.fromkeys((layer.nest.name, layer.nest.loops) for layer in network.layers))
    if len(kernels) > 1:
        names = ", ".join(dict.fromkeys(name for name, _ in kernels))
        raise InputError(
            f"--mode {mode} needs layers of one kernel, or that can be folded into "
            f"one, but {network.name} has {names}; "
            "select with --layers"
        )
    each = [{p.design.name: p for p in part.problems} for part in request.pose(network)]
    shared = [name for name in each[0] if all(name in own for own in each)]
    if not shared:
        raise InputError(
            f"the layers of {network.name} have no design in common; see --dataflow and --layers"
        )
    return [tuple(own[name] for own in each) for name in shared]
