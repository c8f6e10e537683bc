"""Check what networks claim of arrays that layers share, by an argument of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.files.clock import StoppedError
from ithaca.files.errors import EDITED, InputError
from ithaca.formulations.algebra.rounding import below
from ithaca.formulations.families import choice_of
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.plugins.codesign.studies.arrays.arrays import (
    SHARED_ARRAY,
    in_equal_parts,
    none_alone,
    on_arrays,
)
from ithaca.plugins.codesign.studies.arrays.proof import Proof
from ithaca.results.network_verification import claimed_total, total_again
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.verification import Claim, agree, time_for
from ithaca.studies.network.result import LayerResult, NetworkResult, Total


def prove_arrays(result: NetworkResult, total: Total, options: SolveOptions) -> tuple[str, bool]:
    """Prove bounds of arrays by an argument of its own; why there are none, by the layers that
    cannot run alone.

    Parameters
    ----------
    result : NetworkResult
        The network.
    total : Total
        Its total, and what is claimed of it.
    options : SolveOptions
        How far to search.

    Returns
    -------
    tuple of str and bool
        The finding in words, and whether all that is claimed was proven.
    """
    request, shared, claim, words = (
        result.request,
        result.mode == SHARED_ARRAY,
        total.certificate,
        claimed_total(result, total),
    )
    assert isinstance(request, ArrayQuestion)
    budget = Budget(time_for(claim, options))
    designs, sequence = on_arrays(result.network, request, result.mode)
    questions = [] if shared else in_equal_parts(result.network, request)
    parts = [(total, designs, own) for own, (designs, _) in questions]
    if shared:  # what is proven of all follows from what is of each
        claims = {choice.name: choice.total for choice in result.choices}
        whole = (
            result.network.layers[0].nest.name,
            tuple(layer.name for layer in result.network.layers),
        )
        known = {
            (d[0][0].design.name, all(choice_of(p.design)["buildable"] for p, _ in d), *whole)
            for d in designs
        }
        if {
            (choice.name, choice.buildable, choice.kernel, choice.layers)
            for choice in result.choices
        } != known:
            raise InputError(f"choices are not the designs that all layers have: {EDITED}")
        parts = [(claims[layers[0][0].design.name], [layers], request) for layers in designs]
    falls = _shortfalls(result.layers)  # earlier versions stated none
    if falls:
        arranged = designs, sequence
        again = _shortfalls(none_alone(result.network, request, arranged, total, budget))
        if not budget.over and not _agree(falls, again):
            raise InputError(f"shortfalls are not those of the layers alone: {EDITED}")
    proven = not budget.over
    for part, layers, own in parts:
        bound = part.certificate.lower_bound
        if bound is not None or part.certificate.status is Status.INFEASIBLE:
            proof = Proof(layers, sequence, own.arrays, own.minimise, budget.share(), own.shares)
            try:
                proven &= proof.holds(bound)
            except StoppedError:
                proven = False
    if proven:
        return f"{words}; proven by another argument in {budget.spent:.1f} s", True
    search = replace(budget.share(), gap=below(claim.gap or 0.0))
    agree(Claim.of(total), Claim.of(total_again(result, request, search, fused=False)), "total")
    return f"{words}; bound not checked: not proven by another argument in time", False


def _agree(claimed: Sequence[Shortfall], again: Sequence[Shortfall]) -> bool:
    """Whether claimed shortfalls are those of a search; of a limit whose least one of them leaves
    open, a claimed value is none below the least."""
    open_, late = ({x.metric for x in own if x.smallest is None} for own in (claimed, again))
    sure = [[x for x in own if x.metric not in open_ | late] for own in (claimed, again)]
    least = {(x.metric, x.design): x.smallest for x in again if x.metric not in late}
    return sure[0] == sure[1] and all(
        fall.smallest >= (least.get((fall.metric, fall.design)) or 0)
        for fall in claimed
        if fall.smallest is not None and fall.metric in open_
    )


def _shortfalls(layers: Sequence[LayerResult]) -> list[Shortfall]:
    """Reasons why layers cannot run alone, with numbers as files hold them."""
    falls = (fall for layer in layers for fall in layer.answer.shortfalls)
    return [
        fall if fall.smallest is None else replace(fall, smallest=Fraction(float(fall.smallest)))
        for fall in falls
    ]
