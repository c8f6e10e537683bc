"""Best-first branch and bound on geometric programs.

A region gives each quantity a range. Its bound is the certified lower bound of its geometric
program, never what Ipopt claims; a region is dropped only if its ranges are empty by
outward-rounded arithmetic, if weak duality proves its program infeasible, or if its bound shows
that it holds no improvement. A region of a single configuration is evaluated by the Fraction
reference.

Lower bounds hold whatever the solver did, by weak duality with Gibbs' inequality. For weights w ≥ 0
with Σ w = 1, ``log Σ exp(z) ≥ Σ w·(z − log w)``. Applied to every constraint at some point, with
multipliers λ ≥ 0, it turns the Lagrangian of a geometric program in log space into an affine
function that never exceeds it. The minimum of that function over the box, read off coordinate by
coordinate, is a lower bound of the program. At the optimum with its multipliers it is attained.

Regions of which the geometric program's optimum is known are split. Quantities and their products
are whole numbers, or powers of two. One that the fractional optimum puts between two legal values
is split there, which cuts the optimum off on both sides. Splitting the quotient of a cover, or its
product with the innermost level, raises bounds fastest: they decide how much work is padded. The
others have their turn once these are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from ithaca.formulations.algebra.logarithms import exponential_below, value_above
from ithaca.formulations.algebra.rounding import duality_below, on_grid
from ithaca.formulations.problem import Problem
from ithaca.plugins.geometric.solver.ipopt import solve_program
from ithaca.plugins.geometric.solver.model import GeometricModel, build_geometric_model
from ithaca.plugins.geometric.solver.program import GeometricProgram, Vector
from ithaca.plugins.geometric.solver.ranges import UNKNOWN, Propagator, Ranges, region_program
from ithaca.solver.best_first import BestFirst
from ithaca.solver.progress import Incumbent
from ithaca.solver.tables.granularity import granularity

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


def certified_bound(program: GeometricProgram, point: Vector, multipliers: Vector) -> float:
    """A number that the program's cost variable is proven not to be below.

    Any point and any multipliers that are not negative give a valid bound; the rounding of this
    computation is subtracted.

    Parameters
    ----------
    program : GeometricProgram
        The program.
    point : ndarray
        Logarithms of the variables, where the weights are taken.
    multipliers : ndarray
        One per constraint.

    Returns
    -------
    float
        The bound (a logarithm); −inf if nothing is proven.
    """
    if not (np.isfinite(point).all() and np.isfinite(multipliers).all()):
        return -np.inf
    blocks = program.blocks
    weights = program.evaluate(point).weights
    scaled = np.maximum(multipliers, 0)[program.blocks.block] * weights
    used = scaled > 0
    scaled, entropy = scaled[used], np.log(weights[used])
    rows, offset = blocks.matrix[used], blocks.offset[used]
    slope = scaled @ rows
    slope[program.cost] += 1
    corner = np.minimum(slope * program.low, slope * program.high)
    bound = float(scaled @ (offset - entropy) + corner.sum())
    reach = np.maximum(np.abs(program.low), np.abs(program.high))
    magnitude = (
        float(scaled @ (np.abs(rows) @ reach + np.abs(offset) + np.abs(entropy) + 1))
        + float(reach[program.cost])
        + 1
    )
    return duality_below(bound, magnitude)


def proves_infeasible(program: GeometricProgram, point: Vector, multipliers: Vector) -> bool:
    """Whether multipliers of an elastic program prove that no point meets all constraints.

    Parameters
    ----------
    program : GeometricProgram
        The elastic program (`GeometricProgram.elastic`).
    point : ndarray
        Logarithms of the variables.
    multipliers : ndarray
        One per constraint.

    Returns
    -------
    bool
        Whether they prove it.
    """
    return certified_bound(program, point, multipliers) > 0


#: Iterations that Ipopt has; a feasible program takes about 15.
PATIENCE = 30

#: Below this logarithm a bound says nothing but that the objective is not negative.
NOTHING = -300.0


@dataclass(frozen=True)
class OpenRegion:
    """An open region, with logarithms of base columns at its optimum; it is bounded by a certified
    lower bound of the objective's logarithm."""

    ranges: Ranges
    point: Vector


class GpSearch(Incumbent):
    """One branch and bound run; `run` may be called again to go on.

    Regions that hold nothing better than a known ``value`` are dropped. Raises
    `NotPosynomialError` if the objective is not posynomial.
    """

    def __init__(
        self,
        problem: Problem,
        value: Fraction | None = None,
    ) -> None:
        super().__init__(problem, value)
        self.model: GeometricModel = build_geometric_model(problem)
        self.step: Fraction = granularity(problem.symbolic().objective, problem.space.powers)
        self.programs = 0
        self._propagator = Propagator(self.model)
        self._open: BestFirst[float, OpenRegion] = BestFirst()
        root = self._propagator.root()
        self._pending = [self._within(root, cell) for cell in self.model.cells]

    # -- results -----------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether no region is left that could hold an improvement."""
        return not self._open and not self._pending

    @property
    def lower_bound(self) -> Fraction | None:
        """No configuration has a smaller objective; None where nothing is proven, or none is
        feasible."""
        if self._pending:
            return None
        if not self._open:
            return self.value
        bound = on_grid(self._safe(self._open.least), self.step)
        return bound if self.value is None else min(bound, self.value)

    @property
    def points(self) -> tuple[Mapping[str, float], ...]:
        """Fractional optima of the open regions, the one with the least bound first: a value per
        quantity."""
        return tuple(
            self.model.values(np.minimum(node.point, -NOTHING))
            for node in self._open.first(len(self._open))
        )

    # -- search ------------------------------------------------------------------------

    def run(self, programs: int, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Solve so many more programs, and all those of the model's cells; fewer if complete or
        told to stop."""
        limit = self.programs + programs
        while self._pending:
            if should_stop():
                return
            self._examine(self._pending.pop(), NOTHING)
        while self._open and self.programs < limit and not should_stop():
            bound, node = self._open.pop()
            if self._holds_no_improvement(bound):
                self._open.clear()
                return
            split = choose_split(self.model, node.ranges, node.point)
            if split is None:
                self._take_single(node)
                continue
            for part in split.parts(node.ranges):
                self._examine(part, bound)

    def _examine(self, ranges: Ranges, floor: float) -> None:
        """Bound a region, and keep it unless it is proven to hold nothing better."""
        sharpened = self._propagator.sharpen(self._below_incumbent(ranges))
        if sharpened is None:
            return
        region = region_program(self.model, sharpened)
        program = region.program
        bound = max(floor, float(sharpened.low[self.model.objective]))
        point = region.fixed
        self.programs += 1
        if program.blocks.sizes.size:
            optimum = solve_program(program, patience=PATIENCE)
            if not optimum.converged:
                # infeasible, most likely; if that cannot be proven, where it is least so is a good
                # start
                elastic = program.elastic()
                least = solve_program(elastic)
                self.programs += 1
                if proves_infeasible(elastic, least.point, least.multipliers):
                    return
                optimum = solve_program(program, start=least.point[:-1])
                self.programs += 1
            bound = max(bound, certified_bound(program, optimum.point, optimum.multipliers))
            point = region.base_point(optimum.point)
        if not np.isfinite(point).all():
            point = region.fixed
        if not self._holds_no_improvement(bound):
            self._open.push(bound, OpenRegion(sharpened, point))

    def _take_single(self, node: OpenRegion) -> None:
        """A region of one configuration: evaluate it, and drop it."""
        space, columns = (
            self.problem.space,
            {name: column for column, name in enumerate(self.model.names)},
        )
        self.offer(
            space.configuration(
                {q.name: node.ranges.integers(columns[q.name])[0] for q in space.free}
            )
        )

    def _within(self, ranges: Ranges, cell: Mapping[str, int]) -> Ranges:
        for name, value in cell.items():
            ranges = ranges.restricted(self.model.names.index(name), low=value, high=value)
        return ranges

    # -- bounds ------------------------------------------------------------------------

    def _target(self) -> Fraction | None:
        """The largest objective that would be an improvement (any smaller value, where the grid is
        unknown)."""
        if self.value is None or not self.step:
            return self.value
        return (ceil(self.value / self.step) - 1) * self.step

    def _below_incumbent(self, ranges: Ranges) -> Ranges:
        target = self._target()
        if target is None or target <= 0:
            return ranges
        return ranges.restricted(self.model.objective, high=value_above(target))

    def _holds_no_improvement(self, bound: float) -> bool:
        target = self._target()
        if target is None:
            return False
        safe = self._safe(bound)
        return safe > target or (not self.step and safe >= target)

    def _safe(self, bound: float) -> Fraction:
        return Fraction(0) if bound <= NOTHING / 2 else exponential_below(bound)
