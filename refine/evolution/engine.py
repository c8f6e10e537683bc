"""Solve one design by evolution, seeded and bounded by geometric programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.refine.evolution.search import Evolution
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
    more_starts: Sequence[Configuration] = (),
    known: Start | None = None,
) -> Solution:
    """Evolve configurations from what solvers know: at most so many ``samples``, not counting what
    programs are rounded with.

    Evolution proves nothing. The lower bound is that of a few geometric programs, unless bound and
    seeds are ``known``; where the value found equals it exactly, evolution ends, and these have
    proven it optimal. The answer is never worse than any seed or start; of ``more_starts`` those
    that are not legal or break a limit are ignored.

    Further parameters and the result are those of `ithaca.solver.exact.engine.solve_exact`; the
    same seed gives the same answer unless the time limit ends the search, and the boxes reported
    are configurations evaluated.
    """
    began = time.perf_counter()
    should_stop = deadline(options.time_limit, options.stop)
    search = Evolution(problem, options.seed, samples)
    given = [seed for seed in (start, *more_starts) if seed is not None]
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

    seeds = [seed for seed in dict.fromkeys((*given, *known.configurations)) if search.offer(seed)]
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
