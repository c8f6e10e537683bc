"""Search methods of other packages: optuna, pymoo and nevergrad, with their defaults but where that
is said.

*optuna*: Bayesian optimisation by tree-structured Parzen estimators, and by Gaussian processes.
Factors are integers on a logarithmic scale, limits are constraints; its ten first random trials are
also what the released Odyssey begins with (``tuners.py``, ``init_points``).

*pymoo*: a genetic algorithm with simulated binary crossover, polynomial mutation, binary
tournaments. The population is the 200 of the released Odyssey's genetic search (``tuners.py``).
Genes are the coordinates' places in the unit cube, limits are a constraint.

*nevergrad*: CMA-ES and differential evolution in the unit cube of the coordinates. Bounds are given
to the array's constructor, which derives the spread of first samples from them; set afterwards they
leave a spread as wide as the cube, with which differential evolution is no better than chance. Of
its kinds the one with two-point crossover is used, which nevergrad's documentation recommends;
plain ``DE`` does a little worse here. Limits enter by the graded cost: both compare costs and use
them for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never

import numpy as np

from ithaca.files.extras import peer
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.peers.studies.evaluator import Evaluator, Scores
from ithaca.plugins.peers.studies.recorder import Ended

#: Under this name a trial carries its excess over the limits.
EXCESS = "excess"

#: Configurations of a generation.
POPULATION = 200


#: What points score: their objectives, and by how much they exceed limits, shape (points,).
Score = Callable[[Any], tuple[Floats, Floats]]


def optuna_trials(
    sampler: str,
    seed: int,
    ranges: Mapping[str, Any],
    score: Score,
    *,
    objectives: int = 1,
    starts: Sequence[Sequence[int]] = (),
    **options: Any,
) -> Never:
    """Ask optuna for trials, and tell it what they score, until scoring ends it.

    Parameters
    ----------
    sampler : str
        The name of optuna's sampler.
    seed : int
        Fixes what chance decides.
    ranges : mapping of str to object
        The distribution of each coordinate.
    score : callable
        Scores points.
    objectives : int, optional
        How many there are.
    starts : sequence of sequence of int, optional
        The first trials.
    options : object
        Further options of the sampler.
    """
    optuna = peer("optuna")
    if sampler == "GPSampler":
        options["deterministic_objective"] = True
    made = getattr(optuna.samplers, sampler)(
        seed=seed, constraints_func=lambda trial: (trial.user_attrs[EXCESS],), **options
    )
    study = optuna.create_study(sampler=made, directions=["minimize"] * objectives)
    for start in starts:
        study.enqueue_trial(dict(zip(ranges, start, strict=True)))
    while True:
        trial = study.ask(ranges)
        values, (excess,) = score([[trial.params[name] for name in ranges]])
        trial.set_user_attr(EXCESS, float(excess))
        study.tell(trial, np.ravel(values).tolist())


def pymoo_generations(
    algorithm: Any,
    seed: int,
    ends: tuple[Any, Any],
    score: Score,
    *,
    count: int,
    objectives: int = 1,
) -> None:
    """Ask pymoo for generations, and tell it what they score, until scoring ends it, or it asks
    for nothing.

    Parameters
    ----------
    algorithm : object
        One of pymoo's.
    seed : int
        Fixes what chance decides.
    ends : tuple of object
        The least and the largest of coordinates.
    score : callable
        Scores points.
    count : int
        Number of coordinates.
    objectives : int, optional
        How many there are.
    """
    problem = peer("pymoo.core.problem").Problem(
        n_var=count, n_obj=objectives, n_ieq_constr=1, xl=ends[0], xu=ends[1]
    )
    algorithm.setup(problem, termination=("n_gen", np.inf), seed=seed, verbose=False)
    evaluations = peer("pymoo.core.evaluator").Evaluator()
    static = peer("pymoo.problems.static").StaticProblem
    while (infills := algorithm.ask()) is not None and len(infills):
        values, excess = score(infills.get("X"))
        scored = static(problem, F=values.reshape(-1, objectives), G=excess[:, None])
        evaluations.eval(scored, infills)
        algorithm.tell(infills=infills)


def search_optuna(
    sampler: str, evaluator: Evaluator, seed: int, starts: Sequence[Configuration]
) -> Ended | None:
    """Tree-structured Parzen estimators, or Gaussian processes (by torch), which take longer for a
    trial the more there are; starts are the first trials.

    Parameters
    ----------
    sampler : str
        The name of optuna's sampler.
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    integer, every = peer("optuna").distributions.IntDistribution, evaluator.coordinates.all
    ranges = {c.name: integer(c.low, c.high, log=not c.exponent) for c in every}

    def score(points: Any) -> tuple[Floats, Floats]:
        return _logarithms(evaluator, evaluator.points(np.array(points, dtype=np.int64)))

    optuna_trials(sampler, seed, ranges, score, starts=evaluator.starts(starts).tolist())


def search_ga(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Evolve; the first generation are the starts, and random ones.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    coordinates = evaluator.coordinates
    known = coordinates.to_units(evaluator.starts(starts))
    drawn = np.random.default_rng(seed).random((max(POPULATION - len(known), 0), coordinates.count))
    algorithm = peer("pymoo.algorithms.soo.nonconvex.ga").GA(
        POPULATION, sampling=np.concatenate([known, drawn])
    )

    def score(units: Any) -> tuple[Floats, Floats]:
        return _logarithms(evaluator, evaluator.units(units))

    pymoo_generations(algorithm, seed, (0.0, 1.0), score, count=coordinates.count)
    return None


def _logarithms(evaluator: Evaluator, scores: Scores) -> tuple[Floats, Floats]:
    """The approximate logarithms of objectives, also of what is infeasible, as the excess is the
    constraint."""
    return evaluator.scaled(scores.objective), scores.excess


def search_nevergrad(
    name: str, evaluator: Evaluator, seed: int, starts: Sequence[Configuration]
) -> Ended | None:
    """Covariance matrix adaptation (``CMA``), whose distribution begins around the best start if
    there are any; or differential evolution, to which starts are suggested, so that they are of the
    first population.

    Parameters
    ----------
    name : str
        The name of nevergrad's optimizer.
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    ng, points = peer("nevergrad"), evaluator.starts(starts)
    units, first = evaluator.coordinates.to_units(points), np.full(evaluator.coordinates.count, 0.5)
    if name == "CMA" and len(points):
        first = np.clip(units[int(evaluator.points(points).cost.argmin())], 0.0, 1.0)
    space = ng.p.Array(init=first, lower=np.zeros(first.size), upper=np.ones(first.size))
    space.random_state.seed(seed)
    optimizer = ng.optimizers.registry[name](
        parametrization=space, budget=evaluator.recorder.budget.samples
    )
    # nevergrad asks for the latest suggestion first
    for known in units[::-1] if name != "CMA" else ():
        optimizer.suggest(known)
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, float(evaluator.units(candidate.value[None, :]).cost[0]))
