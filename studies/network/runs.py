"""The layers of a network, run word by word before their answers are given."""

from __future__ import annotations

from dataclasses import replace

from ithaca.solver.options import Budget
from ithaca.solver.runs import as_it_runs
from ithaca.studies.network.result import PER_LAYER, LayerResult, NetworkResult
from ithaca.studies.network.totals import adds_up, total
from ithaca.studies.runs import runs_of


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
