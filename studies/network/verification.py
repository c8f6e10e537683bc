"""Check what a network's result claims: every design of every layer proven again, or the search over shared arrays repeated.

Reading a file has evaluated every configuration again, and seen that totals follow from layers and layers from designs
(`ithaca.studies.network.consistency`). What is left are the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from ithaca.studies.network.result import LayerResult, NetworkResult, Total
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.errors import InputError

if TYPE_CHECKING:
    from ithaca.studies.network.mapped import MappingRequest


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
    yield from _verify_unrestricted(result, options)


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
    again = _solved(result, result.request, search)
    assert again.total is not None
    confirmed = agree(result.total, again.total, "total")
    if result.fusing is not None and again.fusing is not None:
        confirmed &= agree(result.fusing.without, again.fusing.without, "fusing")
        for index, (edge, other) in enumerate(zip(result.fusing.edges, again.fusing.edges, strict=True)):
            if other.fits and not edge.fits:
                raise InputError(f"fusing.edges[{index}].fits is false, yet both layers have room for it: {EDITED}")
    if confirmed:
        return Check("total", f"{said}; proven again in {budget.spent:.1f} s", True)
    proven = again.total.certificate.lower_bound
    return Check("total", f"{said}; bound not checked: proven in time is {number(proven)}", False)


def _solved(result: NetworkResult, request: NetworkRequest | MappingRequest, search: SolveOptions) -> NetworkResult:
    """What a result answers, solved once more."""
    if result.fusing is not None:
        return solve_fused(result.network, request, RunOptions(search=search))
    assert isinstance(request, NetworkRequest)  # others have no such modes
    return mode(result.mode)(result.network, request, RunOptions(search=search))


def agree(claim: Total, again: Total, at: str) -> bool:
    """Whether what is claimed of a value without its parts is proven again; False where time was too short for that."""
    (value, proof), (other, known) = ((each.value, each.certificate) for each in (claim, again))
    (bound, none), (proven, nothing) = ((p.lower_bound, p.status is Status.INFEASIBLE) for p in (proof, known))
    if other is not None and (none or (bound is not None and float(other) < float(bound))):
        what = "infeasible" if none else f"lower bound {number(bound)}"
        raise InputError(f"{at}.certificate: {what}, yet there is a configuration with {number(other)}: {EDITED}")
    if value is not None and (nothing or (proven is not None and float(proven) > float(value))):
        raise InputError(f"{at}.value is {number(value)}, yet nothing below {number(proven)} is possible: {EDITED}")
    reached = bound is None or (proven is not None and float(proven) >= float(bound))
    return nothing or (reached and not none and (value is None or (other is not None and float(other) <= float(value))))


def _verify_unrestricted(result: NetworkResult, options: SolveOptions) -> Iterator[Check]:
    """Prove again what there is without the restriction to what a compiler builds, if a result says so."""
    claim, request = result.unrestricted, result.request
    if claim is not None and isinstance(request, NetworkRequest):
        again = _solved(result, replace(request, space=replace(request.space, target=None)), options).total
        assert again is not None
        confirmed = agree(Total(claim.value, claim.certificate), again, "unrestricted")
        said = "proven again" if confirmed else f"not checked: proven in time is {number(again.certificate.lower_bound)}"
        yield Check("unrestricted", f"{claim.certificate.status.value}: value {number(claim.value)}; {said}", confirmed)
