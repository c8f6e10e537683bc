"""Bayesian optimisation with optuna: tree-structured Parzen estimators, and Gaussian processes.

Factors are integers on a logarithmic scale, limits are constraints, and all settings are the library's defaults; its ten
first random trials are also what the released Odyssey begins with (``tuners.py``, ``init_points``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ithaca.exports.seeds.parameters import peer
from ithaca.formulations.configuration import Configuration
from ithaca.peers.evaluator import Evaluator
from ithaca.peers.recorder import Ended

#: Under this name a trial carries its excess over the limits.
EXCESS = "excess"


def search_tpe(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Tree-structured Parzen estimators; starts are the first trials."""
    sampler = peer("optuna").samplers.TPESampler(seed=seed, constraints_func=_excess)
    return _search(evaluator, sampler, starts)


def search_gp(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Gaussian processes (by torch); starts are the first trials. A trial takes longer the more there are."""
    sampler = peer("optuna").samplers.GPSampler(seed=seed, deterministic_objective=True, constraints_func=_excess)
    return _search(evaluator, sampler, starts)


def _search(evaluator: Evaluator, sampler: Any, starts: Sequence[Configuration]) -> Ended | None:
    optuna, coordinates = peer("optuna"), evaluator.coordinates
    integer = optuna.distributions.IntDistribution
    distributions = {c.name: integer(c.low, c.high, log=not c.exponent) for c in coordinates.all}
    study = optuna.create_study(sampler=sampler)
    for point in evaluator.starts(starts).tolist():
        study.enqueue_trial({c.name: value for c, value in zip(coordinates.all, point, strict=True)})
    while True:
        trial = study.ask(distributions)
        point = np.array([[trial.params[c.name] for c in coordinates.all]], dtype=np.int64)
        scores = evaluator.points(point)
        trial.set_user_attr(EXCESS, float(scores.excess[0]))
        # the logarithm, also of what is infeasible: the excess is the constraint
        study.tell(trial, float(evaluator.scaled(scores.objective)[0]))


def _excess(trial: Any) -> tuple[float]:
    return (trial.user_attrs[EXCESS],)
