"""Solve one design by geometric programming."""

from __future__ import annotations

import time

from ithaca.files.clock import StoppedError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.plugins.geometric.solver.search import GpSearch
from ithaca.plugins.geometric.solver.seeds import round_points
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.search import not_begun
from ithaca.solver.options import SolveOptions, deadline
from ithaca.solver.progress import Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.tables.frame import build_model
from ithaca.solver.ties import breaking_ties

METHOD = "gp"

#: Programs that `solve_gp` solves before it rounds for the first time, between later roundings, and
#: in all.
FIRST_PROGRAMS, MORE_PROGRAMS, MOST_PROGRAMS = 16, 40, 300


@breaking_ties
def solve_gp(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
) -> Solution:
    """Bound a design by geometric programs, and round their optima to a configuration.

    Ends when bound and value meet, or after `MOST_PROGRAMS` programs: this engine bounds at once
    what others prove in the end. Raises `NotPosynomialError` if the objective is not posynomial.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit, gap and interruption.
    report : Report, optional
        Called with the progress after each round of programs.
    start : Configuration, optional
        A configuration to begin with.
    """
    began = time.perf_counter()
    should_stop = deadline(options.time_limit, options.stop)
    try:
        with options.building():
            search = GpSearch(problem)
    except StoppedError:
        return not_begun(problem, start, options, METHOD)
    if start is not None:
        search.offer(start)
    wanted, model = FIRST_PROGRAMS, None
    while not (
        should_stop()
        or search.complete
        or search.programs >= MOST_PROGRAMS
        or options.gap_is_met(search.value, search.lower_bound)
    ):
        search.run(wanted, should_stop)
        wanted = MORE_PROGRAMS
        if not (should_stop() or search.complete):
            try:
                with options.building():
                    model = model or build_model(problem, options.checkpoint())
            except StoppedError:
                break
            for configuration in round_points(problem, search.points, 1, model):
                search.offer(configuration)
        if report is not None:
            report(
                Progress(
                    search.value, search.lower_bound, search.programs, time.perf_counter() - began
                )
            )
    certificate = conclude(
        search.value,
        search.lower_bound,
        options,
        complete=search.complete and search.value is None,
        exhausted=search.programs >= MOST_PROGRAMS,
        method=METHOD,
        nodes=search.programs,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, search.incumbent, certificate)
