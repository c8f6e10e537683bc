"""A genetic algorithm with pymoo: simulated binary crossover, polynomial mutation, binary tournaments.

The population is the 200 of the released Odyssey's genetic search (``tuners.py``); everything else is pymoo's default. Genes
are the coordinates' places in the unit cube, limits are a constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ithaca.exports.seeds.parameters import peer
from ithaca.formulations.configuration import Configuration
from ithaca.peers.evaluator import Evaluator
from ithaca.peers.recorder import Ended

#: Configurations of a generation.
POPULATION = 200


def search(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Evolve; the first generation are the starts, and random ones."""
    coordinates = evaluator.coordinates
    known = coordinates.to_units(evaluator.starts(starts))
    drawn = np.random.default_rng(seed).random((max(POPULATION - len(known), 0), coordinates.count))
    problem = peer("pymoo.core.problem").Problem(n_var=coordinates.count, n_obj=1, n_ieq_constr=1, xl=0.0, xu=1.0)
    population = peer("pymoo.core.population").Population
    algorithm = peer("pymoo.algorithms.soo.nonconvex.ga").GA(POPULATION, sampling=np.concatenate([known, drawn]))
    algorithm.setup(problem, termination=("n_gen", np.inf), seed=seed, verbose=False)
    evaluations = peer("pymoo.core.evaluator").Evaluator()
    static = peer("pymoo.problems.static").StaticProblem
    while True:
        asked: Any = algorithm.ask()
        if asked is None or not len(asked):
            return None
        assert isinstance(asked, population)
        scores = evaluator.units(asked.get("X"))
        objective = evaluator.scaled(scores.objective)
        evaluations.eval(static(problem, F=objective[:, None], G=scores.excess[:, None]), asked)
        algorithm.tell(infills=asked)
