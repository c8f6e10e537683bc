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
from ithaca.formulations.configuration import Configuration
from ithaca.studies.codesign.layer_cache import LayerCache
from ithaca.studies.codesign.question import Question
from ithaca.studies.peers.explained import search_explained
from ithaca.studies.peers.hardware import HardwareEvaluation, HardwareEvaluator, HardwareTrace
from ithaca.studies.peers.libraries import EXCESS, optuna_sampler
from ithaca.studies.peers.methods import quiet
from ithaca.studies.peers.recorder import BudgetUsedError, Ended

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


def _values(evaluation: HardwareEvaluation, objectives: int) -> list[float]:
    return (
        [WORST] * objectives
        if evaluation.found is None
        else [float(value) for value in evaluation.found.values]
    )


def _search_random(evaluator: HardwareEvaluator, trail: list[str]) -> Ended:
    """Accelerators that keep the rules, each once."""
    generator, space = np.random.default_rng(evaluator.seed), evaluator.question.space
    sizes, idle = [len(quantity.values) for quantity in space.quantities], 0
    while idle < 10 * PATIENCE and len(evaluator.history) < space.box.count:
        point = _point(evaluator, generator.integers(sizes))
        fresh = space.allows(point) and point not in evaluator.history
        idle = 0 if fresh else idle + 1
        if fresh:
            evaluator.evaluate(point)
    return Ended.STOPPED


def _search_nsga2(evaluator: HardwareEvaluator, trail: list[str]) -> Ended:
    space, objectives = evaluator.question.space, len(evaluator.question.objectives)
    most = np.array([len(quantity.values) for quantity in space.quantities]) - 1
    problem = peer("pymoo.core.problem").Problem(
        n_var=len(most), n_obj=objectives, n_ieq_constr=1, xl=-0.499, xu=most + 0.499
    )
    algorithm = peer("pymoo.algorithms.moo.nsga2").NSGA2(pop_size=POPULATION)
    algorithm.setup(problem, termination=("n_gen", np.inf), seed=evaluator.seed, verbose=False)
    evaluations, static = (
        peer("pymoo.core.evaluator").Evaluator(),
        peer("pymoo.problems.static").StaticProblem,
    )
    idle = 0
    while idle < PATIENCE:
        before, population = len(evaluator.history), algorithm.ask()
        if population is None or not len(population):
            return Ended.STOPPED
        points = [
            _point(evaluator, np.rint(places).clip(0, most)) for places in population.get("X")
        ]
        scored = [evaluator.evaluate(point) for point in points]
        scores = np.array([_values(each, objectives) for each in scored])
        evaluations.eval(
            static(problem, F=scores, G=np.array([[each.excess] for each in scored])), population
        )
        algorithm.tell(infills=population)
        idle = 0 if len(evaluator.history) > before else idle + 1
    return Ended.STOPPED


def _search_optuna(name: str, evaluator: HardwareEvaluator, trail: list[str]) -> Ended:
    optuna, space, objectives = (
        peer("optuna"),
        evaluator.question.space,
        len(evaluator.question.objectives),
    )
    sampler = optuna_sampler(name, evaluator.seed, n_startup_trials=FIRST)
    study = optuna.create_study(sampler=sampler, directions=["minimize"] * objectives)
    ranges = {
        q.name: optuna.distributions.IntDistribution(0, len(q.values) - 1) for q in space.quantities
    }
    idle = 0
    while idle < PATIENCE:
        before, trial = len(evaluator.history), study.ask(ranges)
        point = _point(evaluator, [trial.params[quantity.name] for quantity in space.quantities])
        evaluation = evaluator.evaluate(point)
        trial.set_user_attr(EXCESS, evaluation.excess)
        study.tell(trial, _values(evaluation, objectives))
        idle = 0 if len(evaluator.history) > before else idle + 1
    return Ended.STOPPED


#: All searches of hardware by name, with the packages that they need.
HARDWARE_PEERS: dict[
    str, tuple[Callable[[HardwareEvaluator, list[str]], Ended], tuple[str, ...]]
] = {
    "random": (_search_random, ()),
    "nsga2": (_search_nsga2, ("pymoo",)),
    "tpe": (partial(_search_optuna, "TPESampler"), ("optuna",)),
    "gp": (partial(_search_optuna, "GPSampler"), ("optuna", "scipy", "torch")),
    "explained": (search_explained, ()),
}


def run_hardware_peer(
    name: str,
    question: Question,
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
    evaluator, trail = HardwareEvaluator(question, bank, trials, stop, seed), list[str]()
    if name == "explained" and len(question.objectives) > 1:
        raise InputError("--method is explained with several --objectives; allowed: one objective")
    with quiet():
        for library in libraries:
            peer(library)
        try:
            ended = search(evaluator, trail)
        except BudgetUsedError as used:
            ended = used.ended
    return HardwareTrace(name, seed, tuple(evaluator.history.values()), ended, tuple(trail))
