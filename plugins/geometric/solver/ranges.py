"""Ranges of the logarithms of all quantities, and how constraints sharpen them.

Every range is an outer bound: no configuration of the region lies outside. Each step is rounded
outward by far more than floats can be wrong, and whole numbers and powers of two are rounded
inward to the next one only beyond that margin. The geometric program of a region has fixed
quantities put in, and curves replaced by their convex hulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.logarithms import (
    exceeds,
    exponent_down,
    exponent_up,
    hull_below,
    log_above,
    log_below,
    log_room,
    value_above,
    whole_down,
    whole_up,
)
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.algebra.posynomial import as_product
from ithaca.formulations.continuous_rules import rules
from ithaca.formulations.space import Relation
from ithaca.plugins.geometric.solver.model import CurveColumn, GeometricModel
from ithaca.plugins.geometric.solver.program import (
    Blocks,
    GeometricProgram,
    Indices,
    Vector,
    monomials,
    stack,
)

#: Bounds of logarithms of which nothing is known; sums of a few of them stay finite.
UNKNOWN = 700.0

#: Passes over all constraints, and the improvement below which they end.
PASSES = 12
PROGRESS = 1e-3


@dataclass(frozen=True)
class Ranges:
    """Smallest and largest logarithm of every column. The low end of a curve that may be zero is
    ``-UNKNOWN``."""

    low: Vector
    high: Vector

    def integers(self, column: int) -> tuple[int, int]:
        """Smallest and largest whole number in the range of a column."""
        return _whole(float(self.low[column]), up=True), _whole(float(self.high[column]), up=False)

    def restricted(
        self, column: int, *, low: float | None = None, high: float | None = None
    ) -> Ranges:
        """The ranges with that of one column cut (low and high are values, not logarithms).

        Parameters
        ----------
        column : int
            The number of the variable.
        low : float, optional
            A least value; the range keeps its own where that is larger.
        high : float, optional
            A largest value; likewise.
        """
        lows, highs = self.low.copy(), self.high.copy()
        if low is not None:
            lows[column] = max(lows[column], np.log(low))
        if high is not None:
            highs[column] = min(highs[column], np.log(high))
        return Ranges(lows, highs)


class Propagator:
    """Sharpens ranges by the constraints of a model."""

    def __init__(self, model: GeometricModel) -> None:
        self.model = model
        blocks = model.propagation
        self._positive = np.maximum(blocks.matrix, 0)
        self._negative = np.minimum(blocks.matrix, 0)
        self._offset = blocks.offset
        self._starts, self._block = blocks.starts, blocks.block
        self._uppers, self._lowers = np.nonzero(self._positive), np.nonzero(self._negative)
        self._rules = tuple(_rules(model))
        columns = {name: place for place, name in enumerate(model.names)}
        self._places = [
            (name, columns[name])
            for name in sorted({n for rule in self._rules for n in rule.symbols})
        ]

    def root(self) -> Ranges:
        """Ranges over the whole design space."""
        model = self.model
        low, high = np.full(len(model.names), -UNKNOWN), np.full(len(model.names), UNKNOWN)
        known = [column for column, name in enumerate(model.names) if name in model.spans]
        spans = [model.spans[model.names[column]] for column in known]
        low[known] = [np.log(float(span.low)) for span in spans]
        # where there is nothing, what is below any quantity will do
        high[known] = [np.log(max(float(span.high), 0.5)) for span in spans]
        low[model.base :] = np.maximum(low[model.base :], 0)
        for cover in model.covers:
            for (quotient, other), together in cover.pairs.items():
                if quotient == cover.quotient:
                    # quotient ≤ extent/divisor + 1
                    high[together] = min(
                        high[together], np.log(float(cover.extent) + np.exp(high[other]))
                    )
        return Ranges(low, high)

    def sharpen(self, ranges: Ranges) -> Ranges | None:
        """Ranges that hold the same configurations, or None if there are none."""
        low, high = ranges.low.copy(), ranges.high.copy()
        if exceeds(low, high).any() or not self._specials(low, high):
            return None
        self._forward(low, high)
        for _ in range(PASSES):
            old_low, old_high = low.copy(), high.copy()
            if not (
                self._constraints(low, high)
                and self._round(low, high)
                and self._specials(low, high)
            ):
                return None
            if max((low - old_low).max(), (old_high - high).max()) < PROGRESS:
                break
        self._forward(low, high)
        return None if exceeds(low, high).any() else Ranges(low, high)

    # -- the rules ---------------------------------------------------------------------

    def _constraints(self, low: Vector, high: Vector) -> bool:
        """Tighten ranges by constraints: each term is at most 1 less the least of the others."""
        least = self._offset + self._positive @ low + self._negative @ high
        terms = np.exp(np.minimum(least, UNKNOWN))
        totals = np.add.reduceat(terms, self._starts)
        if exceeds(totals, 1.0).any():
            return False
        slack = log_room(1 - (totals[self._block] - terms), least)
        rows, columns = self._uppers
        np.minimum.at(
            high, columns, log_above(low[columns] + slack[rows] / self._positive[rows, columns])
        )
        rows, columns = self._lowers
        np.maximum.at(
            low, columns, log_below(high[columns] + slack[rows] / self._negative[rows, columns])
        )
        return not exceeds(low, high).any()

    def _round(self, low: Vector, high: Vector) -> bool:
        """Whole numbers and powers of two."""
        whole, powers, doubling = self.model.whole, self.model.powers, np.log(2.0)
        low[whole] = np.log(np.maximum(whole_up(np.exp(low[whole])), 1))
        high[whole] = np.log(np.maximum(whole_down(np.exp(high[whole])), 0.5))
        low[powers] = exponent_up(low[powers] / doubling) * doubling
        high[powers] = exponent_down(high[powers] / doubling) * doubling
        return not exceeds(low, high).any()

    def _specials(self, low: Vector, high: Vector) -> bool:
        """Apply rules that are no posynomials: with ceilings, maxima and sums, and curves."""
        ends = {
            name: (_whole(low[place], up=True), _whole(high[place], up=False))
            for name, place in self._places
        }
        if any(least > most for least, most in ends.values()):
            return False
        for rule in self._rules:
            values = rule.values(ends)
            if values is None:
                continue
            if rule.above and values.low > 0:
                low[rule.column] = max(low[rule.column], log_below(np.log(float(values.low))))
            if rule.below:
                high[rule.column] = min(
                    high[rule.column], log_above(np.log(max(float(values.high), 0.5)))
                )
        for cover in self.model.covers:
            # quotient = ceil(extent/divisor) grows as the divisor shrinks
            quotient = _whole(low[cover.quotient], up=True)
            if quotient > 1 and cover.divisor is not None:
                most = -(-cover.extent // (quotient - 1)) - 1
                high[cover.divisor] = min(high[cover.divisor], np.log(max(most, 0.5)))
        return not exceeds(low, high).any() and all(
            _curve_range(curve, low, high) for curve in self.model.curves
        )

    def _forward(self, low: Vector, high: Vector) -> None:
        """An epigraph variable need not exceed the largest of its pieces."""
        for column, pieces in self.model.epigraphs:
            largest, least = evaluate_extremes(pieces, low, high)
            if largest.size:
                high[column] = min(high[column], log_above(largest.max()))
                low[column] = max(low[column], log_below(least.max()))


def evaluate_extremes(blocks: Blocks, low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Largest and smallest logarithm of each block's sum over ranges (up to rounding).

    Parameters
    ----------
    blocks : Blocks
        Sums of monomials: logarithms of coefficients and exponents.
    low, high : Vector
        Logarithms of the least and the largest value of every variable, shape (variables).

    Returns
    -------
    tuple of Vector
        Two vectors, shape (blocks): the largest, and the smallest.
    """
    if not blocks.sizes.size:
        return np.zeros(0), np.zeros(0)
    positive, negative = np.maximum(blocks.matrix, 0), np.minimum(blocks.matrix, 0)
    largest = blocks.offset + positive @ high + negative @ low
    least = blocks.offset + positive @ low + negative @ high
    return np.logaddexp.reduceat(largest, blocks.starts), np.logaddexp.reduceat(
        least, blocks.starts
    )


@dataclass(frozen=True)
class _Rule:
    """A quantity that is not above, or not below, the values of an expression; or both, where it
    equals the expression."""

    column: int
    expression: Expression
    below: bool
    above: bool
    symbols: tuple[str, ...]
    _known: dict[tuple[tuple[int, int], ...], Interval | None] = field(default_factory=dict)

    def values(self, ends: dict[str, tuple[int, int]]) -> Interval | None:
        """The values of the expression, given the ends of all quantities; None if it may divide by
        zero."""
        key = tuple(ends[name] for name in self.symbols)
        if key not in self._known:
            spans = {
                name: Interval(Fraction(ends[name][0]), Fraction(ends[name][1]))
                for name in self.symbols
            }
            self._known[key] = bounds(self.expression, spans)
        return self._known[key]


def _rules(model: GeometricModel) -> Iterator[_Rule]:
    """The rules of the space with a quantity alone on a side, and on the other one what is no
    product."""
    for link in rules(model.problem.space):
        equal = link.relation is Relation.EQUAL
        for side, other, below in ((link.left, link.right, True), (link.right, link.left, False)):
            if isinstance(side, Symbol) and as_product(other) is None:
                column = model.names.index(side.name)
                yield _Rule(
                    column, other, below or equal, not below or equal, tuple(sorted(other.symbols))
                )


def _whole(logarithm: float, *, up: bool) -> int:
    value = float(np.exp(logarithm))
    return int(whole_up(value) if up else whole_down(value))


def _curve_range(curve: CurveColumn, low: Vector, high: Vector) -> bool:
    """The values a curve takes, and the arguments that give values in its range."""
    if curve.of_power:
        options = powers_between(low[curve.argument], high[curve.argument])
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


def powers_between(low: float, high: float) -> list[int]:
    """The powers of two whose logarithm is in a range."""
    first, last = int(exponent_up(low / np.log(2.0))), int(exponent_down(high / np.log(2.0)))
    return [2**e for e in range(first, last + 1)]


#: Room above the range of the objective (logarithm).
ROOM = 1.0


@dataclass(frozen=True)
class ReducedProgram:
    """A region's program over the columns that are not fixed, and which of the model's base columns
    these are.

    ``fixed`` are logarithms of all base columns, right where they are fixed.
    """

    program: GeometricProgram
    columns: Indices
    fixed: Vector

    def base_point(self, y: Vector) -> Vector:
        """Logarithms of all base columns at a point of the program."""
        point = self.fixed.copy()
        point[self.columns] = y
        return point


def region_program(model: GeometricModel, ranges: Ranges) -> ReducedProgram:
    """Write the program of a sharpened region down."""
    base = model.base
    low, high = (
        np.minimum(ranges.low[:base], ranges.high[:base]),
        np.maximum(ranges.low[:base], ranges.high[:base]),
    )
    # the range of the objective may be cut to what is better than an incumbent: no reason to press
    # against that
    high[model.objective] += ROOM
    blocks = model.constraints
    zeros = [c.column for c in model.curves if low[c.column] <= -UNKNOWN / 2]
    if zeros:
        # these may be zero: without the terms they multiply, the program is a relaxation still
        blocks = blocks.select(np.all(blocks.matrix[:, zeros] <= 0, axis=1))
    rows, offsets = _hull_rows(model, ranges)
    derived_rows, derived_offsets = _derived_rows(model, ranges, low, high)
    rows += derived_rows
    offsets += derived_offsets
    if rows:
        blocks = stack(blocks, monomials(np.array(rows), np.array(offsets)))

    free = high > low
    offset = blocks.offset + blocks.matrix[:, ~free] @ low[~free]
    matrix = blocks.matrix[:, free]
    largest = offset + np.maximum(matrix, 0) @ high[free] + np.minimum(matrix, 0) @ low[free]
    reduced = Blocks(matrix, offset, blocks.sizes)
    active = np.logical_or.reduceat((matrix != 0).any(axis=1), blocks.starts)
    # to leave out what no point of the box exceeds only loosens
    active &= exceeds(np.logaddexp.reduceat(largest, blocks.starts), 0.0)
    reduced = reduced.select_constraints(active)
    used = (reduced.matrix != 0).any(axis=0)
    columns = np.flatnonzero(free)
    used |= columns == model.objective
    columns = columns[used]
    fixed = np.where(free, 0.5 * (low + high), low)
    program = GeometricProgram(
        Blocks(reduced.matrix[:, used], reduced.offset, reduced.sizes),
        low[columns],
        high[columns],
        int(np.searchsorted(columns, model.objective)),
        tuple(model.names[c] for c in columns),
    )
    return ReducedProgram(program, columns, fixed)


def hull(curve: CurveColumn, ranges: Ranges) -> list[tuple[float, float]]:
    """Slopes and offsets of lines below a curve in log-log, over the legal arguments in range."""
    low, high = ranges.low[curve.argument], ranges.high[curve.argument]
    # what is of no power of two is concave in log-log, where the chord lies below
    arguments = (
        powers_between(low, high) if curve.of_power else sorted({*ranges.integers(curve.argument)})
    )
    points = [
        (float(np.log(a)), float(np.log(float(curve.at(a))))) for a in arguments if curve.at(a) > 0
    ]
    if len(points) < len(arguments):
        return []
    corners: list[tuple[float, float]] = []
    for point in points:
        while len(corners) > 1 and _turns_down(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    lines = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        slope = (y1 - y0) / (x1 - x0)
        if exceeds(slope, 0.0):
            lines.append((slope, hull_below(y0 - slope * x0)))
    return lines


def _turns_down(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def _hull_rows(model: GeometricModel, ranges: Ranges) -> tuple[list[Vector], list[float]]:
    rows, offsets = [], []
    for curve in model.curves:
        for slope, offset in hull(curve, ranges):
            row = np.zeros(model.base)
            if curve.argument < model.base:
                row[curve.argument] = slope
            else:
                row += slope * model.derivation[curve.argument - model.base]
            row[curve.column] -= 1
            rows.append(row)
            offsets.append(offset)
    return rows, offsets


def _derived_rows(
    model: GeometricModel, ranges: Ranges, low: Vector, high: Vector
) -> tuple[list[Vector], list[float]]:
    """Ranges of derived columns, where they say more than those of their factors."""
    rows, offsets = [], []
    least, most = model.derivation @ low, model.derivation @ high
    for index, row in enumerate(model.derivation):
        column = model.base + index
        if exceeds(most[index], ranges.high[column]):
            rows.append(row)
            offsets.append(hull_below(-float(ranges.high[column])))
        if exceeds(ranges.low[column], least[index]):
            rows.append(-row)
            offsets.append(hull_below(float(ranges.low[column])))
    return rows, offsets
