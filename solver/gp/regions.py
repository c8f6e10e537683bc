"""The geometric program of a region: fixed quantities put in, curves replaced by their convex
hulls."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ithaca.formulations.algebra.rounding import exceeds, hull_below
from ithaca.solver.gp.model import CurveColumn, GeometricModel
from ithaca.solver.gp.program import Blocks, GeometricProgram, Indices, Vector, monomials, stack
from ithaca.solver.gp.ranges import UNKNOWN, Ranges, powers_between

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
