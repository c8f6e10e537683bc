"""Solve one design by exact branch and bound."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.solution import Solution, make_solution
from ithaca.solver.conclusion import conclude
from ithaca.solver.exact.search import Search, unsearched
from ithaca.solver.options import SolveOptions, StoppedError
from ithaca.solver.progress import Progress
from ithaca.solver.tables.frame import build_model

METHOD = "exact"


def solve_exact(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Configuration | None = None,
) -> Solution:
    """Find the best configuration of a design, with a proof; the arguments are those of all engines (`Engine`)."""
    began = time.perf_counter()
    options = options or SolveOptions()
    checkpoint = options.checkpoint()
    try:
        checkpoint()
        model = build_model(problem, checkpoint)
    except StoppedError:
        state = unsearched(problem, start)
    else:
        left = None if options.time_limit is None else max(options.time_limit - (time.perf_counter() - began), 0.0)
        state = Search(model, replace(options, time_limit=left), report).run(start)
    certificate = conclude(
        state.value,
        state.lower_bound,
        options,
        complete=state.complete,
        method=METHOD,
        nodes=state.boxes,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, state.incumbent, certificate)
