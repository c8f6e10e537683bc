"""Best-first branch and bound on geometric programs.

A region gives each quantity a range. Its bound is the certified lower bound of its geometric
program, never what Ipopt claims; a region is dropped only if its ranges are empty by
outward-rounded arithmetic, if weak duality proves its program infeasible, or if its bound shows
that it holds no improvement. A region of a single configuration is evaluated by the Fraction
reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from ithaca.formulations.algebra.rounding import exponential_below, on_grid, value_above
from ithaca.formulations.problem import Problem
from ithaca.solver.best_first import BestFirst
from ithaca.solver.gp.blocks import Vector
from ithaca.solver.gp.branching import choose_split
from ithaca.solver.gp.duality import certified_bound, proves_infeasible
from ithaca.solver.gp.ipopt import solve_program
from ithaca.solver.gp.model import GeometricModel, build_geometric_model
from ithaca.solver.gp.ranges import Propagator, Ranges
from ithaca.solver.gp.regions import region_program
from ithaca.solver.progress import Incumbent
from ithaca.solver.tables.granularity import granularity

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
