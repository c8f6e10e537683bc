"""Solve one design by CP-SAT."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.solution import Solution, make_solution
from ithaca.solver.conclusion import conclude
from ithaca.solver.cpsat.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress

METHOD = "cpsat"


def solve_cpsat(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Configuration | None = None,
    lower_bound: Fraction | None = None,
    threads: int = 1,
) -> Solution:
    """Find the best configuration of a design by integer programming, with a proof.

    The certificate's nodes are CP-SAT's branches, over all its runs.

    Parameters
    ----------
    problem, options, report, start
        As for all engines: `ithaca.solver.engines.Engine`.
    lower_bound : Fraction, optional
        A proven bound: no configuration has a smaller objective. The proof rests on it.
    threads : int
        Workers of CP-SAT. With one, a search that runs to its end is repeatable.

    Raises
    ------
    NotExpressibleError
        If CP-SAT cannot express the problem exactly.
    RuntimeError
        If CP-SAT and the Fraction reference contradict each other: then one of them is wrong.
    """
    began = time.perf_counter()
    options = options or SolveOptions()
    search = Search(problem, options, report, threads)
    state = search.state
    state.lower_bound = lower_bound
    if start is not None:
        state.value = problem.feasible_value(start)
        state.incumbent = None if state.value is None else start
    if options.stop is None or not options.stop():
        search.run()
    certificate = conclude(
        state.value,
        state.lower_bound,
        options,
        complete=state.infeasible,
        method=METHOD,
        nodes=state.branches,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, state.incumbent, certificate)
