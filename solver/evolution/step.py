"""Steps: small changes of one or two loops that waste no padding.

The published mutation (`ithaca.solver.evolution.mutation`) moves whole divisors or draws anew, and changes one loop. Near the
optimum neither helps: what improves there is a few tiles or lanes more of one loop, paid for by another loop's, with t1
just large enough for its tiles. Not part of the publication; `benchmarks/test_evolution.py` shows what it adds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ithaca.solver.evolution.genome import Genes, Genome

#: Probability that a second loop makes a step, too.
SECOND = 0.5

#: Spread of a step: relative to the factor (logarithms), and absolute, so that small factors move as well.
RELATIVE, ABSOLUTE = 0.1, 0.7


def step(genome: Genome, genes: Genes, generator: np.random.Generator) -> Genes:
    """Change tiles and lanes, or tiles and t2, of one or two loops a little; the result wants `Genome.repair`.

    The factor that is left becomes the least that covers the extent. A SIMD loop keeps its SIMD factor.

    Parameters
    ----------
    genome : Genome
        What the genes mean.
    genes : array, shape (genes, configurations)
        What to change; it is not changed itself.
    generator : numpy.random.Generator
        Source of chance.
    """
    genes, count = genes.copy(), genes.shape[1]
    loops = len(genome.loops)
    first, second = generator.integers(0, loops, count), generator.integers(0, loops, count)
    two = generator.random(count) < SECOND
    for index, loop in enumerate(genome.loops):
        mine = (first == index) | (two & (second == index))
        extent = genome.problem.nest.sizes[loop]
        lanes, inner = genes[genome.lanes(index), mine], genes[genome.t2(index), mine]
        tiles = _near(-(-extent // (lanes * inner)), generator)
        if loop == genome.problem.array.simd_loop or loop in genome.problem.array.sequential:
            genes[genome.lanes(index), mine] = -(-extent // (tiles * inner))
            continue
        by_lanes = generator.random(tiles.size) < 0.5
        lanes, inner = _near(lanes, generator), _near(inner, generator)
        genes[genome.lanes(index), mine] = np.where(by_lanes, lanes, -(-extent // (tiles * inner)))
        genes[genome.t2(index), mine] = np.where(by_lanes, -(-extent // (tiles * lanes)), inner)
    return genes


def _near(factors: Genes, generator: np.random.Generator) -> Genes:
    scale = np.exp(generator.normal(0, RELATIVE, factors.size))
    moved: NDArray[np.float64] = np.rint(factors * scale + generator.normal(0, ABSOLUTE, factors.size))
    return np.maximum(moved, 1).astype(np.int64)
