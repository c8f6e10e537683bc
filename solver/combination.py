"""Bring geometric programs to bear on an exact search: at the root.

Intervals see integrality and are weak where quantities of several loops pull against each other;
geometric programs see those trade-offs and are blind to integrality. The search keeps what either
proves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.engines import Method, engine
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.seeding import STAGES, Start, solver_start
from ithaca.solver.solution import Solution

#: Configurations that a short evolution evaluates at most: the other engines are to prove
#: something, too.
SAMPLES = 12_000


def bound_and_seed(
    problem: Problem, search: Search, options: SolveOptions, stages: Sequence[int] = STAGES
) -> Start:
    """Give a search the bound and the rounded optima of geometric programs.

    Parameters
    ----------
    problem : Problem
        The problem.
    search : Search
        Exact search of it.
    options : SolveOptions
        Time limit and interruption.
    stages : Sequence of int, optional
        Programs solved before each rounding.

    Returns
    -------
    Start
        What they found. Without a bound, the time was over, or the objective has no geometric
        program: then these are of the least latency.
    """
    known = solver_start(problem, options, options.checkpoint(), stages=stages, model=search.model)
    if known.infeasible:
        search.close_all()
    if known.lower_bound is not None:
        search.raise_floor(known.lower_bound)
    for configuration in known.configurations:
        search.offer(configuration)
    return known


def better_incumbent(
    problem: Problem, options: SolveOptions, incumbent: Configuration | None, known: Start
) -> Configuration | None:
    """The best configuration that a short evolution finds from what is known.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit and interruption.
    incumbent : Configuration or None
        The best known.
    known : Start
        Other configurations and fractional optima to begin with.

    Returns
    -------
    Configuration or None
        Never worse than the incumbent.
    """
    evolve: Any = engine(Method.EVOLVE)  # which takes more than all engines do
    better: Solution = evolve(
        problem, replace(options, any_tie=True), start=incumbent, samples=SAMPLES, known=known
    )
    return better.configuration
