"""A geometric program in log-sum-exp form, compiled for repeated evaluation.

Minimise one variable subject to ``log Σ exp(matrix·y + offset) ≤ 0`` per block and ``low ≤ y ≤
high``: convex and smooth, with exact first and second derivatives. Programs are tiny (20 variables,
40 constraints, 100 terms), so everything is dense.

Blocks are posynomial constraints as arrays over the logarithms of their quantities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.posynomial import Posynomial

Vector = Floats
Matrix = Floats
Indices = Integers


@dataclass(frozen=True)
class Blocks:
    """Constraints ``Σ exp(matrix·y + offset) ≤ 1``, each a block of consecutive terms.

    ``matrix`` has the exponents of every term, shape (terms, columns), ``offset`` the logarithms of
    the coefficients, and ``sizes`` the number of terms of each constraint, at least one.
    """

    matrix: Matrix
    offset: Vector
    sizes: Indices

    @cached_property
    def starts(self) -> Indices:
        """First term of each constraint."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def block(self) -> Indices:
        """The constraint of each term."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def select(self, keep: Mask) -> Blocks:
        """A selection of the terms; constraints that lose all of theirs vanish."""
        sizes = np.bincount(self.block[keep], minlength=self.sizes.size)
        return Blocks(self.matrix[keep], self.offset[keep], sizes[sizes > 0])

    def select_constraints(self, keep: Mask) -> Blocks:
        """A selection of the constraints."""
        terms = np.repeat(keep, self.sizes)
        return Blocks(self.matrix[terms], self.offset[terms], self.sizes[keep])


def compile_posynomials(
    posynomials: Sequence[Posynomial], column: Mapping[str, int], columns: int
) -> Blocks:
    """Write posynomials as blocks; those without terms are left out, for 0 ≤ 1.

    Parameters
    ----------
    posynomials : Sequence of Posynomial
        The posynomials.
    column : Mapping of str to int
        The column of each quantity.
    columns : int
        How many columns there are.

    Returns
    -------
    Blocks
        The blocks.
    """
    posynomials = [p for p in posynomials if p.terms]
    terms = [(exponents, c) for p in posynomials for exponents, c in p.terms.items()]
    matrix = np.zeros((len(terms), columns))
    for row, (exponents, _) in enumerate(terms):
        for name, exponent in exponents:
            matrix[row, column[name]] = exponent
    offset = np.array([log(c.numerator) - log(c.denominator) for _, c in terms])
    return Blocks(
        matrix, offset.reshape(-1), np.array([len(p.terms) for p in posynomials], dtype=np.int64)
    )


def stack(*parts: Blocks) -> Blocks:
    """All constraints of several blocks; columns missing at the end of some are zero."""
    width = max(p.matrix.shape[1] for p in parts)
    rows = [np.pad(p.matrix, ((0, 0), (0, width - p.matrix.shape[1]))) for p in parts]
    return Blocks(
        np.concatenate(rows),
        np.concatenate([p.offset for p in parts]),
        np.concatenate([p.sizes for p in parts]),
    )


def monomials(rows: Matrix, offset: Vector) -> Blocks:
    """One single-term constraint ``row·y + offset ≤ 0`` per row."""
    return Blocks(rows, offset, np.ones(len(rows), dtype=np.int64))


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
