"""Variation of configurations: crossover of whole axes, published mutations, small steps.

Hybrid mutation is as published for Odyssey (Wang & Cong): of the levels of a split loop it changes
two, l1 and l2. With probability `Shares.factorization` it moves a divisor of one to the other; else
it draws a new s for one and gives the other ceil(l1·l2 / s), which pads.

Such a mutation moves whole divisors or draws anew, and changes one loop. Near the optimum neither
helps: what improves there is a few trips or units more of one loop, paid for by another loop's,
with factors just large enough. That is a *step*: not part of the publication;
`benchmarks/test_evolution.py` shows what it adds.

Quantities without a split are drawn or stepped by themselves. All results want `Genome.repair`;
arguments are not changed.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.refine.evolution.genome import Genes, Genome
from ithaca.refine.evolution.shares import PUBLISHED, Shares

#: Spread of a step: relative to the factor (logarithms), and absolute, so that small factors move
#: as well.
RELATIVE, ABSOLUTE = 0.1, 0.7

Bools = Mask


def cross(genome: Genome, one: Genes, other: Genes, generator: np.random.Generator) -> Genes:
    """Children of pairs of parents: each axis whole from one parent or the other.

    Apart, the factors of a loop are no better than random ones.

    Parameters
    ----------
    genome : Genome
        The genes of the problem.
    one, other : array of shape (genes, children)
        The parents.
    generator : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    array of shape (genes, children)
        The children.
    """
    first = generator.random((len(genome.problem.space.axes), one.shape[1])) < 0.5
    return np.where(first[genome.axes], one, other)


def mutate(
    genome: Genome, genes: Genes, generator: np.random.Generator, shares: Shares = PUBLISHED
) -> Genes:
    """Change one split loop of every configuration, and quantities without a split of some.

    Parameters
    ----------
    genome : Genome
        The genes of the problem.
    genes : array of shape (genes, configurations)
        The configurations.
    generator : numpy.random.Generator
        Source of random numbers.
    shares : Shares, optional
        How often what is changed.

    Returns
    -------
    array of shape (genes, configurations)
        The mutants, which may have to be repaired.
    """
    genes, count = genes.copy(), genes.shape[1]
    chosen = _integers(generator, len(genome.splits), count)
    factorize: Bools = np.asarray(generator.random(count) < shares.factorization)
    which, chances = np.asarray(generator.random(count)), np.asarray(generator.random(count))
    for index, split in enumerate(genome.splits):
        mine = np.flatnonzero(chosen == index)
        levels = split.levels(genes[:, mine])
        pairs = split.pairs[(which[mine] * len(split.pairs)).astype(np.int64)]
        changed = np.where(
            factorize[mine],
            _factorized(levels, pairs, chances[mine]),
            _redrawn(levels, pairs, chances[mine]),
        )
        for row, level in zip(split.factors, changed[1:], strict=True):
            genes[row, mine] = level
    often = shares.loose if genome.splits else 1.0
    loosened: Bools = np.asarray(generator.random(count) < often)
    return _loosened(genome, genes, loosened, generator, shares.drawn)


def step(
    genome: Genome, genes: Genes, generator: np.random.Generator, shares: Shares = PUBLISHED
) -> Genes:
    """Change trips and factors of one or two split loops a little.

    One factor becomes the least that covers the extent; powers of two stay as they are.

    Parameters
    ----------
    genome : Genome
        The genes of the problem.
    genes : array of shape (genes, configurations)
        The configurations.
    generator : numpy.random.Generator
        Source of random numbers.
    shares : Shares, optional
        How often what is changed.

    Returns
    -------
    array of shape (genes, configurations)
        The changed ones, which may have to be repaired.
    """
    genes, count = genes.copy(), genes.shape[1]
    splits = [split for split in genome.splits if not all(split.powers)]
    if not splits:
        return _loosened(genome, genes, np.ones(count, bool), generator, shares.drawn)
    first, second = (
        _integers(generator, len(splits), count),
        _integers(generator, len(splits), count),
    )
    two = generator.random(count) < shares.second
    for index, split in enumerate(splits):
        mine = np.flatnonzero((first == index) | (two & (second == index)))
        levels = split.levels(genes[:, mine])
        movable = [level for level, fixed in enumerate(split.powers, start=1) if not fixed]
        moved = levels.copy()
        for level in (0, *movable):
            moved[level] = _near(levels[level], generator)
        left = np.array(movable)[_integers(generator, len(movable), mine.size)]
        for level in movable:
            others = moved[[other for other in range(len(moved)) if other != level]].prod(axis=0)
            genes[split.factors[level - 1], mine] = np.where(
                left == level, split.rest(others), moved[level]
            )
    return genes


def _loosened(
    genome: Genome, genes: Genes, which: Bools, generator: np.random.Generator, drawn: float
) -> Genes:
    """Change one quantity without a split in some columns; powers of two double or halve."""
    if not genome.loose:
        return genes
    count = genes.shape[1]
    chosen = np.array(genome.loose)[_integers(generator, len(genome.loose), count)]
    up: Bools = np.asarray(generator.random(count) < 0.5)
    anew: Bools = np.asarray(generator.random(count) < drawn)
    chances = np.asarray(generator.random(count))
    for row in genome.loose:
        mine = which & (chosen == row)
        old = genes[row, mine]
        if genome.powers[row, 0]:
            genes[row, mine] = np.where(up[mine], old * 2, np.maximum(old // 2, 1))
        else:
            genes[row, mine] = np.where(
                anew[mine], genome.drawn(row, chances[mine]), _near(old, generator)
            )
    return genes


def _factorized(levels: Genes, pairs: Integers, chances: Floats) -> Genes:
    """Move a random divisor of the first level of each pair to the second."""
    levels, columns = levels.copy(), np.arange(levels.shape[1])
    giver = levels[pairs[:, 0], columns]
    moved = np.empty_like(giver)
    for number in np.unique(giver):
        mine, choices = giver == number, _divisors(int(number))
        choices = choices[1:] if choices.size > 1 else choices  # moving 1 changes nothing
        moved[mine] = choices[(chances[mine] * choices.size).astype(np.int64)]
    levels[pairs[:, 0], columns] //= moved
    levels[pairs[:, 1], columns] *= moved
    return levels


def _redrawn(levels: Genes, pairs: Integers, chances: Floats) -> Genes:
    """Draw s for the first level of each pair, evenly by logarithm; l2 = ceil(l1·l2 / s)."""
    levels, columns = levels.copy(), np.arange(levels.shape[1])
    product = levels[pairs[:, 0], columns] * levels[pairs[:, 1], columns]
    drawn = np.maximum(np.exp(chances * np.log(product + 1.0)).astype(np.int64), 1)
    levels[pairs[:, 0], columns] = drawn
    levels[pairs[:, 1], columns] = -(-product // drawn)
    return levels


def _near(factors: Genes, generator: np.random.Generator) -> Genes:
    scale = np.exp(generator.normal(0, RELATIVE, factors.size))
    moved: Floats = np.rint(factors * scale + generator.normal(0, ABSOLUTE, factors.size))
    return np.maximum(moved, 1).astype(np.int64)


def _integers(generator: np.random.Generator, below: int, count: int) -> Integers:
    return generator.integers(0, max(below, 1), count)


def _divisors(number: int) -> Genes:
    """All divisors of a positive integer, ascending."""
    small = np.arange(1, isqrt(number) + 1, dtype=np.int64)
    small = small[number % small == 0]
    return np.unique(np.concatenate([small, number // small]))
