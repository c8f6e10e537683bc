"""Ranges of the logarithms of all quantities, and how constraints sharpen them.

Every range is an outer bound: no configuration of the region lies outside. Each step is rounded
outward by far more than floats can be wrong, and whole numbers and powers of two are rounded
inward to the next one only beyond that margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ithaca.formulations.systolic.design_space import largest_t1
from ithaca.solver.gp.blocks import Blocks, Indices, Matrix, Vector
from ithaca.solver.gp.model import CurveColumn, GeometricModel

#: Outward rounding of every derived bound (of a logarithm, beside 1).
MARGIN = 1e-11

#: How far a value may be from a whole number and still count as that number (relative).
INTEGRAL = 1e-9

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
        return Ranges(low, high) if bool(np.all(low <= high + INTEGRAL)) else None

    # -- the rules ---------------------------------------------------------------------

    def _constraints(self, low: Vector, high: Vector) -> bool:
        """Each term is at most 1 less the least of the others."""
        least = self._offset + self._positive @ low + self._negative @ high
        terms = np.exp(np.minimum(least, UNKNOWN))
        totals = np.add.reduceat(terms, self._starts)
        if (totals > 1 + INTEGRAL).any():
            return False
        room = np.maximum(1 - (totals[self._block] - terms), 0) + MARGIN
        slack = np.log(room) - least
        slack += MARGIN * (1 + np.abs(least))
        upper = self._uppers
        np.minimum.at(high, upper.columns, low[upper.columns] + slack[upper.terms] / upper.exponents + MARGIN)
        lower = self._lowers
        np.maximum.at(low, lower.columns, high[lower.columns] - slack[lower.terms] / lower.exponents - MARGIN)
        return bool(np.all(low <= high + INTEGRAL))

    def _round(self, low: Vector, high: Vector) -> bool:
        """Whole numbers and powers of two."""
        for columns, base in ((self._integers, None), (self._packs, np.log(2.0))):
            if base is None:
                low[columns] = np.log(np.maximum(np.ceil(np.exp(low[columns]) * (1 - INTEGRAL)), 1))
                high[columns] = np.log(np.maximum(np.floor(np.exp(high[columns]) * (1 + INTEGRAL)), 0.5))
            else:
                low[columns] = np.ceil(low[columns] / base - INTEGRAL) * base
                high[columns] = np.floor(high[columns] / base + INTEGRAL) * base
        return bool(np.all(low[self._integers] <= high[self._integers] + INTEGRAL))

    def _specials(self, low: Vector, high: Vector) -> bool:
        """What no posynomial says: ceilings of extents, legal packs and SIMD factors, curves."""
        model = self.model
        options = np.log(model.simd_options.astype(np.float64))
        inside = options[(options >= low[model.simd] - INTEGRAL) & (options <= high[model.simd] + INTEGRAL)]
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
            if low[pack.column] > high[pack.column] + INTEGRAL:
                return False
        return all(_curve_range(curve, low, high) for curve in model.curves)

    def _forward(self, low: Vector, high: Vector) -> None:
        """An epigraph variable need not exceed the largest of its pieces."""
        for column, pieces in self.model.epigraphs:
            largest, least = evaluate_extremes(pieces, low, high)
            if largest.size:
                high[column] = min(high[column], largest.max() + MARGIN)
                low[column] = max(low[column], least.max() - MARGIN)


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
    return int(np.ceil(value * (1 - INTEGRAL))) if up else int(np.floor(value * (1 + INTEGRAL)))


def _curve_range(curve: CurveColumn, low: Vector, high: Vector) -> bool:
    """The values a curve takes, and the arguments that give values in its range."""
    if curve.is_pack:
        options = pack_values(low[curve.argument], high[curve.argument])
        values = [(p, float(curve.at(p))) for p in options]
        limit = np.exp(min(high[curve.column], UNKNOWN)) * (1 + INTEGRAL)
        values = [(p, v) for p, v in values if v <= limit]
        if not values:
            return False
        low[curve.argument], high[curve.argument] = np.log(values[0][0]), np.log(values[-1][0])
        ends = [v for _, v in values]
        least, most = min(ends), max(ends)
    else:
        least = float(curve.at(_whole(low[curve.argument], up=True)))
        most = float(curve.at(_whole(high[curve.argument], up=False)))
    low[curve.column] = max(low[curve.column], np.log(least) - MARGIN if least > 0 else -UNKNOWN)
    high[curve.column] = min(high[curve.column], np.log(most) + MARGIN if most > 0 else -UNKNOWN)
    return bool(low[curve.column] <= high[curve.column] + INTEGRAL)


def pack_values(low: float, high: float) -> list[int]:
    """The powers of two whose logarithm is in a range."""
    first, last = int(np.ceil(low / np.log(2.0) - INTEGRAL)), int(np.floor(high / np.log(2.0) + INTEGRAL))
    return [2**e for e in range(first, last + 1)]
