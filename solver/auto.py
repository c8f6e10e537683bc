"""The default engine: one time budget, several provers.

Exact search proves most problems before any other engine has been imported, so it goes first. If it
has not finished after a moment, geometric programs bound the problem globally, their rounded
optima seed the search, evolution looks for a better incumbent from there, and coarse boxes that the
programs prove empty of improvements are dropped; then it goes on where it was. Where even the tables of
exact search take longer than that moment, evolution finds the first incumbent meanwhile. When a time
limit leaves the problem open, CP-SAT spends the last part of it on the same problem, from the incumbent
and the bound found so far.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.certificate import Certificate, Status
from ithaca.results.solution import Solution, make_solution
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.search import Search, SearchState, check_bound, unsearched
from ithaca.solver.options import SolveOptions, StoppedError
from ithaca.solver.progress import Progress
from ithaca.solver.tables.frame import build_model
from ithaca.workloads.errors import InputError

METHOD = "auto"

#: What the certificate names if there was no time for exact search.
EARLY = "gp+evolve"

#: Seconds of exact search before other engines are asked.
ALONE = 2.0

#: Seconds of preparing exact search before evolution is asked for a first incumbent.
PATIENCE = 2.0

#: Share of the time left that geometric programs may take, and then evolution.
EVOLUTION_SHARE = 0.2

#: Geometric programs solved for a first incumbent while tables are built.
EARLY_STAGES = (12,)

#: Share of a time limit that is kept for CP-SAT.
CPSAT_SHARE = 0.25


def solve_auto(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Configuration | None = None,
) -> Solution:
    """Find the best configuration of a design by whichever engine gets there.

    Parameters and result are those of `ithaca.solver.exact.engine.solve_exact`; the certificate's
    method names the engines that contributed.
    """
    began = time.perf_counter()
    options = options or SolveOptions()
    checkpoint = options.checkpoint()
    early: SearchState | None = None

    def left(share: float = 1.0) -> SolveOptions:
        """The options, with a share of the time that is left."""
        if options.time_limit is None:
            return options
        return replace(options, time_limit=max(options.time_limit - (time.perf_counter() - began), 0.0) * share)

    def certified(state: SearchState, method: str) -> Certificate:
        """What a search has proven so far."""
        spent, complete = time.perf_counter() - began, state.complete
        return conclude(
            state.value, state.lower_bound, options, complete=complete, method=method, nodes=state.boxes, seconds=spent
        )

    def evolve_if_slow() -> None:
        nonlocal early
        checkpoint()
        if early is None and time.perf_counter() - began > PATIENCE:
            early = _evolved(problem, start, left(EVOLUTION_SHARE))
            if early.complete or options.gap_is_met(early.value, early.lower_bound):
                raise StoppedError  # enough is known without tables

    try:
        checkpoint()
        model = build_model(problem, evolve_if_slow)
    except StoppedError:
        state, method = (unsearched(problem, start), METHOD) if early is None else (early, EARLY)
        return make_solution(problem, state.incumbent, certified(state, method))
    prepared = time.perf_counter() - began
    limit = None if options.time_limit is None else max(options.time_limit - prepared, 0.0)
    search = Search(model, options, report)

    def advance(until: float | None) -> bool:
        """Go on with exact search until some second; whether it is finished."""
        search.options = replace(options, time_limit=until)
        state = search.run()
        stopped = options.stop is not None and options.stop()
        return state.complete or stopped or options.gap_is_met(state.value, state.lower_bound)

    known = unsearched(problem, start) if early is None else early
    if known.incumbent is not None:
        search.offer(known.incumbent)
    if known.lower_bound is not None:
        search.raise_floor(known.lower_bound)
    methods = ["exact"] if early is None else [EARLY, "exact"]
    if not advance(ALONE if limit is None else min(ALONE, limit)) and (limit is None or limit > ALONE):
        until = None if limit is None else max(limit * (1 - CPSAT_SHARE), ALONE)
        methods += (name for name in _combine(problem, search, left) if early is None or name not in EARLY)
        advance(until)
    solution = make_solution(problem, search.state.incumbent, certified(search.state, "+".join(methods)))
    seconds = solution.certificate.seconds
    finished = _is_final(solution, options) or (options.stop is not None and options.stop())
    if finished or options.time_limit is None or seconds >= options.time_limit:
        return solution
    return _finish(solution, replace(options, time_limit=options.time_limit - seconds), report, seconds)


def _is_final(solution: Solution, options: SolveOptions) -> bool:
    """Whether a solution is proven as far as it was asked for."""
    certificate = solution.certificate
    return certificate.status is Status.INFEASIBLE or options.gap_is_met(solution.value, certificate.lower_bound)


def _evolved(problem: Problem, start: Configuration | None, options: SolveOptions) -> SearchState:
    """An incumbent and a lower bound without exact search or its tables."""
    from ithaca.solver.combination import better_incumbent
    from ithaca.solver.evolution.seeding import solver_start

    known = solver_start(problem, options, options.checkpoint(), stages=EARLY_STAGES, rounding=False)
    state = unsearched(problem, start if known.infeasible else better_incumbent(problem, options, start, known))
    check_bound(problem, state.value, known.lower_bound, infeasible=known.infeasible)
    state.lower_bound, state.complete = known.lower_bound, known.infeasible
    return state


def _combine(problem: Problem, search: Search, left: Callable[[float], SolveOptions]) -> list[str]:
    """Let other engines bound, seed and thin out a search; those that contributed."""
    from ithaca.solver.combination import bound_and_seed, close_coarse_boxes, evolve

    known = bound_and_seed(problem, search, left(EVOLUTION_SHARE))
    methods = ["gp"] if known.infeasible or known.lower_bound is not None else []
    if known.infeasible or left(1.0).gap_is_met(search.state.value, known.lower_bound):
        return methods
    if evolve(problem, search, left(EVOLUTION_SHARE), known):
        methods.append("evolve")
    if known.lower_bound is not None:
        close_coarse_boxes(problem, search, left(1.0 - CPSAT_SHARE))
    return methods


def _finish(solution: Solution, options: SolveOptions, report: Callable[[Progress], None] | None, spent: float) -> Solution:
    """Let CP-SAT go on from an open solution."""
    from ithaca.solver.cpsat.engine import solve_cpsat

    known = solution.certificate

    def tell(progress: Progress) -> None:
        """Count on from what was spent before."""
        if report is not None:
            report(replace(progress, boxes=known.nodes + progress.boxes, seconds=spent + progress.seconds))

    try:
        found = solve_cpsat(solution.problem, options, tell, solution.configuration, known.lower_bound)
    except InputError:  # CP-SAT cannot express the problem
        return solution
    bounds = [b for b in (known.lower_bound, found.certificate.lower_bound) if b is not None]
    better = found if found.value is not None else solution
    certificate = conclude(
        better.value,
        max(bounds, default=None),
        options,
        complete=found.certificate.status.proven,
        method=f"{known.method}+{found.certificate.method}",
        nodes=known.nodes + found.certificate.nodes,
        seconds=spent + found.certificate.seconds,
    )
    return make_solution(solution.problem, better.configuration, certificate)
