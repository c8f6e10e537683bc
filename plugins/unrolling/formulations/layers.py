"""Layers of a network as streaming accelerators build them: a matrix of weights, applied again and
again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import prod

from ithaca.files.errors import InputError
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.network import Network

#: The metric that the slowest layer decides.
INTERVAL = "interval"


class Freedom(Enum):
    """The ways in which a layer may be unrolled."""

    BOTH = "both"
    """Outputs and inputs, each by a divisor."""
    OUTPUTS_FIRST = "outputs first"
    """Inputs only once all outputs are: divisors of both."""
    ANY = "any"
    """Any number of cycles for a position."""


@dataclass(frozen=True, slots=True)
class WeightLayer:
    """A layer with its weights on chip."""

    name: str
    """Its name in the network."""
    inputs: int
    """Weights that are summed up for a value of the output: the columns of its matrix."""
    outputs: int
    """The rows of its matrix; of a filter for each channel its channels."""
    positions: int
    """How often the matrix is applied for an image."""
    channelwise: bool = False
    """Whether each channel has a filter of its own."""

    @property
    def weights(self) -> int:
        """The number of its weights."""
        return self.inputs * self.outputs


def weight_layers(network: Network) -> tuple[WeightLayer, ...]:
    """The layers of a network, in its order.

    Raises `InputError` where one is no product with weights.
    """
    return tuple(_weight_layer(*each) for each in _runs(network))


def _runs(network: Network) -> Iterator[tuple[str, LoopNest, int]]:
    """Name, nest and runs of each of the network's own layers."""
    if network.order:
        kept = {source for layer in network.layers for source in layer.sources}
        yield from ((r.source, r.nest, r.count) for r in network.order if r.source in kept)
        return
    for layer in network.layers:
        once = layer.count == len(layer.sources)
        for source in layer.sources:
            yield source, layer.nest, 1 if once else layer.count


def _weight_layer(name: str, nest: LoopNest, runs: int) -> WeightLayer:
    if len(nest.inputs) != 2:
        raise InputError(
            f"layer {name} has {len(nest.inputs)} factors; allowed: a feature map and weights"
        )
    if runs > 1:
        raise InputError(
            f"layer {name} runs {runs} times, for images of a batch, groups or a count; allowed: "
            "once, with one matrix of weights (--layers leaves others out)"
        )
    data, weights = (access.loops for access in nest.inputs)
    shared = [loop for loop in nest.parallel_loops if loop in data and loop in weights]
    rows = [loop for loop in nest.parallel_loops if loop in weights and loop not in data]
    places = [loop for loop in nest.parallel_loops if loop not in weights]
    sizes = nest.sizes
    if prod(sizes[loop] for loop in shared) > 1 and prod(sizes[loop] for loop in rows) > 1:
        raise InputError(
            f"layer {name} has {', '.join(shared)} in the feature map, the weights and the result, "
            "and weights for several outputs of each; allowed: a matrix of weights, or a filter "
            "for each channel (--layers leaves others out)"
        )
    channelwise = prod(sizes[loop] for loop in shared) > 1
    return WeightLayer(
        name,
        prod(sizes[loop] for loop in nest.reduction_loops),
        prod(sizes[loop] for loop in (shared if channelwise else rows)),
        prod(sizes[loop] for loop in places),
        channelwise,
    )
