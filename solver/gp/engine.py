"""Bound, seed and solve one design by geometric programming."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.gp.search import GpSearch
from ithaca.solver.gp.seeds import round_points
from ithaca.solver.options import SolveOptions, deadline
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.model import BoundModel

METHOD = "gp"

#: Programs that `solve_gp` solves before it rounds for the first time, between later roundings, and in all.
FIRST_PROGRAMS, MORE_PROGRAMS, MOST_PROGRAMS = 16, 40, 300


@dataclass(frozen=True)
class GpBound:
    """What geometric programs prove about a problem.

    Attributes
    ----------
    lower_bound : Fraction or None
        No configuration has a smaller objective; on the objective's grid where it is known. None
        where nothing is proven, or where the problem is infeasible.
    infeasible_certified : bool
        Whether it is proven that no configuration meets the limits.
    programs : int
        Geometric programs solved.
    seconds : float
        Wall time spent.
    points : tuple of mapping of str to float
        Fractional optima of the regions left, the one with the least bound first: a value per quantity.
    incumbent : Tiling or None
        The best configuration that branching came upon, if it narrowed regions down to single ones.
    """

    lower_bound: Fraction | None
    infeasible_certified: bool
    programs: int
    seconds: float
    points: tuple[Mapping[str, float], ...]
    incumbent: Tiling | None = None

    @property
    def point(self) -> Mapping[str, float] | None:
        """The fractional optimum: one value per quantity; None where nothing was solved."""
        return self.points[0] if self.points else None


def gp_bound(
    problem: Problem,
    *,
    max_programs: int = 1,
    options: SolveOptions | None = None,
    value: Fraction | None = None,
) -> GpBound:
    """A proven lower bound of a design's objective.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    max_programs : int
        How many programs to solve by branching. One per SIMD factor is solved in any case.
    options : SolveOptions, optional
        Time limit and interruption.
    value : Fraction, optional
        Objective of a known configuration: what cannot be better need not be bounded further. The bound
        never exceeds it.

    Returns
    -------
    GpBound
        Bound, and fractional optima to round (`gp_seeds`).

    Raises
    ------
    NotPosynomialError
        If the objective is not posynomial.
    """
    began = time.perf_counter()
    options = options or SolveOptions()
    search = GpSearch(problem, value)
    search.run(max_programs, deadline(options.time_limit, options.stop))
    infeasible = search.complete and search.value is None
    seconds = time.perf_counter() - began
    return GpBound(search.lower_bound, infeasible, search.programs, seconds, search.points, search.incumbent)


def gp_seeds(problem: Problem, bound: GpBound, count: int, model: BoundModel | None = None) -> tuple[Tiling, ...]:
    """Feasible configurations near the fractional optima of a bound, the best first.

    Parameters
    ----------
    problem : Problem
        The problem that was bounded.
    bound : GpBound
        Its bound; the more programs it took, the more optima there are to round.
    count : int
        How many configurations at most.
    model : BoundModel, optional
        The exact engine's model of the problem, if it has been built.
    """
    found = list(round_points(problem, bound.points, count, model)) if bound.points else []
    if bound.incumbent is not None and bound.incumbent not in found:
        found.append(bound.incumbent)
    return tuple(sorted(found, key=lambda tiling: problem.value(problem.costs(tiling)))[:count])


def solve_gp(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Tiling | None = None,
) -> Solution:
    """Bound a design by geometric programs, and round their optima to a configuration.

    Ends when bound and value meet, or after `MOST_PROGRAMS` programs: this engine bounds at once what
    others prove in the end.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    options : SolveOptions, optional
        Time limit, gap, interruption.
    report : callable, optional
        Receives the state of the search now and then.
    start : Tiling, optional
        A known configuration to improve on; ignored if it is not legal or breaks a limit.

    Returns
    -------
    Solution
        With status *optimal* only if the bound equals the value exactly.

    Raises
    ------
    NotPosynomialError
        If the objective is not posynomial.
    """
    began = time.perf_counter()
    options = options or SolveOptions()
    should_stop = deadline(options.time_limit, options.stop)
    search = GpSearch(problem)
    if start is not None:
        search.offer(start)
    wanted, model = FIRST_PROGRAMS, None
    while not (should_stop() or search.complete or search.programs >= MOST_PROGRAMS or _close_enough(search, options.gap)):
        search.run(wanted, should_stop)
        wanted = MORE_PROGRAMS
        if not (should_stop() or search.complete):
            model = model or build_model(problem)
            for tiling in round_points(problem, search.points, 1, model):
                search.offer(tiling)
        if report is not None:
            report(Progress(search.value, search.lower_bound, search.programs, time.perf_counter() - began))
    return make_solution(problem, search.incumbent, _certificate(search, time.perf_counter() - began))


def _close_enough(search: GpSearch, gap: float) -> bool:
    value, bound = search.value, search.lower_bound
    return value is not None and bound is not None and value - bound <= Fraction(gap) * abs(value)


def _certificate(search: GpSearch, seconds: float) -> Certificate:
    value, bound = search.value, search.lower_bound
    if value is None:
        status = Status.INFEASIBLE if search.complete else Status.UNKNOWN
    else:
        status = Status.OPTIMAL if value == bound else Status.FEASIBLE
    return Certificate(status, bound, relative_gap(value, bound), METHOD, search.programs, seconds)
