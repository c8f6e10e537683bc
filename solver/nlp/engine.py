"""Solve one design by nonlinear programming: a heuristic for any smooth objective."""

from __future__ import annotations

import time
from dataclasses import replace

from ithaca.files.clock import StoppedError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.search import not_begun
from ithaca.solver.nlp.search import NlpSearch
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.ties import breaking_ties

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
    limits; for a lower bound of a posynomial objective ask `ithaca.solver.gp.search.GpSearch`.

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
            problem.check_divisors()
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
