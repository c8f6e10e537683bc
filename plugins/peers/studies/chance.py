"""Search by chance: random, and simulated annealing of integers (no library has one whose moves fit
tile factors).

The published random search (Odyssey's ``tuners.py``) draws t1 evenly up to the extent and t2 evenly
among its divisors, and redraws where accumulators are too few. Here draws are even by logarithm,
over the padded design space, and what breaks a limit costs its sample. Those drawn twice are
charged twice, which is rare but in tiny design spaces.

As in the released Odyssey's annealing, moves are the mutations of the genetic search, or a random
configuration with probability 0.1, and it begins with the best of five random ones. The mutations
are Ithaca's (`solver.evolution.variation`): one loop at a time, with the published share of
factorizations, 0.4 (released: all loops at once, and 0.8). Its single temperature of 200 cycles
suits one problem only. Here the temperature falls geometrically with the budget used, from ratios
of the objective of e^0.5 to about 1.0002, which is 200 cycles in a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np

from ithaca.formulations.configuration import Configuration
from ithaca.plugins.peers.studies.evaluator import Evaluator
from ithaca.plugins.peers.studies.recorder import Ended
from ithaca.refine.evolution.variation import mutate

#: Configurations that random search draws at once.
BATCH = 512

#: Random configurations that annealing begins with, and the probability of a random one later (as
#: released).
FIRST, RANDOM = 5, 0.1

#: Temperatures, in units of the graded cost: that of the beginning, and that of the end.
HOT, COLD = 0.5, 2e-4


def search_random(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Draw until the budget is used up. Starts are scored first, and do not steer it.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    evaluator.starts(starts)
    generator, coordinates = np.random.default_rng(seed), evaluator.coordinates
    while True:
        evaluator.points(
            coordinates.of_units(generator.random((BATCH, coordinates.count))), remember=False
        )


def anneal(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Anneal until the budget is used up, beginning with the best start if there are any.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    generator, coordinates = np.random.default_rng(seed), evaluator.coordinates
    genome = coordinates.genome
    evaluator.starts(starts)
    if starts:
        first = genome.encode(starts)
    else:
        first, _ = coordinates.decode(
            coordinates.of_units(generator.random((FIRST, coordinates.count)))
        )
    costs = evaluator.genes(first).cost
    now, cost = first[:, [int(costs.argmin())]], float(costs.min())
    while True:
        if generator.random() < RANDOM:
            genes, legal = coordinates.decode(
                coordinates.of_units(generator.random((1, coordinates.count)))
            )
        else:
            genes, legal = genome.repair(mutate(genome, now, generator))
        new = float(evaluator.genes(genes, legal).cost[0])
        temperature = HOT * (COLD / HOT) ** evaluator.recorder.progress
        if new <= cost or generator.random() < exp((cost - new) / temperature):
            now, cost = genes, new
