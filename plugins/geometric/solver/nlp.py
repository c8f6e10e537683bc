"""Solve one design by nonlinear programming, a heuristic for any smooth objective: local optima
from several points, each rounded to a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from math import exp, log, sqrt

import numpy as np

from ithaca.files.clock import StoppedError, ending
from ithaca.formulations.algebra.logarithms import value_above
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.plugins.geometric.solver.model import enumerated_cells
from ithaca.plugins.geometric.solver.nonlinear import (
    LocalOptimum,
    NonlinearProgram,
    quantity_ranges,
)
from ithaca.plugins.geometric.solver.seeds import round_points
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.search import not_begun
from ithaca.solver.options import SolveOptions, deadline, never
from ithaca.solver.progress import Incumbent, Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.model import BoundModel
from ithaca.solver.ties import breaking_ties

#: Starting points of a program that is not convex.
STARTS = 16

#: Starting points of a convex program: its first optimum is the only one, the others are for where
#: Ipopt fails.
CONVEX_STARTS = 3

#: Optima whose goals (logarithms, mostly) are nearer than this count as one. Ipopt returns few more
#: digits, and where an objective does not depend on a quantity, its optima form a surface.
SAME = 1e-5

#: Ipopt wants a time limit that is not 0 (seconds).
LEAST_SECONDS = 1e-3


class NlpSearch(Incumbent):
    """The local optima of a problem's nonlinear program, and the configurations next to them.

    A program that is not convex gets so many ``starts``. Counted are starts so far, and programs:
    one per start, and for every new optimum one per enumerated cell. ``optima`` are the distinct
    ones in the order they were found; the incumbent is the best configuration, with its value by
    the Fraction reference. Raises `InputError` if the objective has no smooth program.
    """

    def __init__(self, problem: Problem, seed: int = 0, starts: int = STARTS) -> None:
        super().__init__(problem)
        self.seed = seed
        self.starts = 0
        self.programs = 0
        self.optima: list[LocalOptimum] = []
        ranges = quantity_ranges(problem)
        self._program = None if ranges is None else NonlinearProgram(problem, ranges)
        self._most = starts if not self.convex else min(starts, CONVEX_STARTS)
        self._cells = [
            cell
            for cell in enumerated_cells(problem.space)
            if cell
            and ranges
            and all(
                ranges[n][0] <= value_above(v) and v <= value_above(ranges[n][1])
                for n, v in cell.items()
            )
        ]
        self._model: BoundModel | None = None
        self._rounded: list[LocalOptimum] = []

    @property
    def infeasible(self) -> bool:
        """Whether it is proven that no configuration is within the limits."""
        return self._program is None

    @property
    def convex(self) -> bool:
        """Whether the program is convex in the logarithms of its quantities."""
        return self._program is None or self._program.convex

    @property
    def best(self) -> LocalOptimum | None:
        """The local optimum of least value."""
        return min(self.optima, key=lambda optimum: optimum.value, default=None)

    def run(self, options: SolveOptions | None = None, tell: Callable[[], None] = never) -> None:
        """Start from every point, and round what is new, until the time is over or a stop is asked
        for; tell after starts."""
        if self._program is None:
            return
        options = options or SolveOptions()
        began = time.perf_counter()
        should_stop = deadline(options.time_limit, options.stop)
        checkpoint = options.checkpoint()

        def solve(
            point: Mapping[str, float], fixed: Mapping[str, float] | None = None
        ) -> LocalOptimum:
            assert self._program is not None
            self.programs += 1
            if options.time_limit is None:
                return self._program.solve(point, fixed)
            left = options.time_limit - (time.perf_counter() - began)
            return self._program.solve(point, fixed, max_wall_time=max(left, LEAST_SECONDS))

        known = None
        if self.incumbent is not None:
            known = {name: float(value) for name, value in self.incumbent.items()}
        if not self._program.ranges:  # Ipopt wants something to choose
            self.offer(Configuration({}))
            return
        for point in islice(starting_points(self._program.ranges, self.seed, known), self._most):
            if should_stop():
                return
            optimum = solve(point)
            self.starts += 1
            if optimum.converged and _is_new(optimum, self.optima):
                self.optima.append(optimum)
            # where Ipopt gave up may be near something good, too
            if _is_new(optimum, self._rounded):
                self._rounded.append(optimum)
                try:
                    with ending(should_stop):
                        self._round(optimum, checkpoint)
                        for cell in self._cells:
                            if not should_stop():
                                self._round(solve(optimum.point, cell), checkpoint)
                except StoppedError:
                    return
            tell()
            if self.convex and self.optima:
                return

    def _round(self, optimum: LocalOptimum, checkpoint: Callable[[], None]) -> None:
        self._model = self._model or build_model(self.problem, checkpoint)
        for configuration in round_points(self.problem, [optimum.point], 1, self._model):
            self.offer(configuration)


def _is_new(optimum: LocalOptimum, known: list[LocalOptimum]) -> bool:
    """Whether an optimum differs in value from all that are known."""
    return all(abs(optimum.goal - other.goal) > SAME for other in known)


def starting_points(
    ranges: Mapping[str, tuple[float, float]], seed: int, known: Mapping[str, float] | None = None
) -> Iterator[Mapping[str, float]]:
    """Starting points without end: what is known, the middle of all ranges, then random ones.

    Parameters
    ----------
    ranges : Mapping of str to tuple of float
        Ends of every quantity; random points are uniform in their logarithms.
    seed : int
        The same seed gives the same points.
    known : Mapping of str to float, optional
        The first point.

    Yields
    ------
    Mapping of str to float
        A value per quantity.
    """
    if known is not None:
        yield known
    yield {name: sqrt(low * high) for name, (low, high) in ranges.items()}
    generator = np.random.default_rng(seed)
    while True:
        yield {
            name: exp(generator.uniform(log(low), log(high)))
            for name, (low, high) in ranges.items()
        }


METHOD = "nlp"


@breaking_ties
def solve_nlp(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
) -> Solution:
    """Find local optima of a design's continuous relaxation, and round them to configurations.

    The program is solved from one point where it is convex in the logarithms of its quantities,
    else from several. Nothing is proven of the answer, except where no configuration is within the
    limits; for a lower bound of a posynomial objective ask `GpSearch`.

    The objective may be negative; a gap is of no use without a bound, and the boxes reported are
    programs.

    Raises `InputError` if the objective falls with its maxima or ceilings, so that it has no smooth
    program.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit, interruption, and the seed of the starting points.
    report : Report, optional
        Called with the progress after each program.
    start : Configuration, optional
        A configuration to begin with.
    """
    began = time.perf_counter()
    try:
        with options.building():
            _ = problem.guarded  # divisors are refused there
            search = NlpSearch(problem, options.seed)
    except StoppedError:
        return not_begun(problem, start, options, METHOD)
    if start is not None:
        search.offer(start)

    def tell() -> None:
        if report is not None:
            report(Progress(search.value, None, search.programs, time.perf_counter() - began))

    left = (
        None
        if options.time_limit is None
        else max(options.time_limit - (time.perf_counter() - began), 0.0)
    )
    search.run(replace(options, time_limit=left), tell)
    certificate = conclude(
        search.value,
        None,
        options,
        complete=search.infeasible,
        exhausted=True,
        method=METHOD,
        nodes=search.programs,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, search.incumbent, certificate)
