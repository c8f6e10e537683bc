"""The default engine: one time budget, several provers.

Exact search proves most problems before any other engine has been imported, so it goes first. If it
has not finished after a moment, geometric programs bound the problem globally, their rounded
optima seed the search, and coarse boxes that they prove empty of improvements are dropped; then it
goes on where it was. When a time limit leaves the problem open, CP-SAT spends the last part of it
on the same problem, from the incumbent and the bound found so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ithaca.formulations.problem import Problem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.exact.engine import certificate_of
from ithaca.solver.exact.frame import build_model
from ithaca.solver.exact.search import Search, unsearched
from ithaca.solver.options import SolveOptions, StoppedError
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution, make_solution
from ithaca.workloads.errors import InputError

METHOD = "auto"

#: Seconds of exact search before other engines are asked.
ALONE = 2.0

#: Share of a time limit that is kept for CP-SAT.
CPSAT_SHARE = 0.25


def solve_auto(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Tiling | None = None,
) -> Solution:
    """Find the best configuration of a design by whichever engine gets there.

    Parameters and result are those of `ithaca.solver.exact.engine.solve_exact`; the certificate's
    method names the engines that contributed.
    """
    began = time.perf_counter()
    options = options or SolveOptions()
    checkpoint = options.checkpoint()
    try:
        checkpoint()
        model = build_model(problem, checkpoint)
    except StoppedError:
        state = unsearched(problem, start)
        return make_solution(problem, state.incumbent, certificate_of(state, METHOD, time.perf_counter() - began))
    prepared = time.perf_counter() - began
    limit = None if options.time_limit is None else max(options.time_limit - prepared, 0.0)
    search = Search(model, options, report)

    def advance(until: float | None) -> bool:
        """Go on with exact search until some second; whether it is finished."""
        search.options = replace(options, time_limit=until)
        state = search.run()
        stopped = options.stop is not None and options.stop()
        return state.complete or stopped or options.gap_is_met(state.value, state.lower_bound)

    if start is not None:
        search.offer(start)
    methods = ["exact"]
    if not advance(ALONE if limit is None else min(ALONE, limit)) and (limit is None or limit > ALONE):
        until = None if limit is None else max(limit * (1 - CPSAT_SHARE), ALONE)
        left = None if limit is None else max(limit - (time.perf_counter() - began - prepared), 0.0)
        if _combine(problem, search, replace(options, time_limit=left)):
            methods.append("gp")
        advance(until)
    seconds = time.perf_counter() - began
    certificate = certificate_of(search.state, "+".join(methods), seconds)
    solution = make_solution(problem, search.state.incumbent, certificate)
    finished = _is_final(solution, options) or (options.stop is not None and options.stop())
    if finished or options.time_limit is None or seconds >= options.time_limit:
        return solution
    return _finish(solution, replace(options, time_limit=options.time_limit - seconds), report, seconds)


def _is_final(solution: Solution, options: SolveOptions) -> bool:
    """Whether a solution is proven as far as it was asked for."""
    certificate = solution.certificate
    return certificate.status is Status.INFEASIBLE or options.gap_is_met(solution.value, certificate.lower_bound)


def _combine(problem: Problem, search: Search, options: SolveOptions) -> bool:
    """Let geometric programs bound, seed and thin out a search; whether the problem is posynomial."""
    from ithaca.solver.combination import bound_and_seed, close_coarse_boxes

    try:
        bound_and_seed(problem, search, options)
        close_coarse_boxes(problem, search, options)
    except InputError:  # the objective has no geometric program
        return False
    return True


def _finish(solution: Solution, options: SolveOptions, report: Callable[[Progress], None] | None, spent: float) -> Solution:
    """Let CP-SAT go on from an open solution."""
    from ithaca.solver.cpsat.engine import solve_cpsat

    known = solution.certificate
    try:
        found = solve_cpsat(solution.problem, options, report, solution.tiling, known.lower_bound)
    except InputError:  # CP-SAT cannot express the problem
        return solution
    bounds = [b for b in (known.lower_bound, found.certificate.lower_bound) if b is not None]
    better = found if found.value is not None else solution
    certificate = Certificate(
        found.certificate.status,
        max(bounds, default=None),
        relative_gap(better.value, max(bounds, default=None)),
        f"{known.method}+{found.certificate.method}",
        known.nodes + found.certificate.nodes,
        spent + found.certificate.seconds,
    )
    return make_solution(solution.problem, better.tiling, certificate)
