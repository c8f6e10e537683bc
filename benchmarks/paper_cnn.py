"""The published study of convolutional networks (Odyssey; Wang and Cong, arXiv 2111.14252): its
layers and figures.

The figures are those that issue 4 quotes from the paper; its text and plots are not at hand, so
neither the sizes of the two layers of Table 7, nor its unit, nor what "average" and "peak" mean
there, could be confirmed. The layers of the networks are those of the published program (AutoSA,
autosa_scripts/odyssey/workload/vgg16.json and resnet50.json): VGG16's 13 convolutions, and 49 of
ResNet50, all at stride 1, without the shortcuts. The paper's loops o, h, w, i are Ithaca's o, r, c,
i.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.paper.published_networks import LIMITS, MAC_UNITS, network, request
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.solution import Solution
from ithaca.studies.families.systolic.arrays import solve_shared_array
from ithaca.studies.network.layers import solve_per_layer, solve_shared_dataflow
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.networks.network import Layer, Network

#: Table 7: the dataflows compared, in Ithaca's loops, and the two figures of each layer.
COMPARED = (("r", "i"), ("o", "r"))
TABLE_7: Mapping[str, tuple[float, float]] = {"CONV1": (2.86, 3.99), "CONV2": (7.16, 5.88)}

#: VGG16 layers that stand in for them, as the paper's are not known: conv1_1 is the only one that
#: [h,i] runs faster than [o,h]; the cycles of conv3_1 come closest to the figures of CONV2, in 10^5
#: cycles.
ASSUMED: Mapping[str, str] = {"CONV1": "conv1_1", "CONV2": "conv3_1"}

#: Figures 13 and 14: average throughput of the best single dataflow, as a share of the peak.
AVERAGE: Mapping[str, float] = {"vgg16": 0.77, "resnet50": 0.57}


def shown(dataflow: Iterable[str]) -> str:
    """A dataflow in the paper's loops."""
    return f"[{','.join({'r': 'h', 'c': 'w'}.get(loop, loop) for loop in dataflow)}]"


def share(solution: Solution) -> float:
    """Achieved throughput over that of all MAC units of the budget."""
    return float(
        systolic(solution.problem).nest.operations / (MAC_UNITS * solution.metrics["latency"])
    )


def own_share(solution: Solution) -> float:
    """Achieved throughput over that of the MAC units of the design: the published program's DSP
    efficiency."""
    return float(
        systolic(solution.problem).nest.operations
        / (solution.metrics["comp"] * solution.metrics["latency"])
    )


# -- solving -------------------------------------------------------------------------------


def solve_layer(layer: Layer, dataflow: tuple[str, ...], edition: Edition) -> Solution:
    """The fastest configuration of a layer under a dataflow, permutation cout."""
    array = derive(layer.nest, dataflow, "cout", edition)
    return solve_exact(
        Problem(
            SystolicDesign(layer.nest, array, data_type("fp32")), LIMITS, parse_objective("latency")
        )
    )


def by_dataflow(layer: Layer, edition: Edition) -> dict[tuple[str, ...], Solution]:
    """The fastest configuration of a layer under each of the 10 dataflows, in the order of the
    designs."""
    result = solve_per_layer(Network(layer.name, (layer,)), request(edition), RunOptions())
    return {
        systolic(solution.problem).array.dataflow: solution for solution in result.layers[0].designs
    }


@dataclass(frozen=True)
class Study:
    """A network under each single dataflow.

    Attributes
    ----------
    edition : Edition
        Statement of the cost model.
    result : NetworkResult
        Of the mode shared-dataflow: the best single dataflow, and all designs of every layer.
    """

    edition: Edition
    result: NetworkResult

    @property
    def dataflows(self) -> tuple[tuple[str, ...], ...]:
        """All of them, the one of the least total latency first."""
        return tuple(choice.dataflow for choice in self.result.choices)

    @property
    def solutions(self) -> list[tuple[Layer, dict[tuple[str, ...], Solution]]]:
        """Every layer under every dataflow."""
        return [
            (r.layer, {systolic(s.problem).array.dataflow: s for s in r.designs})
            for r in self.result.layers
        ]

    def mean(self, dataflow: tuple[str, ...], *, own: bool = False, skip: int = 0) -> float:
        """Mean share of the peak over the network's layers, each run counting once; without the
        first ``skip`` nests."""
        counted = [(layer.count, each[dataflow]) for layer, each in self.solutions[skip:]]
        return sum(n * (own_share if own else share)(s) for n, s in counted) / sum(
            n for n, _ in counted
        )

    def overall(self, dataflow: tuple[str, ...]) -> float:
        """All operations over what the MAC units of the budget do in the total latency: layers
        count by their time."""
        cycles = sum(
            layer.count * each[dataflow].metrics["latency"] for layer, each in self.solutions
        )
        return float(self.result.network.operations / (MAC_UNITS * cycles))

    def mean_of_best(self) -> float:
        """The mean share where every layer has the dataflow that is best for it."""
        runs = sum(layer.count for layer, _ in self.solutions)
        return (
            sum(layer.count * max(map(share, each.values())) for layer, each in self.solutions)
            / runs
        )


def study(name: str, edition: Edition) -> Study:
    """Prove the optimum of every layer under every dataflow."""
    return Study(edition, solve_shared_dataflow(network(name), request(edition), RunOptions()))


def one_array(name: str, dataflow: tuple[str, ...], edition: Edition) -> NetworkResult:
    """The array of a dataflow that serves all layers of a network best, in its lanes, buffers and
    ports too."""
    return solve_shared_array(network(name), request(edition, dataflow), RunOptions())


# -- which layers the table may mean -------------------------------------------------------


@dataclass(frozen=True)
class Match:
    """A layer whose two figures are set beside a row of Table 7.

    Attributes
    ----------
    layer : str
        The network and the layer.
    edition : Edition
        Statement of the cost model.
    quantity : str
        ``cycles`` or ``Gop/s``; figures in milliseconds at 300 MHz are tried as ``ms``.
    power : int
        The power of ten that the figures are divided by.
    figures : tuple of float
        The two figures, divided.
    exchanged : bool
        Whether the row is read with its two columns exchanged.
    misfit : float
        The larger of the two relative deviations (of the larger from the smaller figure).
    """

    layer: str
    edition: Edition
    quantity: str
    power: int
    figures: tuple[float, float]
    exchanged: bool
    misfit: float

    def __str__(self) -> str:
        unit = f"10^{self.power} {self.quantity}" if self.power else self.quantity
        exchanged = ", columns exchanged" if self.exchanged else ""
        first, second = self.figures
        read = f"{self.layer}, {self.edition.value} edition, {unit}{exchanged}"
        return f"{read}: {first:.2f} : {second:.2f} (off by {self.misfit:.1%})"


def matches(
    row: tuple[float, float], name: str, edition: Edition, solutions: tuple[Solution, Solution]
) -> list[Match]:
    """A layer beside a row: as cycles, milliseconds and throughput, as quoted and exchanged, each
    in the best power of ten."""
    found = []
    for quantity in ("cycles", "ms", "Gop/s"):
        figures = [_figure(s, quantity) for s in solutions]
        for exchanged in (False, True):
            stated = row[::-1] if exchanged else row
            power = round(sum(math.log10(f / p) for f, p in zip(figures, stated, strict=True)) / 2)
            first, second = (f / 10**power for f in figures)
            off = (
                max(
                    math.exp(abs(math.log(f / p)))
                    for f, p in zip((first, second), stated, strict=True)
                )
                - 1
            )
            found.append(Match(name, edition, quantity, power, (first, second), exchanged, off))
    return found


def all_matches() -> dict[str, list[Match]]:
    """Every layer of both networks beside each row of Table 7, the best first."""
    found: dict[str, list[Match]] = {row: [] for row in TABLE_7}
    for name in AVERAGE:
        for layer in network(name).layers:
            for edition in (Edition.EXACT, Edition.ODYSSEY):
                first, second = (solve_layer(layer, dataflow, edition) for dataflow in COMPARED)
                assert first.certificate.status is second.certificate.status is Status.OPTIMAL
                for row, figures in TABLE_7.items():
                    found[row] += matches(figures, f"{name} {layer.name}", edition, (first, second))
    return {row: sorted(of_row, key=lambda match: match.misfit) for row, of_row in found.items()}


def _figure(solution: Solution, quantity: str) -> float:
    metrics = solution.metrics
    return float(
        {
            "cycles": metrics["latency"],
            "ms": metrics["latency"] / 300_000,
            "Gop/s": metrics["throughput"],
        }[quantity]
    )
