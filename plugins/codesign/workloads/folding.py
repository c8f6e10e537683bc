"""Fold layers of different kernels into one kernel, so that one array can run them.

A matrix product is a convolution with a window of one element, a batch of products so many runs of
one. Folded layers have the same multiply-accumulates on the same tensors; nothing is added or
approximated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ithaca.files.errors import InputError
from ithaca.workloads.formats import with_formats
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, Network


@dataclass(frozen=True, slots=True)
class _Fold:
    """A kernel as another one with some loops of a single trip."""

    kernel: str
    """The other kernel."""
    loops: Mapping[str, str]
    """Its loops and parameters, as those of the kernel that is folded; others are 1."""
    runs: str | None = None
    """The loop that becomes runs."""


#: ``C[i][j] += A[i][k]·B[j][k]`` is ``cout[r][c][o] += cin[r][c][i]·w[o][i]`` with rows r = i of
#: one column each.
_FOLDS: Mapping[str, _Fold] = {
    "mm": _Fold("conv2d", {"o": "j", "r": "i", "i": "k"}),
    "pointwise_conv2d": _Fold("conv2d", {"o": "o", "r": "r", "c": "c", "i": "i", "s": "s"}),
    "batched_mm": _Fold("mm", {"i": "i", "j": "j", "k": "k"}, runs="b"),
}


def fold(network: Network) -> Network:
    """The network with layers of one kernel, or as it is where its kernels do not fold into one.

    Layers that are folded say what they were (`Layer.folded`).
    """
    if len({(layer.nest.name, layer.nest.loops) for layer in network.layers}) == 1:
        return network
    chains = [_chain(layer) for layer in network.layers]
    for kernel in ("mm", "conv2d"):  # the one with fewer loops, where both would do
        folded = [next((f for f in chain if f.nest.name == kernel), None) for chain in chains]
        if all(folded):
            return replace(network, layers=tuple(f for f in folded if f is not None))
    return network


def _chain(layer: Layer) -> Sequence[Layer]:
    """A layer as it is, then folded once and more."""
    chain = [layer]
    while (how := _FOLDS.get(chain[-1].nest.name)) is not None:
        nest = chain[-1].nest
        try:
            named = workload(nest.name, nest.settings)
            if replace(nest, formats=()) != named:  # a nest of the user's that has the name only
                break
        except InputError:
            break
        if not {*how.loops.values()} <= nest.settings.keys():  # strides that differ
            break
        target = workload(how.kernel)
        tensors = zip(nest.accesses, target.accesses, strict=True)
        names = {one.tensor: other.tensor for one, other in tensors}
        formats = {names[tensor]: form for tensor, form in nest.formats}
        sizes = {
            name: nest.settings[how.loops[name]] if name in how.loops else 1
            for name in target.settings
        }
        runs = 1 if how.runs is None else nest.sizes[how.runs]
        was = chain[-1].folded or " ".join(
            [nest.name, *(f"{name}={n}" for name, n in nest.settings.items())]
        )
        folded = with_formats(target.with_sizes(sizes), formats or None, "format")
        chain.append(replace(chain[-1], nest=folded, count=chain[-1].count * runs, folded=was))
    return chain
