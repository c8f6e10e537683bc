"""Mode ``shared-dataflow``: one dataflow and permutation for all layers, with tilings of their own.

What a generator loses that derives one array design per network and sizes it for each layer. Layers of different
kernels have different loops and so no common dataflow: the layers of each kernel share one (a CNN's
convolutions one, its fully connected layers another).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.results.certificate import Certificate, Status
from ithaca.results.solution import Solution
from ithaca.solver.portfolio import not_solved
from ithaca.studies.network.layers import SolvedLayer, solve_layers
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import LayerResult, NetworkResult, SharedDesign, Total
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.totals import best_total, require_sum, total
from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.network import Layer, Network

MODE = "shared-dataflow"

#: Dataflow and permutation.
Design = tuple[tuple[str, ...], str]


@dataclass(frozen=True)
class _Member:
    """A layer of a kernel, and what came of each design."""

    solved: SolvedLayer

    @property
    def layer(self) -> Layer:
        return self.solved.layer

    @cached_property
    def answers(self) -> dict[Design, Solution]:
        pairs = zip(self.solved.problems, self.solved.outcomes, strict=True)
        return {_design(systolic(p).array): o if isinstance(o, Solution) else not_solved(p) for p, o in pairs}

    @cached_property
    def buildable(self) -> dict[Design, bool]:
        return {_design(systolic(p).array): systolic(p).array.buildable for p in self.solved.problems}

    def result(self, chosen: SharedDesign | None, without: Status) -> LayerResult:
        """The layer under the design chosen, or with a status where none is."""
        if chosen is not None:
            answer = self.answers[chosen.dataflow, chosen.permutation]
        else:
            alone = self.solved.best()
            known = alone.certificate
            none = Certificate(without, None, None, known.method, known.nodes, known.seconds)
            answer = Solution(alone.problem, None, None, none, alone.shortfalls)
        return LayerResult(self.layer, answer, self.solved.solutions)


def _design(array: SystolicArray) -> Design:
    return array.dataflow, array.permutation


def solve_shared_dataflow(network: Network, request: NetworkRequest, options: RunOptions) -> NetworkResult:
    """Find the dataflow and permutation that serve all layers of a kernel best.

    Parameters
    ----------
    network : Network
        The layers.
    request : NetworkRequest
        What is asked of each of them; its objective must add up over layers.
    options : RunOptions
        How to run the problems.

    Returns
    -------
    NetworkResult
        Each layer under the design chosen for its kernel; ``choices`` compares all designs that all its layers have.
        A choice is proven where its total is at most the lower bound of every other design's.

    Raises
    ------
    InputError
        If the objective does not add up, or the layers of a kernel have no design in common.
    """
    require_sum(request.objective, f"--mode {MODE}")
    solved = solve_layers(network, request, options)
    method = options.method.value
    kernels: dict[tuple[str, ...], list[_Member]] = {}
    for part in solved.layers:
        kernels.setdefault((part.layer.nest.name, *part.layer.nest.loops), []).append(_Member(part))
    choices: list[SharedDesign] = []
    bests: list[Total] = []
    results: dict[Layer, LayerResult] = {}
    for members in kernels.values():
        designs = _compare(members, method)
        best = best_total([d.total for d in designs], method)
        chosen = next((d for d in designs if d.chosen), None)
        results |= {m.layer: m.result(chosen, best.certificate.status) for m in members}
        choices += designs
        bests.append(best)
    return NetworkResult(
        MODE,
        network,
        request,
        method,
        tuple(results[layer] for layer in network.layers),
        total([(1, best.value, best.certificate) for best in bests], method),
        solved.complete,
        choices=tuple(choices),
        failures=solved.failures,
    )


def _compare(members: Sequence[_Member], method: str) -> list[SharedDesign]:
    """All designs of a kernel, the best first."""
    first = members[0]
    common = [design for design in first.answers if all(design in m.answers for m in members)]
    if not common:
        names = ", ".join(m.layer.name for m in members)
        raise InputError(f"layers {names} of kernel {first.layer.nest.name} have no design in common; see --layers")
    found = [
        SharedDesign(
            first.layer.nest.name,
            *design,
            all(m.buildable[design] for m in members),
            tuple(m.layer.name for m in members),
            total([(m.layer.count, m.answers[design].value, m.answers[design].certificate) for m in members], method),
        )
        for design in common
    ]
    found.sort(key=lambda d: (d.total.value is None, d.total.value or 0))  # stable: the first of equals
    value = found[0].total.value
    if value is not None:
        others = [d.total.certificate for d in found[1:]]
        proven = all(c.status is Status.INFEASIBLE or (c.lower_bound is not None and value <= c.lower_bound) for c in others)
        found[0] = replace(found[0], chosen=True, proven=proven)
    return found
