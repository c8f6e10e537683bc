"""Solve one design by evolution, seeded and bounded by geometric programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.refine.evolution.search import Evolution
from ithaca.refine.evolution.shares import PUBLISHED, Shares
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import SolveOptions, deadline
from ithaca.solver.progress import Progress, Report
from ithaca.solver.seeding import Start, solver_start
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.ties import breaking_ties

METHOD = "evolve"

#: Configurations evaluated at most, unless told otherwise.
SAMPLES = 30_000

#: Share of a time limit that bound and seeds may take.
SEEDING_SHARE = 0.5


@breaking_ties
def solve_evolve(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
    *,
    samples: int = SAMPLES,
    shares: Shares = PUBLISHED,
    more_starts: Sequence[Configuration] = (),
    known: Start | None = None,
) -> Solution:
    """Evolve configurations from what solvers know.

    Evolution proves nothing. The lower bound is that of a few geometric programs, unless bound and
    seeds are ``known``; where the value equals it exactly, evolution ends, and these have proven it
    optimal. The answer is never worse than any seed or start. The same ``options.seed`` gives the
    same answer unless the time limit ends the search; the boxes reported are configurations
    evaluated.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    options : SolveOptions
        Time limit, gap, seed, interruption.
    report : callable, optional
        Receives the state of the search now and then.
    start : Configuration, optional
        A known configuration to improve on; ignored if it is not legal or breaks a limit.
    samples : int, optional
        How many configurations to evaluate at most, not counting what programs are rounded with.
    shares : Shares, optional
        How often which variation makes a child.
    more_starts : sequence of Configuration, optional
        Further ones, ignored likewise.
    known : Start, optional
        A certified bound, and seeds.

    Returns
    -------
    Solution
        The best configuration, with its certificate.
    """
    began = time.perf_counter()
    should_stop = deadline(options.time_limit, options.stop)
    search = Evolution(problem, options.seed, samples, shares)
    starts = [seed for seed in (start, *more_starts) if seed is not None]
    if known is None:
        limit = None if options.time_limit is None else options.time_limit * SEEDING_SHARE
        seeding = replace(options, time_limit=limit)
        known = solver_start(problem, seeding, seeding.checkpoint())
    bound = known.lower_bound

    def done() -> bool:
        return should_stop() or options.gap_is_met(search.value, bound)

    def tell() -> None:
        if report is not None:
            report(Progress(search.value, bound, search.samples, time.perf_counter() - began))

    seeds = [seed for seed in dict.fromkeys((*starts, *known.configurations)) if search.offer(seed)]
    if not (known.infeasible or done()):
        search.run(seeds, known.points, done, tell)
    certificate = conclude(
        search.value,
        bound,
        options,
        complete=known.infeasible,
        exhausted=not should_stop(),
        method=METHOD,
        nodes=search.samples,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, search.incumbent, certificate)
