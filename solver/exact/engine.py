"""Solve one design by exact branch and bound."""

from __future__ import annotations

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.proof_state import ProofState
from ithaca.solver.solution import Solution
from ithaca.solver.ties import breaking_ties


@breaking_ties
def solve_exact(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
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

    Returns
    -------
    Solution
        The best configuration with its certificate.
    """
    return ProofState(problem, start, others=False).solve(options, report)
