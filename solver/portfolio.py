"""Solve many designs: one after the other, or side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.certificate import Status
from ithaca.results.solution import Solution
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.executor import Executor, Tell, open_executor
from ithaca.solver.infeasibility import shortfalls
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.trace import TraceRecorder

#: Receives the number of a problem and its solution.
Finished = Callable[[int, Solution], None]


def solve_designs(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    method: Method = Method.EXACT,
    threads: int = 1,
    starts: Sequence[Configuration | None] | None = None,
    report: Tell | None = None,
    finished: Finished | None = None,
    executor: Executor | None = None,
) -> tuple[Solution, ...]:
    """Solve independent problems, one per design; the answers do not depend on ``threads``.

    Parameters
    ----------
    options : SolveOptions, optional
        The time limit is for all of them: each gets an equal share of what is left.
    threads : int
        How many to solve at a time (each in a process of its own beyond 1).
    starts : sequence of Configuration or None, optional
        A known configuration per problem.
    report, finished : callable, optional
        Receive the number of a problem with its progress, or its solution, as they are found.
    executor : Executor, optional
        Runs them instead of ``threads`` processes, for a caller that solves several times.

    Returns
    -------
    tuple of Solution
        In the order of ``problems``; those not reached before a stop have status *unknown*.

    Raises
    ------
    MemoryError
        If the system killed a process each time that it solved a problem.
    """
    budget, given = Budget(options or SolveOptions()), starts or [None] * len(problems)
    solutions: dict[int, Solution] = {}
    with open_executor(min(threads, len(problems))) if executor is None else nullcontext(executor) as used:
        jobs = [partial(solve_design, p, start=s, method=method) for p, s in zip(problems, given, strict=True)]
        for index, solution in used.results(jobs, lambda unfinished: budget.share(-(-unfinished // used.width)), report):
            solutions[index] = solution
            if finished is not None:
                finished(index, solution)
    return tuple(solutions.get(index) or not_solved(problem) for index, problem in enumerate(problems))


def solve_design(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Configuration | None = None,
    method: Method = Method.EXACT,
) -> Solution:
    """Solve one problem, with the course of the search in its certificate; if it is infeasible, find out why."""
    options = options or SolveOptions()
    recorder = TraceRecorder()

    def tell(progress: Progress) -> None:
        recorder(progress)
        if report is not None:
            report(progress)

    solution = engine(method)(problem, options, tell, start)
    if solution.certificate.status is not Status.INFEASIBLE:
        proof = solution.certificate
        trace = recorder.trace(solution.value, proof.lower_bound, proof.nodes)
        return replace(solution, certificate=replace(proof, trace=trace))
    left = options.time_limit
    if left is not None:
        left = max(left - solution.certificate.seconds, 0.0)
    return replace(solution, shortfalls=shortfalls(problem, replace(options, gap=0.0, time_limit=left)))


def not_solved(problem: Problem) -> Solution:
    """The solution of a problem that was not reached."""
    return Solution(problem, None, None, conclude(None, None, method="none"))
