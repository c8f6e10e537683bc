"""CMA-ES and differential evolution with nevergrad, with its defaults, in the unit cube of the coordinates.

Bounds are given to the array's constructor, which derives the spread of first samples from them; set afterwards they
leave a spread as wide as the cube, with which differential evolution is no better than chance. Of its kinds the one with
two-point crossover is used, which nevergrad's documentation recommends; plain ``DE`` does a little worse here.

Limits enter by the graded cost: both compare costs and use them for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.exports.seeds.parameters import peer
from ithaca.formulations.configuration import Configuration
from ithaca.peers.evaluator import Evaluator
from ithaca.peers.recorder import Ended


def search_cma(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Covariance matrix adaptation; its distribution begins around the best start if there are any."""
    points = evaluator.starts(starts)
    if not len(points):
        return _search(evaluator, "CMA", seed, (), None)
    units = evaluator.coordinates.to_units(points)
    return _search(evaluator, "CMA", seed, (), units[int(evaluator.points(points).cost.argmin())])


def search_de(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Differential evolution; starts are suggested, so that they are of the first population."""
    units = evaluator.coordinates.to_units(evaluator.starts(starts))
    return _search(evaluator, "TwoPointsDE", seed, units.tolist(), None)


def _search(
    evaluator: Evaluator, name: str, seed: int, suggested: Sequence[Sequence[float]], centre: np.ndarray | None
) -> Ended | None:
    ng, coordinates = peer("nevergrad"), evaluator.coordinates
    first = np.full(coordinates.count, 0.5) if centre is None else np.clip(centre, 0.0, 1.0)
    space = ng.p.Array(init=first, lower=np.zeros(first.size), upper=np.ones(first.size))
    space.random_state.seed(seed)
    optimizer = ng.optimizers.registry[name](parametrization=space, budget=evaluator.recorder.budget.samples)
    # nevergrad asks for the latest suggestion first
    for units in reversed(suggested):
        optimizer.suggest(np.asarray(units))
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, float(evaluator.units(candidate.value[None, :]).cost[0]))
