"""Checks that the parts of a result of networks on shared arrays agree: arrays follow from layers,
and the total from arrays."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ithaca.files.errors import EDITED, InputError
from ithaca.files.numbers import number
from ithaca.formulations.families import choice_of
from ithaca.formulations.question import Minimise, in_shares
from ithaca.plugins.codesign.studies.arrays.arrays import SHARED_ARRAY
from ithaca.results.consistency import alike, check_follows
from ithaca.solver.certificate import Status
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.totals import best_total


def check_arrays(result: NetworkResult) -> None:
    """Refuse arrays that do not follow from layers, or values that do not from arrays; what is
    proven of shared arrays does not follow from parts."""
    _check_values(result)
    if result.mode == SHARED_ARRAY:
        _check_designs(result)


def _check_values(result: NetworkResult) -> None:
    request, claimed = result.request, result.total
    assert claimed is not None  # objectives add up
    for index, layer in enumerate(result.layers):
        # nothing is proven of one layer, or of all of them
        proof, value = layer.answer.certificate, layer.answer.value
        status = claimed.certificate.status if value is None else Status.FEASIBLE
        if (proof.status, proof.lower_bound, proof.among) != (status, None, ""):
            raise InputError(
                f"layers[{index}].certificate is not '{status.value}' without a bound: {EDITED}"
            )
    if [r.array for r in result.layers if r.answer.configured] != [
        n for n, a in enumerate(result.arrays) for _ in a.layers
    ]:
        raise InputError(f"arrays are not those of the layers, in order: {EDITED}")
    if len(result.arrays) > request.arrays:
        raise InputError(
            f"partition.arrays is {request.arrays}, yet there are {len(result.arrays)}: {EDITED}"
        )
    for index, array in enumerate(result.arrays):
        own = [r for r in result.layers if r.array == index]
        for layer in own:
            choice = choice_of(layer.answer.problem.design)
            parameters = layer.answer.profile.fixed_hardware
            parts = (tuple(choice["dataflow"]), choice["permutation"], parameters)
            if parts != (array.dataflow, array.permutation, dict(array.parameters)):
                raise InputError(
                    f"arrays[{index}] is not what layer {layer.layer.name} runs on: {EDITED}"
                )
        chosen = [(c.dataflow, c.permutation) for c in result.choices if c.chosen]
        if result.choices and (array.dataflow, array.permutation) not in chosen:
            raise InputError(f"arrays[{index}] is not of the design chosen: {EDITED}")
    if not result.arrays:
        return
    slowest = request.minimise is Minimise.SLOWEST
    for limit in request.limits:
        size, each = (
            request.shares.get(limit.metric),
            [array.resources[limit.metric] for array in result.arrays],
        )
        if limit.metric == "bandwidth" and not (size or slowest):
            continue  # of every layer
        taken = sum((in_shares(own, size) for own in each), Fraction(0))
        if taken > limit.bound and not alike(taken, limit.bound):
            raise InputError(
                f"arrays take {number(taken)} of {limit.metric}, whose limit is "
                f"{number(limit.bound)}: {EDITED}"
            )
    values = [array.total.value or Fraction(0) for array in result.arrays]
    check_follows(
        claimed,
        replace(claimed, value=max(values) if slowest else sum(values, Fraction(0))),
        "total",
    )


def _check_designs(result: NetworkResult) -> None:
    """Refuse designs of a shared array that do not follow from each other, or the total from
    them."""
    best = best_total([choice.total for choice in result.choices])
    check_follows(result.total, best, "total")
    for index, choice in enumerate(result.choices):
        first = index == 0 and best.value is not None
        follows = (first, first and best.certificate.status is Status.OPTIMAL)
        if (choice.chosen, choice.proven) != follows or not alike(
            choice.total.value, best.value if first else None
        ):
            raise InputError(
                f"choices[{index}]: chosen and proven do not follow "
                f"from the other designs: {EDITED}"
            )
