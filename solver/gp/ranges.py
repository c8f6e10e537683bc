"""Ranges of the logarithms of all quantities, and how constraints sharpen them.

Every range is an outer bound: no configuration of the region lies outside. Each step is rounded
outward by far more than floats can be wrong, and whole numbers and powers of two are rounded
inward to the next one only beyond that margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ithaca.formulations.algebra.rounding import (
    exceeds,
    exponent_down,
    exponent_up,
    log_above,
    log_below,
    log_room,
    value_above,
    whole_down,
    whole_up,
)
from ithaca.formulations.systolic.design_space import largest_t1
from ithaca.solver.gp.blocks import Blocks, Indices, Matrix, Vector
from ithaca.solver.gp.model import CurveColumn, GeometricModel

#: Bounds of logarithms of which nothing is known; sums of a few of them stay finite.
UNKNOWN = 700.0

#: Passes over all constraints, and the improvement below which they end.
PASSES = 12
PROGRESS = 1e-3


@dataclass(frozen=True)
class Ranges:
    """Bounds of the logarithm of every column.

    Attributes
    ----------
    low, high : array, shape (columns,)
        Smallest and largest logarithm. The low end of a curve that may be zero is ``-UNKNOWN``.
    """

    low: Vector
    high: Vector

    def integers(self, column: int) -> tuple[int, int]:
        """Smallest and largest whole number in the range of a column."""
        return _whole(float(self.low[column]), up=True), _whole(float(self.high[column]), up=False)

    def restricted(self, column: int, *, low: float | None = None, high: float | None = None) -> Ranges:
        """The same with one column's range cut (low and high are values, not logarithms)."""
        lows, highs = self.low.copy(), self.high.copy()
        if low is not None:
            lows[column] = max(lows[column], np.log(low))
        if high is not None:
            highs[column] = min(highs[column], np.log(high))
        return Ranges(lows, highs)


class Propagator:
    """Sharpens ranges by the constraints of a model.

    Parameters
    ----------
    model : GeometricModel
        Supplies the constraints.
    """

    def __init__(self, model: GeometricModel) -> None:
        self.model = model
        blocks = model.propagation
        self._positive = np.maximum(blocks.matrix, 0)
        self._negative = np.minimum(blocks.matrix, 0)
        self._offset = blocks.offset
        self._starts, self._block = blocks.starts, blocks.block
        self._uppers = _Entries.of(self._positive)
        self._lowers = _Entries.of(-self._negative)
        self._integers = np.array([c for loop in model.loops for c in loop.columns])
        self._packs = np.array([p.column for p in model.packs], dtype=np.int64)

    def root(self) -> Ranges:
        """Ranges over the whole design space."""
        model, problem = self.model, self.model.problem
        low = np.full(len(model.names), -UNKNOWN)
        high = np.full(len(model.names), UNKNOWN)
        low[self._integers] = 0.0
        low[self._packs] = 0.0
        for loop in model.loops:
            top = largest_t1(loop.extent)
            high[[loop.lanes, loop.t2, loop.t1]] = np.log(top)
            high[loop.tiles] = np.log(loop.extent)
            # tiles ≤ extent/t1 + 1
            high[[loop.tiles_t2, loop.tiles_lanes]] = np.log(loop.extent + top)
            if loop.loop in problem.array.sequential:
                high[loop.t2] = 0.0
            if loop.loop in problem.array.dataflow:
                low[loop.lanes] = np.log(problem.space.min_lanes)
        high[model.simd] = min(high[model.simd], np.log(model.simd_options[-1]))
        for pack in model.packs:
            top = pack.cap if pack.multiple is None else max(pack.cap, int(model.simd_options[-1]))
            high[pack.column] = np.log(top)
        return Ranges(low, high)

    def sharpen(self, ranges: Ranges) -> Ranges | None:
        """Ranges that hold the same configurations, or None if there are none."""
        low, high = ranges.low.copy(), ranges.high.copy()
        if not self._specials(low, high):
            return None
        self._forward(low, high)
        for _ in range(PASSES):
            old_low, old_high = low.copy(), high.copy()
            if not (self._constraints(low, high) and self._round(low, high) and self._specials(low, high)):
                return None
            if max((low - old_low).max(), (old_high - high).max()) < PROGRESS:
                break
        self._forward(low, high)
        return None if exceeds(low, high).any() else Ranges(low, high)

    # -- the rules ---------------------------------------------------------------------

    def _constraints(self, low: Vector, high: Vector) -> bool:
        """Each term is at most 1 less the least of the others."""
        least = self._offset + self._positive @ low + self._negative @ high
        terms = np.exp(np.minimum(least, UNKNOWN))
        totals = np.add.reduceat(terms, self._starts)
        if exceeds(totals, 1.0).any():
            return False
        slack = log_room(1 - (totals[self._block] - terms), least)
        upper = self._uppers
        np.minimum.at(high, upper.columns, log_above(low[upper.columns] + slack[upper.terms] / upper.exponents))
        lower = self._lowers
        np.maximum.at(low, lower.columns, log_below(high[lower.columns] - slack[lower.terms] / lower.exponents))
        return not exceeds(low, high).any()

    def _round(self, low: Vector, high: Vector) -> bool:
        """Whole numbers and powers of two."""
        whole, packs, base = self._integers, self._packs, np.log(2.0)
        low[whole] = np.log(np.maximum(whole_up(np.exp(low[whole])), 1))
        high[whole] = np.log(np.maximum(whole_down(np.exp(high[whole])), 0.5))
        low[packs] = exponent_up(low[packs] / base) * base
        high[packs] = exponent_down(high[packs] / base) * base
        return not exceeds(low[whole], high[whole]).any()

    def _specials(self, low: Vector, high: Vector) -> bool:
        """What no posynomial says: ceilings of extents, legal packs and SIMD factors, curves."""
        model = self.model
        options = np.log(model.simd_options.astype(np.float64))
        inside = options[~exceeds(low[model.simd], options) & ~exceeds(options, high[model.simd])]
        if not inside.size:
            return False
        low[model.simd], high[model.simd] = inside[0], inside[-1]
        for loop in model.loops:
            smallest, most = _whole(low[loop.t1], up=True), _whole(high[loop.t1], up=False)
            if smallest > most:
                return False
            # tiles = ceil(extent / t1), which grows as t1 shrinks
            high[loop.tiles] = min(high[loop.tiles], np.log(-(-loop.extent // smallest)))
            low[loop.tiles] = max(low[loop.tiles], np.log(-(-loop.extent // most)))
            tiles = _whole(low[loop.tiles], up=True)
            if tiles > 1:
                high[loop.t1] = min(high[loop.t1], np.log(max(-(-loop.extent // (tiles - 1)) - 1, 0.5)))
        for pack in model.packs:
            if pack.multiple is not None:
                low[pack.column] = max(low[pack.column], low[pack.multiple])
                high[pack.column] = min(high[pack.column], max(np.log(pack.cap), high[pack.multiple]))
            if pack.inferred and pack.last is not None:
                least = float(np.maximum(pack.last, 0) @ low + np.minimum(pack.last, 0) @ high)
                low[pack.column] = max(low[pack.column], min(least, np.log(pack.cap)))
            if exceeds(low[pack.column], high[pack.column]):
                return False
        return all(_curve_range(curve, low, high) for curve in model.curves)

    def _forward(self, low: Vector, high: Vector) -> None:
        """An epigraph variable need not exceed the largest of its pieces."""
        for column, pieces in self.model.epigraphs:
            largest, least = evaluate_extremes(pieces, low, high)
            if largest.size:
                high[column] = min(high[column], log_above(largest.max()))
                low[column] = max(low[column], log_below(least.max()))


def evaluate_extremes(blocks: Blocks, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Largest and smallest logarithm of each block's sum over ranges (up to rounding)."""
    if not blocks.sizes.size:
        return np.zeros(0), np.zeros(0)
    positive, negative = np.maximum(blocks.matrix, 0), np.minimum(blocks.matrix, 0)
    largest = blocks.offset + positive @ high + negative @ low
    least = blocks.offset + positive @ low + negative @ high
    return np.logaddexp.reduceat(largest, blocks.starts), np.logaddexp.reduceat(least, blocks.starts)


@dataclass(frozen=True)
class _Entries:
    """The nonzero entries of a matrix of exponents."""

    terms: Indices
    columns: Indices
    exponents: Vector

    @staticmethod
    def of(matrix: Matrix) -> _Entries:
        terms, columns = np.nonzero(matrix)
        return _Entries(terms, columns, matrix[terms, columns])


def _whole(logarithm: float, *, up: bool) -> int:
    value = float(np.exp(logarithm))
    return int(whole_up(value) if up else whole_down(value))


def _curve_range(curve: CurveColumn, low: Vector, high: Vector) -> bool:
    """The values a curve takes, and the arguments that give values in its range."""
    if curve.is_pack:
        options = pack_values(low[curve.argument], high[curve.argument])
        values = [(p, float(curve.at(p))) for p in options]
        limit = value_above(np.exp(min(high[curve.column], UNKNOWN)))
        values = [(p, v) for p, v in values if v <= limit]
        if not values:
            return False
        low[curve.argument], high[curve.argument] = np.log(values[0][0]), np.log(values[-1][0])
        ends = [v for _, v in values]
        least, most = min(ends), max(ends)
    else:
        least = float(curve.at(_whole(low[curve.argument], up=True)))
        most = float(curve.at(_whole(high[curve.argument], up=False)))
    low[curve.column] = max(low[curve.column], log_below(np.log(least)) if least > 0 else -UNKNOWN)
    high[curve.column] = min(high[curve.column], log_above(np.log(most)) if most > 0 else -UNKNOWN)
    return not exceeds(low[curve.column], high[curve.column])


def pack_values(low: float, high: float) -> list[int]:
    """The powers of two whose logarithm is in a range."""
    first, last = int(exponent_up(low / np.log(2.0))), int(exponent_down(high / np.log(2.0)))
    return [2**e for e in range(first, last + 1)]
