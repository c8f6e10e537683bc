"""Check what a network's result claims: every design of every layer proven again, or what arrays can do by another argument.

Reading a file has evaluated every configuration again, and seen that totals follow from layers and layers from designs
(`ithaca.studies.network.consistency`). What is left are the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ithaca.formulations.algebra.rounding import below
from ithaca.formulations.shown_numbers import counted, number
from ithaca.results.certificate import Status
from ithaca.results.files import EDITED
from ithaca.results.shortfall import Shortfall
from ithaca.solver.options import Budget, SolveOptions, StoppedError
from ithaca.solver.verification import BOUND_WITHIN, Claim, agree, verify
from ithaca.studies.network.arrays import Designs, none_alone, on_one_array, staged
from ithaca.studies.network.fused import solve_fused
from ithaca.studies.network.modes import ONE_SEARCH, SHARED_ARRAY, mode
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.problems import NetworkRequest
from ithaca.studies.network.result import LayerResult, NetworkResult, Total
from ithaca.studies.network.runner import RunOptions
from ithaca.studies.shared.proof import Proof
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
    elif one_search:
        yield _prove_arrays(result, options)
    elif result.fusing is not None:
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
    """Repeat the search over what stays on chip, until it has proven what is claimed."""
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
    confirmed = agree(Claim.of(result.total), Claim.of(again.total), "total")
    if result.fusing is not None and again.fusing is not None:
        confirmed &= agree(Claim.of(result.fusing.without), Claim.of(again.fusing.without), "fusing")
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


def _verify_unrestricted(result: NetworkResult, options: SolveOptions) -> Iterator[Check]:
    """Prove again what there is without the restriction to what a compiler builds, if a result says so."""
    claim, request = result.unrestricted, result.request
    if claim is not None and isinstance(request, NetworkRequest):
        again = _solved(result, replace(request, space=replace(request.space, target=None)), options).total
        assert again is not None
        confirmed = agree(Claim.of(claim), Claim.of(again), "unrestricted")
        said = "proven again" if confirmed else f"not checked: proven in time is {number(again.certificate.lower_bound)}"
        yield Check("unrestricted", f"{claim.certificate.status.value}: value {number(claim.value)}; {said}", confirmed)


def _prove_arrays(result: NetworkResult, options: SolveOptions) -> Check:
    """Prove bounds of arrays by an argument of its own; why there are none, by the layers that cannot run alone."""
    total, request, shared = result.total, result.request, result.mode == SHARED_ARRAY
    assert isinstance(request, NetworkRequest)  # others have no such modes
    assert total is not None
    claim, said = total.certificate, f"{total.certificate.status.value}: {_claims(result)}"
    limit = BOUND_WITHIN if options.time_limit is None and not claim.status.proven else options.time_limit
    budget, infeasible = Budget(replace(options, time_limit=limit)), claim.status is Status.INFEASIBLE
    designs, sequence = (on_one_array if shared else staged)(result.network, request)
    parts: list[tuple[Total, Designs]] = [(total, designs)]
    if shared:  # what is proven of all follows from what is of each
        claims = {choice.name: choice.total for choice in result.choices}
        if claims.keys() != {layers[0][0].design.name for layers in designs}:
            raise InputError(f"choices are not the designs that all layers have: {EDITED}")
        parts = [(claims[layers[0][0].design.name], [layers]) for layers in designs]
    falls = none_alone(result.network, designs, total, budget) if infeasible else ()
    if infeasible and not budget.over and _shortfalls(falls) != _shortfalls(result.layers):
        raise InputError(f"shortfalls are not those of the layers alone: {EDITED}")
    proven = not budget.over
    for part, own in parts:
        bound = part.certificate.lower_bound
        if bound is not None or part.certificate.status is Status.INFEASIBLE:
            proof = Proof(own, sequence, request.arrays, request.minimise, budget.share(), request.shares)
            try:
                proven &= proof.holds(bound)
            except StoppedError:
                proven = False
    if proven:
        return Check("total", f"{said}; proven by another argument in {budget.spent:.1f} s", True)
    again = _solved(result, request, replace(budget.share(), gap=below(claim.gap or 0.0)))
    assert again.total is not None
    agree(Claim.of(total), Claim.of(again.total), "total")
    return Check("total", f"{said}; bound not checked: not proven by another argument in time", False)


def _shortfalls(layers: Sequence[LayerResult]) -> list[Shortfall]:
    """Why layers cannot run alone, with numbers as files hold them."""
    falls = (fall for layer in layers for fall in layer.answer.shortfalls)
    return [fall if fall.smallest is None else replace(fall, smallest=Fraction(float(fall.smallest))) for fall in falls]
