"""The layers of a network that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from ithaca.files.errors import InputError
from ithaca.files.messages import meant, quoted
from ithaca.workloads.networks.network import Network, Omission, OmissionKind


def only_layers(network: Network, patterns: Sequence[str]) -> Network:
    """A network reduced to the layers that some patterns name; without patterns the network itself.

    Patterns are names of layers or of their kernels, with ``*``, ``?`` and ``[…]`` as in file
    names, e.g. ``conv3_*``; commas stand between several.

    Raises `InputError` if a pattern matches no layer.
    """
    if not patterns:
        return network
    kept: set[int] = set()
    parts_of = {p: [p] if _hits(network, p) else p.split(",") for p in patterns}
    for pattern in (part.strip() for parts in parts_of.values() for part in parts):
        hits = _hits(network, pattern)
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
    parts = tuple(part for part in network.parts if any(map(part.has, layers)))
    return replace(
        network, layers=layers, unsupported=(*network.unsupported, left_out), parts=parts
    )


def _hits(network: Network, pattern: str) -> set[int]:
    """The places of the layers that a pattern names."""
    return {
        index
        for index, layer in enumerate(network.layers)
        if fnmatchcase(layer.name, pattern) or fnmatchcase(layer.nest.name, pattern)
    }
