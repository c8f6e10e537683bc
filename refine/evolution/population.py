"""A population: genes with their objective and by how much they exceed limits; who survives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import loosened
from ithaca.formulations.problem import Problem
from ithaca.refine.evolution.genome import Genes
from ithaca.solver.tables.program import Program


@dataclass(frozen=True)
class Population:
    """Configurations as columns of genes, their objectives in floats, and excesses over limits.

    The excess is relative to the limits, in all, and infinite where a configuration is not legal.
    """

    genes: Genes
    objective: Floats
    excess: Floats

    @property
    def count(self) -> int:
        """The number of configurations in the population."""
        return int(self.genes.shape[1])

    def order(self) -> Integers:
        """Positions, the best first: within limits by objective, then by excess."""
        return np.lexsort((self.objective, self.excess))

    def take(self, positions: Integers) -> Population:
        """The configurations at some positions."""
        return Population(
            self.genes[:, positions], self.objective[positions], self.excess[positions]
        )

    def join(self, other: Population) -> Population:
        """The union of two populations."""
        return Population(
            np.concatenate([self.genes, other.genes], axis=1),
            np.concatenate([self.objective, other.objective]),
            np.concatenate([self.excess, other.excess]),
        )


class Scorer:
    """Scores configurations by the cost model, all at once."""

    def __init__(self, problem: Problem) -> None:
        symbolic = problem.symbolic()
        self._program = Program(
            [symbolic.objective, *(expression for expression, _ in symbolic.constraints)]
        )
        # loosened by the rounding of floats: the reference decides
        self._limits = [loosened(bound) for _, bound in symbolic.constraints]

    def score(self, values: Mapping[str, Any], legal: Mask) -> tuple[Floats, Floats]:
        """Objective and excess (see `Population`) of configurations, given as columns."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            objective, *used = self._program.run(
                [np.asarray(values[name], np.float64) for name in self._program.symbols]
            )
            excess = np.where(legal, 0.0, np.inf)
            for value, limit in zip(used, self._limits, strict=True):
                excess = excess + np.maximum(value - limit, 0) / max(abs(limit), 1.0)
        objective = np.broadcast_to(objective, legal.shape)
        # what overflows to no number compares with nothing
        return np.where(np.isnan(objective), np.inf, objective), np.where(
            np.isnan(excess), np.inf, excess
        )
