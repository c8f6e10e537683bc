"""Check what a network's result claims: every design of every layer proven again, or the search over shared arrays repeated.

Reading a file has evaluated every configuration again, and seen that totals follow from layers and layers from designs
(`ithaca.studies.network.consistency`). What is left are the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ithaca.formulations.algebra.rounding import below
from ithaca.formulations.shown_numbers import counted, number
from ithaca.results.certificate import Status
from ithaca.results.files import EDITED
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.verification import BOUND_WITHIN, verify
from ithaca.studies.network.fused import solve_fused
from ithaca.studies.network.modes import ONE_SEARCH, mode
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import LayerResult, NetworkResult
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.errors import InputError


@dataclass(frozen=True, slots=True)
class Check:
    """What came of checking a part of a result."""

    place: str  #: The layer, or the total
    line: str  #: What was found, in one line
    confirmed: bool  #: Whether all that is claimed of it was proven again
    width: int = 10  #: Of the column that places are printed in

    def __str__(self) -> str:
        return f"{self.place:<{self.width}} {self.line}"


def verify_network(result: NetworkResult, options: SolveOptions) -> Iterator[Check]:
    """Prove again what a network's result claims, layer by layer, then the total; the time limit is for each layer.

    Raises `InputError` if a claim is false, and no engine repeats it; it names the place in the file; `DisagreementError` if
    engines contradict each other.
    """
    one_search, confirmed = result.mode in ONE_SEARCH, True
    for index, layer in enumerate(result.layers):
        check = _evaluated(layer) if one_search else _check_layer(result, layer, options, f"layers[{index}]")
        confirmed &= check.confirmed
        yield check
    if result.total is None:
        yield Check("total", "none is claimed: the objective does not add up over layers", True)
    elif one_search or result.fusing is not None:
        yield _search_again(result, options)
    else:
        what = "the sum over the layers" if confirmed else "the sum over the layers, not all of which are confirmed"
        yield Check("total", f"{result.total.certificate.status.value}: {_claims(result)}, {what}", confirmed)


def _evaluated(layer: LayerResult) -> Check:
    value = "no configuration" if layer.answer.value is None else f"value {number(layer.answer.value)} re-evaluated"
    on = "" if layer.array is None else f" on array {layer.array}"
    return Check(layer.layer.name, value + on, True)


def _check_layer(result: NetworkResult, layer: LayerResult, options: SolveOptions, at: str) -> Check:
    """Prove every design of a layer again, those first on which its answer rests."""
    answer, budget = layer.answer, Budget(options)
    alone = {s.design: s for s in layer_result(result, layer).designs}  # with what the answer says of them
    designs = [(index, alone.get(d.design, d)) for index, d in enumerate(layer.designs)]
    designs.sort(key=lambda each: each[1].configuration is None)
    confirmed = 0
    for index, design in designs:
        if not budget.over:
            confirmed += verify(design, budget.share(), f"{at}.designs[{index}]")[1]
    of = counted(len(designs), "design")
    found = f"{of} confirmed" if confirmed == len(designs) else f"{len(designs) - confirmed} of {of}: bound not checked"
    said = f"{answer.certificate.status.value}: {_evaluated(layer).line}; {found} in {budget.spent:.1f} s"
    return Check(layer.layer.name, said, confirmed == len(designs))


def _claims(result: NetworkResult) -> str:
    assert result.total is not None
    value, bound = result.total.value, result.total.certificate.lower_bound
    proven = result.total.certificate.status is Status.OPTIMAL
    return f"value {number(value)}" + ("" if proven or bound is None else f", lower bound {number(bound)}")


def _search_again(result: NetworkResult, options: SolveOptions) -> Check:
    """Repeat the search over all layers, until it has proven what is claimed."""
    assert result.total is not None
    claim = result.total.certificate
    said = f"{claim.status.value}: {_claims(result)}"
    if claim.lower_bound is None and claim.status is not Status.INFEASIBLE:
        return Check("total", f"{said}; no proof is claimed", True)
    limit = BOUND_WITHIN if options.time_limit is None and not claim.status.proven else options.time_limit
    # as soon as the gap is as small as the claimed one, the bound has been reached
    search, budget = replace(options, gap=below(claim.gap or 0.0), time_limit=limit), Budget(options)
    if result.fusing is not None:
        again = solve_fused(result.network, result.request, RunOptions(search=search)).total
    else:
        assert isinstance(result.request, NetworkRequest)  # others have no such modes
        again = mode(result.mode)(result.network, result.request, RunOptions(search=search)).total
    assert again is not None
    proven, value = again.certificate.lower_bound, again.value
    if value is not None and (claim.lower_bound is None or float(value) < float(claim.lower_bound)):
        raise InputError(f"total.certificate: {said}, yet there is a configuration with {number(value)}: {EDITED}")
    infeasible = again.certificate.status is Status.INFEASIBLE
    if infeasible or (claim.lower_bound is not None and proven is not None and float(proven) >= float(claim.lower_bound)):
        return Check("total", f"{said}; proven again in {budget.spent:.1f} s", True)
    return Check("total", f"{said}; bound not checked: proven in time is {number(proven)}", False)
