"""The answer of `ithaca.network`, whatever the mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from ithaca.files.answer import StudyAnswer
from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.design import Metric, design_name
from ithaca.formulations.directions import name_asked
from ithaca.formulations.families import choice_of, profile_of
from ithaca.formulations.problem import Objective
from ithaca.formulations.question import Question, in_shares
from ithaca.solver.certificate import OWN, Certificate, Status, as_stated, least
from ithaca.solver.result import Unrestricted, loop_text, value_text
from ithaca.solver.runs import Run, basis
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.network import Layer, Network, Part, share_of
from ithaca.workloads.networks.share import Share


@dataclass(frozen=True)
class ArrayMode:
    """A mode whose layers share arrays. It is one search over all of them: there are no problems
    to share out, or to keep one by one."""

    several: bool
    """Whether there may be more than one array."""
    counted: tuple[str, str]
    """The things that the search counts, and their meaning."""


#: By the name of the mode.
ARRAY_MODES: Registry[ArrayMode] = Registry("array modes")

#: The mode in which a layer's answer is the best of its designs; in others it is what layers share.
PER_LAYER = "per-layer"


@dataclass(frozen=True)
class Failure:
    """A problem without an answer, not even that there is none."""

    place: str
    """The problem that was to be solved, such as layer and design."""
    reason: str
    """The error, in one line."""
    refused: bool = False
    """Whether the engine refused the problem, so that it would fail everywhere."""


@dataclass(frozen=True)
class Total:
    """An objective over several layers, and what is proven about it."""

    value: Fraction | None
    """The objective; None where a layer has no configuration."""
    certificate: Certificate
    """The proof: nothing that the mode allows is below the lower bound."""


@dataclass(frozen=True)
class LayerResult:
    """One layer: how it is run."""

    layer: Layer
    """The layer, with its count."""
    answer: Solution
    """Its configuration, and what is proven about it within what the mode allows the layer."""
    designs: tuple[Solution, ...] = ()
    """All designs that were solved for it alone."""
    array: int | None = None
    """Number of the array that runs it (from 0), where layers share arrays."""
    runs: tuple[Run, ...] = ()
    """The runs, word by word, of its answer, and of the designs to choose it from."""

    def __repr__(self) -> str:
        return f"<LayerResult {self.layer.name} × {self.layer.count}: {self.answer!r}>"

    @property
    def lost(self) -> tuple[Solution, ...]:
        """The designs of which no more is proven than that they do not beat the answer."""
        return tuple(d for d in self.designs if d.certificate.beaten)

    @property
    def mac_cycles(self) -> Fraction | None:
        """MAC units · latency of a run: the operations that its hardware has cycles for."""
        if (solution := self.answer.configured) is None:
            return None
        units = solution.profile.multipliers(solution.metrics)
        return None if units is None else units * solution.metrics["latency"]

    @property
    def efficiency(self) -> Fraction | None:
        """Utilisation: operations of the unpadded nest over those its hardware's MAC units had
        cycles for."""
        cycles = self.mac_cycles
        return None if cycles is None else self.layer.nest.operations / cycles


@dataclass(frozen=True)
class SharedDesign:
    """One dataflow and permutation for all layers of a kernel, on arrays of their own or on one
    array."""

    kernel: str
    """Name of the layers' loop nest."""
    dataflow: tuple[str, ...]
    """The loops mapped to space."""
    permutation: str
    """The tensor whose reuse loops are innermost."""
    buildable: bool
    """Whether HLS can build it for every layer."""
    layers: tuple[str, ...]
    """The layers."""
    total: Total
    """The objective over all runs of these layers."""
    chosen: bool = False
    """Whether it is the best of its kernel."""
    proven: bool = False
    """Whether, if chosen, no other design can be better: its total is at most the lower bound of
    every other's."""
    single: tuple[str, ...] = ()
    """The tensors that have single buffers, of those whose buffers may be doubled."""

    @property
    def name(self) -> str:
        """The name of the design."""
        return design_name(self.dataflow, self.permutation, self.single)


@dataclass(frozen=True)
class ArrayResult:
    """One array that runs several layers."""

    dataflow: tuple[str, ...]
    """The loops mapped to space."""
    permutation: str | None
    """The tensor whose reuse loops are innermost; None where layers differ."""
    layers: tuple[str, ...]
    """The layers it runs."""
    total: Total
    """The objective over all runs of these layers on this array."""
    resources: Mapping[str, Fraction] = field(default_factory=dict)
    """The use of each limited resource, by metric name."""
    parameters: Mapping[str, int] = field(default_factory=dict)
    """The parameters that all its layers share, such as lanes by loop and the SIMD factor."""


@dataclass(frozen=True)
class Edge:
    """A layer that reads just what the one before wrote."""

    producer: str
    """Name of the one before."""
    consumer: str
    """Its name."""
    words: int
    """Words that it reads."""
    kept: bool
    """Whether that stays on chip."""
    fits: bool = True
    """False where it is proven that one of the two has no room for it."""
    tile: int = 0
    """Words that stay at a time, where that is a tile that both pass on."""


@dataclass(frozen=True)
class Fusing:
    """The edges that stay on chip between layers."""

    edges: tuple[Edge, ...]
    """All that might stay, in the order of the network."""
    without: Total
    """The objective if nothing did."""


@dataclass(frozen=True, repr=False, eq=False)
class NetworkResult(StudyAnswer):
    """The answer of `ithaca.network`: how every layer is run, and what is proven of it and of the
    total.

    Examples
    --------
    >>> n = ithaca.network("vgg16", layers=["fc8"], dataflow="i,j")
    >>> n.value, n.status
    (Fraction(256683, 1), 'optimal')
    """

    mode: str
    """The mode: what layers share, as on the command line."""
    network: Network
    """The network, with the layers that were asked for."""
    request: Question
    """The question about it."""
    method: str
    """The engine asked."""
    layers: tuple[LayerResult, ...]
    """In the order of the network."""
    total: Total | None
    """The objective over the whole network; None where it does not add up over layers."""
    finished: bool
    """Whether every problem was solved as far as it was asked for; an interrupted run is not."""
    choices: tuple[SharedDesign, ...] = ()
    """The designs compared for all layers of a kernel, the best first."""
    failures: tuple[Failure, ...] = ()
    """Problems that could not be solved because something broke."""
    unrestricted: Unrestricted | None = None
    """Where spaces are restricted to what a compiler builds: the total without that."""
    fusing: Fusing | None = None
    """The tensors that stay on chip, if that was asked for; layers of one nest are then apart."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""
    remarks: tuple[str, ...] = ()
    """Further findings of a co-design on the arrays' shares, line by line; files do not have
    them."""

    @property
    def layer_names(self) -> tuple[str, ...]:
        return tuple(layer.layer.name for layer in self.layers)

    @property
    def runs(self) -> Mapping[tuple[tuple[str, ...], LoopNest], int]:
        """The runs of each nest, by the layers that it stands for, on whatever arrays."""
        counts: Counter[tuple[tuple[str, ...], LoopNest]] = Counter()
        for each in (result.layer for result in self.layers):
            counts[each.sources, each.nest] += each.count
        return counts

    @property
    def share(self) -> Share:
        """The share of the network's multiply-accumulates that the layers are."""
        counted = sum(layer.layer.operations for layer in self.layers)
        return share_of(counted, self.network.unsupported)

    @property
    def basis(self) -> str:
        alone = self.mode == PER_LAYER
        words = {basis(r.answer, r.designs if alone else (), r.runs) for r in self.layers}
        return max(words) + self.share.words

    @property
    def complete(self) -> bool:
        """Whether the run finished, and nothing that multiplies is left out."""
        return self.finished and self.share.whole

    @property
    def layer_objective(self) -> Objective:
        """The objective of a run of each layer: that of the network, or the weighted sum that
        stands for a product of sums over layers."""
        return self.layers[0].answer.problem.objective

    @property
    def family(self) -> str:
        """The name of the family of designs that the network runs on."""
        return self.layers[0].answer.problem.design.family

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        """The metrics of its layers, by name."""
        return self.layers[0].answer.problem.design.vocabulary

    @cached_property
    def arrays(self) -> tuple[ArrayResult, ...]:
        """The arrays that layers share, in order; what is proven of one is so of the whole
        network."""
        shared = [
            layer for layer in self.layers if layer.array is not None and layer.answer.configured
        ]
        mode = ARRAY_MODES.get(self.mode)
        proof = (
            self.total.certificate
            if self.total is not None and mode is not None and not mode.several
            else None
        )
        return tuple(
            self._array([r for r in shared if r.array == n], proof)
            for n in dict.fromkeys(r.array for r in shared)
        )

    def _array(self, layers: Sequence[LayerResult], proof: Certificate | None) -> ArrayResult:
        design, names = (
            layers[0].answer.problem.design,
            tuple(layer.layer.name for layer in layers),
        )
        choice = choice_of(design)
        value = sum((r.layer.count * (r.answer.value or Fraction(0)) for r in layers), Fraction(0))
        used = {
            x.metric: max(r.answer.metrics[x.metric] for r in layers) for x in self.request.limits
        }
        total = Total(value, proof or Certificate(Status.FEASIBLE, None, None, self.method, 0, 0.0))
        return ArrayResult(
            tuple(choice["dataflow"]),
            choice["permutation"],
            names,
            total,
            used,
            profile_of(design).fixed_hardware,
        )

    def shares_taken(self, metric: str) -> list[int]:
        """The shares of what is divided that each array takes."""
        size = self.request.shares[metric]
        return [int(in_shares(array.resources[metric], size) / size) for array in self.arrays]

    @property
    def answered(self) -> bool:
        """Whether every layer has a configuration."""
        return all(layer.answer.configured is not None for layer in self.layers)

    @property
    def proven(self) -> int:
        """The number of layers that are settled: proven optimal, or proven infeasible."""
        return sum(layer.answer.settled for layer in self.layers)

    def sum_of(self, *names: str) -> Fraction | None:
        """Σ count · product of metrics over all layers; None where a layer has no configuration.

        Examples
        --------
        >>> n = ithaca.network("vgg16", layers=["fc8"], dataflow="i,j")
        >>> n.sum_of("latency") == n.value
        True
        """
        total = Fraction(0)
        for layer in self.layers:
            solution = layer.answer.configured
            if solution is None or not solution.metrics.keys() >= {*names}:
                return None
            total += layer.layer.count * prod(solution.metrics[name] for name in names)
        return total

    def of_part(self, part: Part) -> NetworkResult:
        """The layers of one run of a part, which have no total of their own; the network's
        omissions are those of all parts."""
        own = tuple(
            replace(each, layer=replace(each.layer, count=each.layer.count // part.runs))
            for each in self.layers
            if part.has(each.layer)
        )
        layers = tuple(each.layer for each in own)
        network = replace(
            self.network, layers=layers, parameters=part.parameters, run=part.run, parts=()
        )
        return replace(self, network=network, layers=own, total=None)

    @property
    def throughput(self) -> Fraction | None:
        """Operations per second (Gop/s) while the network runs, layer after layer."""
        done, latency = self.sum_of("throughput", "latency"), self.sum_of("latency")
        return None if done is None or not latency else done / latency

    @property
    def mac_cycles(self) -> Fraction | None:
        """Σ count · MAC units · latency: the operations that the layers' hardware had cycles
        for."""
        total = Fraction(0)
        for layer in self.layers:
            if (cycles := layer.mac_cycles) is None:
                return None
            total += layer.layer.count * cycles
        return total

    @property
    def efficiency(self) -> Fraction | None:
        """Utilisation over all layers, one after the other."""
        cycles = self.mac_cycles
        return sum(layer.layer.operations for layer in self.layers) / cycles if cycles else None

    @property
    def headline(self) -> str:
        question = self.request
        what = f"{self.network.name} {question.label}, {self.mode}, on {question.place}"
        status = f"{self.status}{self.basis}"
        if self.total is None:
            name = name_asked(question.objective.text)
            return f"{what}: {name} of each layer by itself ({status})"
        return f"{what}: {value_text(question.objective.text, self.value, status)}"

    @property
    def certificate(self) -> Certificate:
        """The certificate of the total. Raises `InputError` if there is none."""
        if self.total is None:
            raise InputError(f"{self.request.objective.text} does not add up over layers")
        return self.total.certificate

    @property
    def status(self) -> str:
        """The status of the proof of the total; where the objective does not add up over layers,
        the least status among layers."""
        if self.total is not None:
            return self.total.certificate.status.value
        return least(layer.answer.certificate.status for layer in self.layers).value

    @property
    def value(self) -> Fraction | None:
        """The objective over the whole network; None where a layer has no configuration, or it does
        not add up over layers."""
        return None if self.total is None else self.total.value

    @property
    def lower_bound(self) -> Fraction | None:
        """No network that the mode allows has a smaller total; None where nothing is proven, or
        there is no total."""
        return None if self.total is None else self.total.certificate.lower_bound

    @property
    def failure(self) -> str:
        return "" if self.answered else f"{self.made('failure')}{as_stated(self)}"

    @property
    def mapped(self) -> Mapping[str, Solution]:
        return {f"{layer.layer.name}: ": layer.answer for layer in self.layers}

    @property
    def loops(self) -> dict[str, str]:
        """The mapping of every layer as a loop nest, by name."""
        return {layer.layer.name: loop_text(layer.answer) for layer in self.layers}

    def plot(self, path: str | Path | None = None, compare: Sequence[NetworkResult] = ()) -> Any:
        """Draw what each layer takes, as a chart and to a file like other answers, alone or
        against other results of the network.

        Examples
        --------
        >>> n = ithaca.network("vgg16", layers=["fc8"], dataflow="i,j")
        >>> n.plot().specification["$schema"]
        'https://vega.github.io/schema/vega-lite/v6.json'
        """
        return self.drawn(self.made("chart", *compare), path)
