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

from collections.abc import Sequence
from typing import Any

import numpy as np

from ithaca.files.peer import peer
from ithaca.formulations.configuration import Configuration
from ithaca.studies.peers.evaluator import Evaluator
from ithaca.studies.peers.recorder import Ended

#: Under this name a trial carries its excess over the limits.
EXCESS = "excess"

#: Configurations of a generation.
POPULATION = 200


def optuna_sampler(name: str, seed: int, **options: Any) -> Any:
    """A sampler of optuna, for which the excess over limits that trials carry is a constraint."""
    if name == "GPSampler":
        options["deterministic_objective"] = True
    sampler = getattr(peer("optuna").samplers, name)
    return sampler(seed=seed, constraints_func=lambda trial: (trial.user_attrs[EXCESS],), **options)


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
    optuna, coordinates = peer("optuna"), evaluator.coordinates
    integer = optuna.distributions.IntDistribution
    distributions = {c.name: integer(c.low, c.high, log=not c.exponent) for c in coordinates.all}
    study = optuna.create_study(sampler=optuna_sampler(sampler, seed))
    for point in evaluator.starts(starts).tolist():
        study.enqueue_trial(
            {c.name: value for c, value in zip(coordinates.all, point, strict=True)}
        )
    while True:
        trial = study.ask(distributions)
        point = np.array([[trial.params[c.name] for c in coordinates.all]], dtype=np.int64)
        scores = evaluator.points(point)
        trial.set_user_attr(EXCESS, float(scores.excess[0]))
        # the logarithm, also of what is infeasible: the excess is the constraint
        study.tell(trial, float(evaluator.scaled(scores.objective)[0]))


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
    problem = peer("pymoo.core.problem").Problem(
        n_var=coordinates.count, n_obj=1, n_ieq_constr=1, xl=0.0, xu=1.0
    )
    population = peer("pymoo.core.population").Population
    algorithm = peer("pymoo.algorithms.soo.nonconvex.ga").GA(
        POPULATION, sampling=np.concatenate([known, drawn])
    )
    algorithm.setup(problem, termination=("n_gen", np.inf), seed=seed, verbose=False)
    evaluations = peer("pymoo.core.evaluator").Evaluator()
    static = peer("pymoo.problems.static").StaticProblem
    while True:
        infills: Any = algorithm.ask()
        if infills is None or not len(infills):
            return None
        assert isinstance(infills, population)
        scores = evaluator.units(infills.get("X"))
        objective = evaluator.scaled(scores.objective)
        evaluations.eval(static(problem, F=objective[:, None], G=scores.excess[:, None]), infills)
        algorithm.tell(infills=infills)


def search_cma(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Covariance matrix adaptation; its distribution begins around the best start if there are
    any.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    points = evaluator.starts(starts)
    if not len(points):
        return _nevergrad(evaluator, "CMA", seed, (), None)
    units = evaluator.coordinates.to_units(points)
    return _nevergrad(
        evaluator, "CMA", seed, (), units[int(evaluator.points(points).cost.argmin())]
    )


def search_de(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Differential evolution; starts are suggested, so that they are of the first population.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    units = evaluator.coordinates.to_units(evaluator.starts(starts))
    return _nevergrad(evaluator, "TwoPointsDE", seed, units.tolist(), None)


def _nevergrad(
    evaluator: Evaluator,
    name: str,
    seed: int,
    suggested: Sequence[Sequence[float]],
    centre: np.ndarray | None,
) -> Ended | None:
    ng, coordinates = peer("nevergrad"), evaluator.coordinates
    first = np.full(coordinates.count, 0.5) if centre is None else np.clip(centre, 0.0, 1.0)
    space = ng.p.Array(init=first, lower=np.zeros(first.size), upper=np.ones(first.size))
    space.random_state.seed(seed)
    optimizer = ng.optimizers.registry[name](
        parametrization=space, budget=evaluator.recorder.budget.samples
    )
    # nevergrad asks for the latest suggestion first
    for units in reversed(suggested):
        optimizer.suggest(np.asarray(units))
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, float(evaluator.units(candidate.value[None, :]).cost[0]))
