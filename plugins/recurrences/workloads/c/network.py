"""The loop nests of a C file as a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ithaca.plugins.recurrences.workloads.c.nests import c_nests
from ithaca.workloads.networks.network import Layer, Network, chosen_parameters, merge


def c_network(path: Path, sizes: Mapping[str, int]) -> Network:
    """A network with a layer for each nest of a C file, named like the array that it sums up.

    Raises `InputError` if it is outside of the form, or sizes are given, as the file has its own.
    """
    chosen_parameters(path, {}, sizes)
    nests = c_nests(path)
    layers = merge(Layer(nest.name, nest, 1, (nest.name,)) for nest in nests)
    why = "it is C, of which statements are read, not what they hand on"
    return Network(path.stem or "c", layers, "loop nests in C", unordered=why)
