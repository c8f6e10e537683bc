"""Branching: where to split a region of which the geometric program's optimum is known.

Quantities and their products are whole numbers, or powers of two. One that the fractional optimum
puts between two legal values is split there, which cuts the optimum off on both sides. Splitting
the quotient of a cover, or its product with the innermost level, raises bounds fastest: they decide
how much work is padded. The others have their turn once these are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ithaca.solver.gp.blocks import Vector
from ithaca.solver.gp.model import GeometricModel
from ithaca.solver.gp.ranges import UNKNOWN, Ranges

#: Nearer to a legal value than this (logarithm) counts as being there.
NEAR = 1e-4

#: How much a quantity between two powers of two weighs against one between two whole numbers.
POWER_WEIGHT = 0.1


@dataclass(frozen=True)
class Split:
    """Two parts of a region: ``column ≤ below`` and ``column ≥ above`` (values, not logarithms)."""

    column: int
    below: int
    above: int

    def parts(self, ranges: Ranges) -> tuple[Ranges, Ranges]:
        """The ranges at or below the split, and those above it."""
        return ranges.restricted(self.column, high=self.below), ranges.restricted(
            self.column, low=self.above
        )


def choose_split(model: GeometricModel, ranges: Ranges, point: Vector) -> Split | None:
    """The split of a sharpened region that should raise the bound most.

    Parameters
    ----------
    model : GeometricModel
        The model.
    ranges : Ranges
        The region.
    point : ndarray
        Logarithms of the base columns at the fractional optimum.

    Returns
    -------
    Split or None
        The split; None for a region of a single configuration.
    """
    full = np.concatenate([point, model.derivation @ point])
    for candidates in (_first_choices, _second_choices, _halves):
        scored = list(candidates(model, ranges, full))
        if scored:
            return max(scored, key=lambda pair: pair[0])[1]
    return None


def _first_choices(
    model: GeometricModel, ranges: Ranges, full: Vector
) -> Iterator[tuple[float, Split]]:
    for curve in model.curves:
        if ranges.low[curve.column] <= -UNKNOWN / 2 < ranges.high[curve.column]:
            # the terms it multiplies are missing until the argument that makes it zero is split off
            low, _ = ranges.integers(curve.argument)
            yield np.inf, Split(curve.argument, low, low + 1)
    for cover in model.covers:
        yield from _whole(ranges, full, (cover.quotient, cover.innermost))
    for column in model.powers:
        low, high = ranges.integers(column)
        if low < high:
            value = float(full[column]) / float(np.log(2))
            below = min(max(int(np.floor(value)), low.bit_length() - 1), high.bit_length() - 2)
            gap = min(value - below, below + 1 - value)
            if gap > NEAR:
                yield gap * POWER_WEIGHT, Split(column, 2**below, 2 ** (below + 1))


def _second_choices(
    model: GeometricModel, ranges: Ranges, full: Vector
) -> Iterator[tuple[float, Split]]:
    yield from _whole(ranges, full, model.whole)


def _halves(model: GeometricModel, ranges: Ranges, full: Vector) -> Iterator[tuple[float, Split]]:
    """Splits of whatever still varies, at the optimum."""
    for column in model.whole[model.whole < model.base]:
        low, high = ranges.integers(column)
        if low < high:
            below = min(max(round(float(np.exp(full[column]))), low), high - 1)
            yield float(np.log(high / low)), Split(column, below, below + 1)
    for column in model.powers:
        low, high = ranges.integers(column)
        if low < high:
            below = min(max(2 ** round(float(full[column]) / np.log(2)), low), high // 2)
            yield float(np.log(high / low)), Split(column, below, 2 * below)


def _whole(ranges: Ranges, full: Vector, columns: Iterable[int]) -> Iterator[tuple[float, Split]]:
    for column in columns:
        low, high = ranges.integers(column)
        if low < high:
            value = float(np.exp(full[column]))
            below = min(max(int(np.floor(value)), low), high - 1)
            gap = float(min(np.log(value / below), np.log((below + 1) / value)))
            if gap > NEAR:
                yield gap, Split(column, below, below + 1)
