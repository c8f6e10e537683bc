"""The searches of hardware by name; all but the explained one know an accelerator only by what it
costs.

*nsga2*: pymoo's, with its defaults and populations of `POPULATION`. *tpe*, *gp*: optuna's Bayesian
optimisation by tree-structured Parzen estimators and by Gaussian processes (needs torch), for
several objectives, too, after `FIRST` random trials. Their coordinates are the places of values.
Limits are constraints; what breaks a rule is a trial, too, and what is too large by itself one that
takes no seconds. What a method asks for again costs nothing; one that asks for nothing new
`PATIENCE` times ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.peer import peer
from ithaca.files.words import parse_choice
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.peers.studies.explained import search_explained
from ithaca.plugins.peers.studies.hardware import HardwareEvaluator, HardwareTrace
from ithaca.plugins.peers.studies.libraries import Score, optuna_trials, pymoo_generations
from ithaca.plugins.peers.studies.methods import quiet
from ithaca.plugins.peers.studies.recorder import BudgetUsedError, Ended

#: Accelerators of a generation, random trials before a model is fitted, and repeats in a row that
#: end a search.
POPULATION, FIRST, PATIENCE = 10, 5, 200

#: Stands for the objectives of what cannot run, beside its excess.
WORST = 1e30


def _point(evaluator: HardwareEvaluator, places: Any) -> Configuration:
    quantities = evaluator.question.space.quantities
    return Configuration(
        {q.name: q.values[int(place)] for q, place in zip(quantities, places, strict=True)}
    )


def _score(evaluator: HardwareEvaluator, patience: int) -> Score:
    """The function that scores accelerators, given by places of values; it ends a search that asks
    for nothing new."""
    idle = [WORST] * len(evaluator.question.objectives)

    def score(places: Any) -> tuple[Floats, Floats]:
        if evaluator.idle >= patience:
            raise BudgetUsedError(Ended.STOPPED)
        every = [evaluator.evaluate(_point(evaluator, each)) for each in places]
        values = [idle if e.hardware is None else [*map(float, e.hardware.values)] for e in every]
        return np.array(values), np.array([each.excess for each in every])

    return score


def _search_random(evaluator: HardwareEvaluator) -> Ended:
    """Accelerators that keep the rules, each once."""
    generator, space = np.random.default_rng(evaluator.seed), evaluator.question.space
    sizes = [len(quantity.values) for quantity in space.quantities]
    while evaluator.idle < 10 * PATIENCE and len(evaluator.history) < space.box.count:
        point = _point(evaluator, generator.integers(sizes))
        if space.allows(point):
            evaluator.evaluate(point)
        else:
            evaluator.idle += 1
    return Ended.STOPPED


def _search_nsga2(evaluator: HardwareEvaluator) -> Ended:
    sizes = np.array([len(quantity.values) for quantity in evaluator.question.space.quantities])

    def score(places: Any) -> tuple[Floats, Floats]:
        return scored(np.rint(places).clip(0, sizes - 1))

    scored = _score(evaluator, POPULATION * PATIENCE)
    pymoo_generations(
        peer("pymoo.algorithms.moo.nsga2").NSGA2(pop_size=POPULATION),
        evaluator.seed,
        (-0.499, sizes - 0.501),
        score,
        count=len(sizes),
        objectives=len(evaluator.question.objectives),
    )
    return Ended.STOPPED


def _search_optuna(name: str, evaluator: HardwareEvaluator) -> Ended:
    integer = peer("optuna").distributions.IntDistribution
    optuna_trials(
        name,
        evaluator.seed,
        {q.name: integer(0, len(q.values) - 1) for q in evaluator.question.space.quantities},
        _score(evaluator, PATIENCE),
        objectives=len(evaluator.question.objectives),
        n_startup_trials=FIRST,
    )


#: All searches of hardware by name, with the packages that they need.
HARDWARE_PEERS: dict[str, tuple[Callable[[HardwareEvaluator], Ended], tuple[str, ...]]] = {
    "random": (_search_random, ()),
    "nsga2": (_search_nsga2, ("pymoo",)),
    "tpe": (partial(_search_optuna, "TPESampler"), ("optuna",)),
    "gp": (partial(_search_optuna, "GPSampler"), ("optuna", "scipy", "torch")),
    "explained": (search_explained, ()),
}


def run_hardware_peer(
    name: str,
    question: CodesignQuestion,
    bank: LayerCache,
    trials: int,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
) -> HardwareTrace:
    """Run a search of `HARDWARE_PEERS`; the same seed and trials give the same accelerators.

    Raises `InputError` if there is none of that name, its library is not installed, or it cannot
    search for what is asked.

    Parameters
    ----------
    name : str
        A search of `HARDWARE_PEERS`.
    question : Question
        The space, the layers, what is minimised and what is limited.
    bank : LayerCache
        Answers of layers, which searches share.
    trials : int
        How many accelerators may be evaluated.
    seed : int, optional
        Fixes what chance decides.
    stop : callable, optional
        Whether to end with what there is.
    """
    parse_choice("--method", name, HARDWARE_PEERS)
    search, libraries = HARDWARE_PEERS[name]
    evaluator = HardwareEvaluator(question, bank, trials, stop, seed)
    if name == "explained" and len(question.objectives) > 1:
        raise InputError("--method is explained with several --objectives; allowed: one objective")
    with quiet(libraries):
        try:
            ended = search(evaluator)
        except BudgetUsedError as used:
            ended = used.ended
    return HardwareTrace(
        name, seed, tuple(evaluator.history.values()), ended, tuple(evaluator.trail)
    )


#: Each with everything but its name; `ithaca codesign --method` asks for them.
random, nsga2, tpe, gp, explained = (partial(run_hardware_peer, name) for name in HARDWARE_PEERS)
