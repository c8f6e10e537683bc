"""Networks asked about: the answer as hardware runs it, word by word, beside that without a
restriction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ithaca.formulations.families import profile_of
from ithaca.formulations.question import Question
from ithaca.solver.options import COMPARING, RUNNING, Budget
from ithaca.solver.runs import as_it_runs
from ithaca.studies.best import without_restriction
from ithaca.studies.network.modes import mode as find_mode
from ithaca.studies.network.result import PER_LAYER, LayerResult, NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.network.totals import adds_up, total
from ithaca.studies.runs import runs_of
from ithaca.workloads.networks.network import Network


def with_layers_run(result: NetworkResult, budget: Budget) -> NetworkResult:
    """A result whose layers are run: each is then the one of its designs that is best as it runs,
    where layers share nothing and the total adds up over them."""
    alone = result.mode == PER_LAYER and result.fusing is None and adds_up(result.request.objective)
    layers = tuple(_layer_run(layer, budget, alone=alone) for layer in result.layers)
    whole = result.total
    if [r.answer for r in layers] != [r.answer for r in result.layers]:
        whole = total(((r.layer.count, r.answer) for r in layers), result.method)
    return replace(result, layers=layers, total=whole)


def _layer_run(layer: LayerResult, budget: Budget, *, alone: bool) -> LayerResult:
    answer = layer.answer
    if answer.value is None or not answer.profile.runs:
        return layer
    own = [design for design in layer.designs if design.design == answer.design]
    best = own[0] if alone and own else answer
    designs = layer.designs if best is not answer else (answer,)
    runs = tuple(runs_of(best, designs, budget))
    chosen = as_it_runs(designs, runs)
    assert chosen is not None
    assert chosen.value is not None
    proof = answer.certificate
    proof = proof if chosen.value == answer.value else proof.of_other(chosen.value)
    return replace(layer, answer=replace(chosen, certificate=proof), runs=runs)


@dataclass(frozen=True)
class NetworkQuestion:
    """A question about a network."""

    network: Network
    """The network, with the layers that are asked for."""
    question: Question
    """The question about each layer."""
    mode: str
    """The thing that layers share: the name of a mode."""
    fuse: bool = False
    """Whether tensors may stay on chip between layers."""

    def answer(self, options: RunOptions) -> NetworkResult:
        """Solve the network, and run its layers.

        Raises `InputError` if the question does not fit the network.
        """
        budget = Budget(options.search)
        share = RUNNING if self._is_run(options) else 0
        return with_layers_run(
            self._solved(replace(options, search=options.search.keeping(share))), budget
        )

    def _solved(self, options: RunOptions) -> NetworkResult:
        """The answer by the closed form, beside that without a restriction."""
        budget, free = Budget(options.search), self.question.unrestricted
        solve = find_mode(self.mode, fuse=self.fuse)
        search = budget.options.keeping(COMPARING if free is not None else 0)
        answer = solve(self.network, self.question, replace(options, search=search))
        if free is None or answer.value is None or options.search.stopped:
            return answer
        other = solve(self.network, free, replace(options, search=budget.share()))
        if other.total is None or options.search.stopped:
            return answer
        compared = without_restriction(answer.value, other.total.value, other.total.certificate)
        return replace(answer, unrestricted=compared)

    def _is_run(self, options: RunOptions) -> bool:
        """Whether layers are run after the search, of which the time is limited."""
        if options.search.time_limit is None:
            return False
        first = replace(self.network, layers=self.network.layers[:1])
        problems = self.question.pose(first)[0].problems
        return any(profile_of(problem.design).runs for problem in problems)
