"""What a network's result says of arrays that several layers share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.results.certificate import Certificate, Status
from ithaca.results.solution import Solution, make_solution
from ithaca.solver.conclusion import conclude
from ithaca.studies.network.problems import layer_problems
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import ArrayResult, LayerResult, Total
from ithaca.studies.shared.joint import Joint
from ithaca.workloads.networks.network import Layer, Network


def total_of(value: Fraction | None, bound: Fraction | None, nodes: int, seconds: float, *, infeasible: bool = False) -> Total:
    """A total with its certificate; the engine is exact."""
    found = None if infeasible else value
    return Total(found, conclude(found, bound, complete=infeasible, method="exact", nodes=nodes, seconds=seconds))


def nothing(network: Network, request: NetworkRequest, total: Total) -> tuple[LayerResult, ...]:
    """The layers of a network for which there is no array."""
    certificate = Certificate(total.certificate.status, None, None, total.certificate.method, 0, 0.0)
    asked = layer_problems(network, request)
    return tuple(LayerResult(each.layer, Solution(each.problems[0], None, None, certificate)) for each in asked)


def layer_on(layer: Layer, problem: Problem, joint: Joint, position: int, array: int) -> LayerResult:
    """One layer on an array: its configuration; what is proven is proven of the whole, not of a layer."""
    certificate = Certificate(Status.FEASIBLE, None, None, "exact", 0, 0.0)
    solution = make_solution(problem.with_design(physical=joint.physical), joint.configurations[position], certificate)
    return LayerResult(layer, solution, array=array)


def array_of(problem: Problem, joint: Joint, layers: Sequence[Layer], total: Total) -> ArrayResult:
    """One array: what it is, runs and takes."""
    metrics = problem.with_design(physical=joint.physical).metrics(joint.configurations[0])
    used = {limit.metric: metrics[limit.metric] for limit in problem.limits}
    parameters = {f"lanes.{loop}": lanes for loop, lanes in joint.physical.lanes}
    if joint.physical.simd is not None:
        parameters["simd"] = joint.physical.simd
    parameters |= {f"pack.{group}": pack for group, pack in joint.physical.packs}
    parameters |= {f"buffer.{group}": words for group, words in joint.physical.buffers}
    names = tuple(layer.name for layer in layers)
    return ArrayResult(systolic(problem).array.dataflow, systolic(problem).array.permutation, names, total, used, parameters)
