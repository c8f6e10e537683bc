"""Seeds for optuna (https://optuna.org): trials to enqueue.

In Python they are a study that has them; the file is a JSON list of parameter dictionaries, for a
study of one's own. Both run the seeds as the first trials, in order::

    study = ithaca.seed(result, "optuna")
    study = optuna.create_study()
    seed_optuna(study, json.load(open("seeds.json")))

    study.optimize(optuna_objective(result_space(result)), n_trials=100)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ithaca.files.extras import peer
from ithaca.plugins.seeds.exports.parameters import ParameterSpace, Seeds, json_list, penalised


def optuna_text(seeds: Seeds) -> str:
    """The file: a JSON list of parameter dictionaries."""
    return json_list(seeds.parameters)


def optuna_study(seeds: Seeds) -> Any:
    """A study in memory that minimises, with the seeds enqueued as its first trials.

    Raises `InputError` if optuna is not installed.
    """
    study = peer("optuna").create_study()
    seed_optuna(study, seeds.parameters)
    return study


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
