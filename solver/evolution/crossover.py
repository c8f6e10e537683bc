"""Crossover: a child takes each loop whole from one parent or the other, and each pack."""

from __future__ import annotations

import numpy as np

from ithaca.solver.evolution.genome import Genes, Genome


def cross(genome: Genome, one: Genes, other: Genes, generator: np.random.Generator) -> Genes:
    """Children of pairs of parents; the result wants `Genome.repair`.

    Parameters
    ----------
    genome : Genome
        What the genes mean.
    one, other : array, shape (genes, pairs)
        The parents.
    generator : numpy.random.Generator
        Source of chance.
    """
    # lanes and t2 of a loop stay together: apart, they are no better than random factors
    loops = generator.random((len(genome.loops), one.shape[1])) < 0.5
    packs = generator.random((len(genome.groups), one.shape[1])) < 0.5
    return np.where(np.concatenate([loops, loops, packs]), one, other)
