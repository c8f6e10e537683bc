"""What a network's solve answers, whatever the mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from ithaca.results.certificate import Certificate
from ithaca.results.solution import Solution
from ithaca.studies.network.request import NetworkRequest
from ithaca.workloads.networks.network import Layer, Network


@dataclass(frozen=True)
class Failure:
    """A problem without an answer, not even that there is none.

    Attributes
    ----------
    place : str
        What was to be solved, such as layer and design.
    reason : str
        What went wrong, in one line.
    refused : bool
        Whether the engine refused the problem, so that it would fail everywhere.
    """

    place: str
    reason: str
    refused: bool = False


@dataclass(frozen=True)
class Total:
    """An objective over several layers, and what is proven about it.

    Attributes
    ----------
    value : Fraction or None
        The objective; None where a layer has no configuration.
    certificate : Certificate
        What is proven: nothing that the mode allows is below the lower bound.
    """

    value: Fraction | None
    certificate: Certificate


@dataclass(frozen=True)
class LayerResult:
    """One layer: how it is run.

    Attributes
    ----------
    layer : Layer
        The layer, with its count.
    answer : Solution
        Its configuration, and what is proven about it within what the mode allows the layer.
    designs : tuple of Solution
        All designs that were solved for it alone.
    array : int or None
        Number of the array that runs it (from 0), where layers share arrays.
    """

    layer: Layer
    answer: Solution
    designs: tuple[Solution, ...] = ()
    array: int | None = None

    @property
    def efficiency(self) -> Fraction | None:
        """DSP efficiency: operations of the unpadded nest over those its array's MAC units had cycles for."""
        solution = self.answer.found
        if solution is None:
            return None
        return self.layer.nest.operations / (solution.metrics["comp"] * solution.metrics["latency"])


@dataclass(frozen=True)
class SharedDesign:
    """One dataflow and permutation for all layers of a kernel.

    Attributes
    ----------
    kernel : str
        Name of the layers' loop nest.
    dataflow : tuple of str
        The loops mapped to space.
    permutation : str
        The tensor whose reuse loops are innermost.
    buildable : bool
        Whether HLS can build it for every layer.
    layers : tuple of str
        The layers.
    total : Total
        The objective over all runs of these layers.
    chosen : bool
        Whether it is the best of its kernel.
    proven : bool
        Whether, if chosen, no other design can be better: its total is at most the lower bound of every other's.
    """

    kernel: str
    dataflow: tuple[str, ...]
    permutation: str
    buildable: bool
    layers: tuple[str, ...]
    total: Total
    chosen: bool = False
    proven: bool = False

    @property
    def name(self) -> str:
        """Dataflow and permutation, e.g. ``[i,j] C``."""
        return f"[{','.join(self.dataflow)}] {self.permutation}"


@dataclass(frozen=True)
class ArrayResult:
    """One array that runs several layers.

    Attributes
    ----------
    dataflow : tuple of str
        The loops mapped to space.
    permutation : str or None
        The tensor whose reuse loops are innermost; None where layers differ.
    layers : tuple of str
        The layers it runs.
    total : Total
        The objective over all runs of these layers on this array.
    resources : mapping of str to Fraction
        What it takes of each limited resource, by metric name.
    parameters : mapping of str to int
        What all its layers share, such as lanes by loop and the SIMD factor.
    """

    dataflow: tuple[str, ...]
    permutation: str | None
    layers: tuple[str, ...]
    total: Total
    resources: Mapping[str, Fraction] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class NetworkResult:
    """The answer of a network's solve.

    Attributes
    ----------
    mode : str
        What layers share, as on the command line.
    network : Network
        The network, with the layers that were asked for.
    request : NetworkRequest
        What was asked of it.
    method : str
        The engine asked.
    layers : tuple of LayerResult
        In the order of the network.
    total : Total or None
        The objective over the whole network; None where it does not add up over layers.
    complete : bool
        Whether every problem was solved as far as it was asked for; an interrupted run is not.
    choices : tuple of SharedDesign
        The designs compared for all layers of a kernel, the best first.
    arrays : tuple of ArrayResult
        The arrays that layers share.
    failures : tuple of Failure
        Problems that could not be solved because something broke.
    """

    mode: str
    network: Network
    request: NetworkRequest
    method: str
    layers: tuple[LayerResult, ...]
    total: Total | None
    complete: bool
    choices: tuple[SharedDesign, ...] = ()
    arrays: tuple[ArrayResult, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether every layer has a configuration."""
        return all(layer.answer.found is not None for layer in self.layers)

    @property
    def proven(self) -> int:
        """How many layers are settled: proven optimal, or proven infeasible."""
        return sum(layer.answer.settled for layer in self.layers)

    def sum_of(self, *names: str) -> Fraction | None:
        """Σ count · product of metrics over all layers; None where a layer has no configuration."""
        total = Fraction(0)
        for layer in self.layers:
            solution = layer.answer.found
            if solution is None:
                return None
            total += layer.layer.count * prod(solution.metrics[name] for name in names)
        return total

    @property
    def throughput(self) -> Fraction | None:
        """Operations per second (Gop/s) while the network runs, layer after layer."""
        done, latency = self.sum_of("throughput", "latency"), self.sum_of("latency")
        return None if done is None or not latency else done / latency

    @property
    def mac_cycles(self) -> Fraction | None:
        """Σ count · MAC units · latency: the operations that the layers' arrays had cycles for."""
        return self.sum_of("comp", "latency")
