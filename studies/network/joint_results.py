"""What a network's result says of arrays that several layers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.shared.joint import Joint
from ithaca.solver.solution import make_solution
from ithaca.studies.answer import Answer
from ithaca.studies.network.result import ArrayResult, LayerResult, Total
from ithaca.workloads.networks.network import Layer


def total_of(value: Fraction | None, bound: Fraction | None, nodes: int, seconds: float, *, infeasible: bool = False) -> Total:
    """A total with its certificate; the engine is exact."""
    if infeasible:
        return Total(None, Certificate(Status.INFEASIBLE, None, None, "exact", nodes, seconds))
    status = Status.UNKNOWN if value is None else Status.OPTIMAL if value == bound else Status.FEASIBLE
    return Total(value, Certificate(status, bound, relative_gap(value, bound), "exact", nodes, seconds))


def nothing(layers: Sequence[Layer], total: Total) -> tuple[LayerResult, ...]:
    """The layers of a network for which there is no array."""
    certificate = Certificate(total.certificate.status, None, None, total.certificate.method, 0, 0.0)
    return tuple(LayerResult(layer, Answer(None, certificate)) for layer in layers)


def layer_on(layer: Layer, problem: Problem, joint: Joint, position: int, array: int) -> LayerResult:
    """One layer on an array: its configuration; what is proven is proven of the whole, not of a layer."""
    certificate = Certificate(Status.FEASIBLE, None, None, "exact", 0, 0.0)
    solution = make_solution(replace(problem, physical=joint.physical), joint.tilings[position], certificate)
    return LayerResult(layer, Answer(solution, certificate), array=array)


def array_of(problem: Problem, joint: Joint, layers: Sequence[Layer], total: Total) -> ArrayResult:
    """One array: what it is, runs and takes."""
    shared = replace(problem, physical=joint.physical)
    used = metric_values(shared.costs(joint.tilings[0]), frozenset(limit.metric for limit in problem.limits))
    parameters = {f"lanes.{loop}": lanes for loop, lanes in joint.physical.lanes}
    if joint.physical.simd is not None:
        parameters["simd"] = joint.physical.simd
    parameters |= {f"pack.{group}": pack for group, pack in joint.physical.packs}
    parameters |= {f"buffer.{group}": words for group, words in joint.physical.buffers}
    names = tuple(layer.name for layer in layers)
    return ArrayResult(problem.array.dataflow, problem.array.permutation, names, total, used, parameters)
