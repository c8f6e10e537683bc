"""The default engine: one time budget, several provers.

Exact search proves most problems before any other engine has been imported, so it goes first. If it
has not finished after a moment, relaxations bound the problem globally, their rounded optima
seed the search, and evolution looks for a better incumbent from there; then it goes on where it
was. Where even the tables of exact search take longer than that moment, evolution finds the first
incumbent meanwhile. When a time limit leaves the problem open, provers of plug-ins spend the last
part of it on the same problem, from the incumbent and the bound found so far.

A `ProofState` is this, step by step: whoever solves many problems decides how far each goes, and
when.
"""

from __future__ import annotations

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.proof_state import ProofState
from ithaca.solver.solution import Solution
from ithaca.solver.ties import breaking_ties


@breaking_ties
def solve_auto(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
) -> Solution:
    """Find the best configuration of a design by whichever engine gets there.

    The certificate's method names the engines that contributed.

    Parameters
    ----------
    problem : Problem
        The problem.
    options : SolveOptions
        Time limit, gap and interruption.
    report : Report, optional
        Called with the progress now and then.
    start : Configuration, optional
        A configuration to begin with.
    """
    return ProofState(problem, start).solve(options, report)
