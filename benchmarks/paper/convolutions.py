"""Convolutions under each dataflow, every configuration proven (Table 7, Figures 11, 13 and 14).

The paper's loops o, h, w, i are Ithaca's o, r, c, i. Its two layers are stated as sizes of all
loops; its networks are VGG16's 13 convolutions and 49 of ResNet50 (`published_networks`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from benchmarks.paper.experiment import PUBLICATION, Run
from benchmarks.paper.published_networks import FP32, LIMITS, network, request
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import Spans, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.solution import Solution
from ithaca.studies.network.layers import solve_shared_dataflow
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest

Dataflow = tuple[str, ...]

#: The permutation that keeps partial sums in the array, ⟨[o,h,w],[i,p,q]⟩.
KEEPING = "cout"

#: The paper's names of loops.
PUBLISHED_LOOPS = {"r": "h", "c": "w"}


def dataflow_text(dataflow: Collection[str]) -> str:
    """A dataflow in the paper's loops."""
    return f"[{','.join(PUBLISHED_LOOPS.get(loop, loop) for loop in dataflow)}]"


def layer(name: str) -> LoopNest:
    """CONV1 or CONV2, of the sizes that the paper states."""
    sizes = PUBLICATION["convolutions"][name]
    return workload("conv2d", dict(zip("iorcpq", sizes, strict=True)))


def layer_problem(
    nest: LoopNest,
    dataflow: Dataflow,
    edition: Edition,
    permutation: str = KEEPING,
    objective: str = "latency",
    limits: tuple[Limit, ...] = LIMITS,
    hardware: Spans = (),
) -> Problem:
    """A design of a convolution on the paper's budget."""
    array = derive(nest, dataflow, permutation, edition)
    design = SystolicDesign(nest, array, FP32, hardware=hardware)
    return Problem(design, limits, parse_objective(objective))


def proven(problem: Problem, how: Run) -> Solution:
    """The proven optimum of a problem, which has one."""
    solution = solve_exact(problem, how.search)
    how.check()
    if solution.certificate.status is not Status.OPTIMAL or solution.value is None:
        raise RuntimeError(f"{problem.design.name}: {solution.certificate.status.value}")
    return solution


def costs_of(solution: Solution) -> Costs:
    """All costs of a configuration."""
    assert solution.configuration is not None
    return systolic(solution.problem).costs(solution.configuration)


def sums_handed_on(solution: Solution) -> Fraction:
    """Finished sums that a PE hands on in a run: outputs, padding included, over parallel lanes."""
    design, tiling = systolic(solution.problem), solution.tiling
    assert tiling is not None
    sums = Fraction(1)
    for loop in design.nest.parallel_loops:
        part = tiling.array_part[loop]
        sums *= -(-design.nest.sizes[loop] // part) * part
        if loop in design.array.dataflow:
            sums /= Fraction(part, tiling.t2(design.array, loop))
    return sums


@dataclass(frozen=True)
class LayerThroughput:
    """The proven throughput of a layer of a network under each dataflow (Gop/s)."""

    network: str
    layer: str
    runs: int
    """How often the network has it."""
    edition: Edition
    by_dataflow: Mapping[Dataflow, float]


def throughputs(name: str, edition: Edition, how: Run) -> list[LayerThroughput]:
    """The proven throughput of every layer of a network under each dataflow, permutation cout."""
    how.step(f"{name}, {edition.value} model edition")
    options = RunOptions(search=how.search, threads=how.threads)
    result = solve_shared_dataflow(network(name), request(edition), options)
    how.check()
    return [
        LayerThroughput(
            name,
            each.layer.name,
            each.layer.count,
            edition,
            {
                systolic(solution.problem).array.dataflow: float(solution.metrics["throughput"])
                for solution in each.designs
            },
        )
        for each in result.layers
    ]


def peak(layers: Sequence[LayerThroughput]) -> float:
    """The highest throughput of a layer of a network under any dataflow."""
    return max(value for each in layers for value in each.by_dataflow.values())


def mean_over_peak(layers: Sequence[LayerThroughput], dataflow: Dataflow | None = None) -> float:
    """Geometric mean of the throughput over all convolutions of a network, over its peak; of each
    layer's best dataflow unless one is named."""
    total = sum(
        each.runs
        * log(max(each.by_dataflow.values()) if dataflow is None else each.by_dataflow[dataflow])
        for each in layers
    )
    return exp(total / sum(each.runs for each in layers)) / peak(layers)


def ranking(layers: Sequence[LayerThroughput]) -> list[tuple[Dataflow, float]]:
    """Dataflows with their means over the peak, the best first."""
    means = [(dataflow, mean_over_peak(layers, dataflow)) for dataflow in layers[0].by_dataflow]
    return sorted(means, key=lambda entry: -entry[1])
