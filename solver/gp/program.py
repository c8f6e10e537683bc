"""A geometric program in log-sum-exp form, compiled for repeated evaluation.

Minimise one variable subject to ``log Σ exp(matrix·y + offset) ≤ 0`` per block and ``low ≤ y ≤
high``: convex and smooth, with exact first and second derivatives. Programs are tiny (20 variables,
40 constraints, 100 terms), so everything is dense.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ithaca.formulations.algebra.array_types import Mask
from ithaca.solver.gp.blocks import Blocks, Matrix, Vector


@dataclass(frozen=True)
class Evaluation:
    """A program at one point.

    ``constraints`` are ``log Σ exp(…)`` of each and ``jacobian`` their gradients; ``weights`` the
    share of each term in its constraint's sum, so that those of a constraint add up to 1.
    """

    constraints: Vector
    weights: Vector
    jacobian: Matrix


@dataclass(frozen=True)
class GeometricProgram:
    """Minimise ``y[cost]`` subject to blocks and a finite box; ``names`` say what the variables are
    the logarithms of."""

    blocks: Blocks
    low: Vector
    high: Vector
    cost: int
    names: tuple[str, ...]

    @cached_property
    def curved(self) -> Mask:
        """The constraints with several terms; the others are affine."""
        return self.blocks.sizes > 1

    @cached_property
    def curved_matrix(self) -> Matrix:
        """Rows of the terms of curved constraints."""
        return self.blocks.matrix[self.curved[self.blocks.block]]

    def evaluate(self, y: Vector) -> Evaluation:
        """Constraints, weights and gradients at a point."""
        terms = self.blocks.matrix @ y + self.blocks.offset
        peak = np.maximum.reduceat(terms, self.blocks.starts)
        terms = np.exp(terms - peak[self.blocks.block])
        totals = np.add.reduceat(terms, self.blocks.starts)
        weights = terms / totals[self.blocks.block]
        jacobian = np.add.reduceat(
            weights[:, None] * self.blocks.matrix, self.blocks.starts, axis=0
        )
        return Evaluation(peak + np.log(totals), weights, jacobian)

    def hessian(self, at: Evaluation, multipliers: Vector) -> Matrix:
        """Second derivatives of the Lagrangian: Σ λ (Aᵀ diag(w) A − g gᵀ)."""
        mine = self.curved[self.blocks.block]
        weights = (multipliers[self.blocks.block] * at.weights)[mine]
        gradients = at.jacobian[self.curved]
        curved: Matrix = self.curved_matrix.T @ (weights[:, None] * self.curved_matrix)
        curved -= gradients.T @ (multipliers[self.curved][:, None] * gradients)
        return curved

    def elastic(self) -> GeometricProgram:
        """The program that minimises the largest violation; its optimum is > 0 iff this one is
        infeasible."""
        matrix = np.pad(self.blocks.matrix, ((0, 0), (0, 1)), constant_values=-1.0)
        middle = self.evaluate(0.5 * (self.low + self.high)).constraints
        worst = max(float(middle.max()), 0.0) + 1.0
        return GeometricProgram(
            Blocks(matrix, self.blocks.offset, self.blocks.sizes),
            np.append(self.low, -1.0),
            np.append(self.high, worst),
            self.low.size,
            (*self.names, "violation"),
        )
