"""Solve one design by enumeration: all rows of all axes, told apart by hardware first.

Nothing is shared with the other engines but the cost model: no row is left out because another is
never worse, bounds are those of interval arithmetic, rounded outwards (`spans`), and what is left
is evaluated by the exact reference. It does not look for good configurations: with one to begin
with, it soon proves that there is none better.
"""

from __future__ import annotations

from ithaca.files.clock import StoppedError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.conclusion import conclude
from ithaca.solver.enumeration.search import MOST, Enumeration, Most
from ithaca.solver.exact.search import not_begun
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.ties import breaking_ties

METHOD = "enumeration"


@breaking_ties
def solve_enumeration(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
    most: Most = MOST,
) -> Solution:
    """Find the best configuration of a design, with a proof.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit, gap and interruption.
    report : Report, optional
        Told the progress.
    start : Configuration, optional
        A configuration to begin with.
    most : Most, optional
        What it may take.

    Raises
    ------
    NotExpressibleError
        If the problem is more than can be enumerated.
    """
    budget = Budget(options)
    try:
        with options.building():
            search = Enumeration(problem, options, report, most)
            if start is not None:
                search.offer(start)
            search.prepare()
    except StoppedError:
        return not_begun(problem, start, options, METHOD)
    search.options = budget.share()
    search.run()
    state = search.state
    proof = conclude(
        state.value,
        state.lower_bound,
        search.options,
        method=METHOD,
        complete=state.complete,
        nodes=state.boxes,
        seconds=budget.spent,
    )
    return make_solution(problem, state.incumbent, proof)
