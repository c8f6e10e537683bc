"""Hybrid mutation of tile factors, as published for Odyssey (Wang & Cong).

A loop is split into three levels: tiles, lanes, t2. A mutation changes two of them, l1 and l2: with probability
`FACTORIZATION` it moves a divisor of one to the other; else it draws a new s for one and gives the other
ceil(l1·l2 / s), which pads. The tiles are always what lanes and t2 leave of the extent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ithaca.solver.evolution.genome import Genes, Genome, divisors

#: Probability of factorization (α of the publication).
FACTORIZATION = 0.4

#: Probability that a mutation halves or doubles a pack as well, where packs are free.
PACK_STEP = 0.3

#: Levels of a loop.
TILES, LANES, T2 = 0, 1, 2

#: Pairs of levels (from, to).
PAIRS = np.array([(TILES, LANES), (LANES, TILES), (TILES, T2), (T2, TILES), (LANES, T2), (T2, LANES)])


def mutate(genome: Genome, genes: Genes, generator: np.random.Generator) -> Genes:
    """Change one loop of every configuration, and some packs; the result wants `Genome.repair`.

    Parameters
    ----------
    genome : Genome
        What the genes mean.
    genes : array, shape (genes, configurations)
        What to mutate; it is not changed.
    generator : numpy.random.Generator
        Source of chance.
    """
    genes, count = genes.copy(), genes.shape[1]
    chosen = generator.integers(0, len(genome.loops), count)
    pairs = PAIRS[generator.integers(0, len(PAIRS), count)]
    factorize: NDArray[np.bool_] = np.asarray(generator.random(count) < FACTORIZATION)
    chances: NDArray[np.float64] = np.asarray(generator.random(count))
    for index, loop in enumerate(genome.loops):
        mine = chosen == index
        sequential = loop in genome.problem.array.sequential
        lanes, inner = genes[genome.lanes(index), mine], genes[genome.t2(index), mine]
        levels = _levels(genome.problem.nest.sizes[loop], lanes, inner)
        pair = PAIRS[np.zeros(int(mine.sum()), int)] if sequential else pairs[mine]
        changed = np.where(factorize[mine], _factorized(levels, pair, chances[mine]), _redrawn(levels, pair, chances[mine]))
        genes[genome.lanes(index), mine], genes[genome.t2(index), mine] = changed[LANES], changed[T2]
    if packs := genome.free_packs():
        step = np.asarray(generator.random(count) < PACK_STEP)
        row = np.array(packs)[generator.integers(0, len(packs), count)]
        up = np.asarray(generator.random(count)) < 0.5
        columns = np.flatnonzero(step)
        old = genes[row[columns], columns]
        genes[row[columns], columns] = np.where(up[columns], old * 2, np.maximum(old // 2, 1))
    return genes


def _levels(extent: int, lanes: Genes, inner: Genes) -> Genes:
    return np.stack([-(-extent // (lanes * inner)), lanes, inner])


def _factorized(levels: Genes, pairs: NDArray[np.int64], chances: NDArray[np.float64]) -> Genes:
    """Move a random divisor of the first level of each pair to the second."""
    levels, columns = levels.copy(), np.arange(levels.shape[1])
    giver = levels[pairs[:, 0], columns]
    moved = np.empty_like(giver)
    for number in np.unique(giver):
        mine, choices = giver == number, divisors(int(number))
        choices = choices[1:] if choices.size > 1 else choices  # moving 1 changes nothing
        moved[mine] = choices[(chances[mine] * choices.size).astype(np.int64)]
    levels[pairs[:, 0], columns] //= moved
    levels[pairs[:, 1], columns] *= moved
    return levels


def _redrawn(levels: Genes, pairs: NDArray[np.int64], chances: NDArray[np.float64]) -> Genes:
    """Draw s for the first level of each pair, evenly by its logarithm; the second becomes ceil(l1·l2 / s)."""
    levels, columns = levels.copy(), np.arange(levels.shape[1])
    product = levels[pairs[:, 0], columns] * levels[pairs[:, 1], columns]
    drawn = np.maximum(np.exp(chances * np.log(product + 1.0)).astype(np.int64), 1)
    levels[pairs[:, 0], columns] = drawn
    levels[pairs[:, 1], columns] = -(-product // drawn)
    return levels
