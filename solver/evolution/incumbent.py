"""A better incumbent for another engine's search: a short evolution from what that search knows."""

from __future__ import annotations

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.evolution.search import Evolution
from ithaca.solver.evolution.seeding import Start
from ithaca.solver.options import SolveOptions, deadline

#: Configurations evaluated at most: the other engine is to prove something, too.
SAMPLES = 12_000


def better_incumbent(problem: Problem, options: SolveOptions, incumbent: Tiling | None, known: Start) -> Tiling | None:
    """The best configuration that a short evolution finds.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective: any expression.
    options : SolveOptions
        The time that is left, interruption, and the seed of the random numbers.
    incumbent : Tiling or None
        The best configuration known.
    known : Start
        Further configurations, and fractional optima.

    Returns
    -------
    Tiling or None
        Never worse than the incumbent; None if nothing feasible is known.
    """
    should_stop = deadline(options.time_limit, options.stop)
    evolution = Evolution(problem, options.seed, SAMPLES)
    seeds = [t for t in (incumbent, *known.tilings) if t is not None and evolution.offer(t)]
    if not should_stop():
        evolution.run(seeds, known.points, should_stop)
    return evolution.incumbent
