"""Seeds for optuna (https://optuna.org): trials to enqueue.

The file is a JSON list of parameter dictionaries::

    space = result_space("result.json")
    study = optuna.create_study()
    seed_optuna(study, json.load(open("seeds.json")))
    study.optimize(optuna_objective(space), n_trials=100)

runs the seeds as the first trials, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ithaca.exports.seeds.parameters import ParameterSpace, Seeds, json_list, penalised


def optuna_text(seeds: Seeds) -> str:
    """The file: a JSON list of parameter dictionaries."""
    return json_list(seeds.parameters)


def seed_optuna(study: Any, parameters: Iterable[Mapping[str, int]]) -> None:
    """Enqueue seeds (`Seeds.parameters`, or a file's) as the next trials of a study."""
    for seed in parameters:
        study.enqueue_trial(dict(seed))


def optuna_objective(space: ParameterSpace) -> Callable[[Any], float]:
    """The objective function of a study that minimises."""

    def objective(trial: Any) -> float:
        return penalised(
            space, {p.name: trial.suggest_int(p.name, p.low, p.high) for p in space.parameters}
        )

    return objective
