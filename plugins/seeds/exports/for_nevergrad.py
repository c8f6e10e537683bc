"""Seeds for nevergrad (https://facebookresearch.github.io/nevergrad): suggestions.

In Python they are candidates with their losses, of which an optimizer is told; the file is a JSON
list of keyword arguments, which it is to evaluate first, in order::

    space = result_space(result)
    optimizer = ng.optimizers.NGOpt(nevergrad_parametrization(space), budget=100)
    for candidate in ithaca.seed(result, "nevergrad"):
        optimizer.tell(candidate, candidate.loss)
    # or
    seed_nevergrad(optimizer, json.load(open("seeds.json")))

    optimizer.minimize(nevergrad_loss(space))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ithaca.files.extras import peer
from ithaca.plugins.seeds.exports.parameters import ParameterSpace, Seeds, json_list, score

#: Points outside the limits cost at least this, and at most twice: nevergrad clips beyond 5e20, and
#: clipped losses look alike.
BROKEN = 1e20


def nevergrad_text(seeds: Seeds) -> str:
    """The file: a JSON list of keyword arguments."""
    return json_list(seeds.parameters)


def nevergrad_parametrization(space: ParameterSpace) -> Any:
    """The parameters as nevergrad's: integers within bounds, by keyword.

    Raises `InputError` if nevergrad is not installed.
    """
    ng = peer("nevergrad")
    scalars = {}
    for p in space.parameters:
        # a scalar needs room between its bounds; decoding repairs what it should not reach
        high = max(p.high, p.low + 1)
        scalars[p.name] = ng.p.Scalar(init=p.low, lower=p.low, upper=high).set_integer_casting()
    return ng.p.Instrumentation(**scalars)


def nevergrad_candidates(seeds: Seeds) -> list[Any]:
    """The seeds as candidates that know their loss.

    Raises `InputError` if nevergrad is not installed.
    """
    parametrization, loss = nevergrad_parametrization(seeds.space), nevergrad_loss(seeds.space)
    candidates = []
    for seed in seeds.parameters:
        candidates.append(parametrization.spawn_child(new_value=((), seed)))
        candidates[-1].loss = loss(**seed)
    return candidates


def seed_nevergrad(optimizer: Any, parameters: Iterable[Mapping[str, int]]) -> None:
    """Suggest seeds (`Seeds.parameters`, or a file's), which are then asked for first."""
    # nevergrad asks for the latest suggestion first
    for seed in reversed(list(parameters)):
        optimizer.suggest(**seed)


def nevergrad_loss(space: ParameterSpace) -> Callable[..., float]:
    """The function to minimise; it takes the parameters by keyword."""

    def loss(**parameters: int) -> float:
        value, violation = score(space, parameters)
        return float(value) if not violation else BROKEN * (2 - 1 / (1 + float(violation)))

    return loss
