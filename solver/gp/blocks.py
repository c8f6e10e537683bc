"""Posynomial constraints as arrays over the logarithms of their quantities."""

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
