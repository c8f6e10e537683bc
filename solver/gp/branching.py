"""Where to split a region of which the geometric program's optimum is known.

Tiling quantities and their products are whole numbers, packs powers of two. A quantity that the
fractional optimum puts between two legal values is split there, which cuts the optimum off on both
sides. Splitting a loop's tiles, or tiles·t2, raises bounds fastest: together with the limits on lanes they
decide how much work is padded. The other quantities have their turn once these are whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ithaca.solver.gp.blocks import Vector
from ithaca.solver.gp.model import GeometricModel, LoopColumns, PackColumn
from ithaca.solver.gp.ranges import UNKNOWN, Ranges

#: Nearer to a legal value than this (logarithm) counts as being there.
NEAR = 1e-4

#: How much a pack between two powers of two weighs against a factor between two whole numbers.
PACK_WEIGHT = 0.1


@dataclass(frozen=True)
class Split:
    """Two parts of a region: ``column ≤ below`` and ``column ≥ above`` (values, not logarithms)."""

    column: int
    below: int
    above: int

    def parts(self, ranges: Ranges) -> tuple[Ranges, Ranges]:
        """The two parts."""
        return ranges.restricted(self.column, high=self.below), ranges.restricted(self.column, low=self.above)


def choose_split(model: GeometricModel, ranges: Ranges, point: Vector) -> Split | None:
    """The split that should raise the bound most; None for a region of a single configuration.

    Parameters
    ----------
    model : GeometricModel
        The program.
    ranges : Ranges
        The region, sharpened.
    point : array, shape (base columns,)
        Logarithms at the fractional optimum.
    """
    full = np.concatenate([point, model.derivation @ point])
    for candidates in (_first_choices, _second_choices, _halves):
        scored = list(candidates(model, ranges, full))
        if scored:
            return max(scored, key=lambda pair: pair[0])[1]
    return None


def _first_choices(model: GeometricModel, ranges: Ranges, full: Vector) -> Iterator[tuple[float, Split]]:
    for curve in model.curves:
        if ranges.low[curve.column] <= -UNKNOWN / 2 < ranges.high[curve.column]:
            # the terms it multiplies are missing until the argument that makes it zero is split off
            low, _ = ranges.integers(curve.argument)
            yield np.inf, Split(curve.argument, low, low + 1)
    for loop in model.loops:
        yield from _whole(ranges, full, (loop.tiles, loop.tiles_t2))
    for pack in model.packs:
        yield from _power(ranges, full, pack)


def _second_choices(model: GeometricModel, ranges: Ranges, full: Vector) -> Iterator[tuple[float, Split]]:
    for loop in model.loops:
        yield from _whole(ranges, full, (loop.lanes, *_inner(model, loop), loop.t1, loop.tiles_lanes))


def _halves(model: GeometricModel, ranges: Ranges, full: Vector) -> Iterator[tuple[float, Split]]:
    """Whatever still varies, split at the optimum."""
    for loop in model.loops:
        for column in (loop.tiles, loop.lanes, *_inner(model, loop)):
            low, high = ranges.integers(column)
            if low < high:
                below = min(max(round(float(np.exp(full[column]))), low), high - 1)
                yield float(np.log(high / low)), Split(column, below, below + 1)
    for pack in model.packs:
        low, high = ranges.integers(pack.column)
        if low < high:
            below = min(max(2 ** round(float(full[pack.column]) / np.log(2)), low), high // 2)
            yield float(np.log(high / low)), Split(pack.column, below, 2 * below)


def _inner(model: GeometricModel, loop: LoopColumns) -> tuple[int, ...]:
    """The column of t2, unless it is the SIMD factor, which has been enumerated."""
    return () if loop.t2 == model.simd else (loop.t2,)


def _whole(ranges: Ranges, full: Vector, columns: tuple[int, ...]) -> Iterator[tuple[float, Split]]:
    for column in columns:
        low, high = ranges.integers(column)
        if low < high:
            value = float(np.exp(full[column]))
            below = min(max(int(np.floor(value)), low), high - 1)
            gap = float(min(np.log(value / below), np.log((below + 1) / value)))
            if gap > NEAR:
                yield gap, Split(column, below, below + 1)


def _power(ranges: Ranges, full: Vector, pack: PackColumn) -> Iterator[tuple[float, Split]]:
    low, high = ranges.integers(pack.column)
    if low < high:
        value = float(full[pack.column]) / float(np.log(2))
        below = min(max(int(np.floor(value)), low.bit_length() - 1), high.bit_length() - 2)
        gap = min(value - below, below + 1 - value)
        if gap > NEAR:
            yield gap * PACK_WEIGHT, Split(pack.column, 2**below, 2 ** (below + 1))
