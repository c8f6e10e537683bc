"""The searches of hardware by libraries, which know an accelerator only by what it costs.

*nsga2*: pymoo's, with its defaults and populations of `POPULATION`. *tpe*, *gp*: optuna's Bayesian
optimisation by tree-structured Parzen estimators and by Gaussian processes (needs torch), for
several objectives, too, after `FIRST` random trials. Their coordinates are the places of values. A
search that asks for nothing new `PATIENCE` times ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from ithaca.files.extras import peer
from ithaca.formulations.algebra.array_types import Floats
from ithaca.plugins.peers.studies.libraries import optuna_trials, pymoo_generations
from ithaca.plugins.peers.studies.methods import quiet

#: Accelerators of a generation, random trials before a model is fitted, and repeats in a row that
#: end a search.
POPULATION, FIRST, PATIENCE = 10, 5, 200


class Evaluator(Protocol):
    """An evaluator of accelerators, which ends a search by an exception of its own."""

    @property
    def seed(self) -> int:
        """The seed of random numbers."""

    @property
    def places(self) -> Mapping[str, int]:
        """The number of values of every quantity, by its name."""

    @property
    def objectives(self) -> int:
        """The number of objectives."""

    def score(self, places: Any, patience: int) -> tuple[Floats, Floats]:
        """Objectives and excesses over limits of accelerators, given by places of values; it ends
        a search that asks for nothing new so many times in a row."""


def nsga2(evaluator: Evaluator) -> None:
    """Evolve by pymoo."""
    sizes = np.array([*evaluator.places.values()])

    def score(places: Any) -> tuple[Floats, Floats]:
        return evaluator.score(np.rint(places).clip(0, sizes - 1), POPULATION * PATIENCE)

    with quiet(("pymoo",)):
        pymoo_generations(
            peer("pymoo.algorithms.moo.nsga2").NSGA2(pop_size=POPULATION),
            evaluator.seed,
            (-0.499, sizes - 0.501),
            score,
            count=len(sizes),
            objectives=evaluator.objectives,
        )


def _search_optuna(sampler: str, libraries: Sequence[str], evaluator: Evaluator) -> None:
    with quiet(libraries):
        integer = peer("optuna").distributions.IntDistribution
        optuna_trials(
            sampler,
            evaluator.seed,
            {name: integer(0, count - 1) for name, count in evaluator.places.items()},
            lambda places: evaluator.score(places, PATIENCE),
            objectives=evaluator.objectives,
            n_startup_trials=FIRST,
        )


tpe = partial(_search_optuna, "TPESampler", ("optuna",))
gp = partial(_search_optuna, "GPSampler", ("optuna", "scipy", "torch"))
