"""Solve a design that offers a stage."""

from __future__ import annotations

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.stage import Stage
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.proof_state import ProofState
from ithaca.solver.solution import Solution
from ithaca.solver.ties import breaking_ties


@breaking_ties
def solve_staged(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Report | None = None,
    start: Configuration | None = None,
    *,
    stage: Stage | None = None,
) -> Solution:
    """Find the best configuration of a design in stages, with a proof; the arguments are those of
    all engines (`Engine`).

    Searched is ``stage`` instead of the design's own, if one is given.

    Parameters
    ----------
    problem : Problem
        The problem; its design has stages, unless one is given.
    options : SolveOptions, optional
        How far to search.
    report : Report, optional
        Told the progress.
    start : Configuration, optional
        A configuration known to be feasible.
    stage : Stage, optional
        Searched instead of the design's own.

    Raises
    ------
    InputError
        If the design has no stages.
    """
    stage = stage or problem.stage
    if stage is None:
        raise InputError(
            f"--method is 'staged', but design {problem.design.name} has no stages; allowed: auto"
        )
    state = ProofState(problem, start, others=False, stage=stage)
    return state.solve(options or SolveOptions(), report)
