"""Solve many designs: one after the other, or side by side in processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.infeasibility import shortfalls
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution
from ithaca.solver.trace import TraceRecorder
from ithaca.solver.workers import Finished, Report, Workers


def solve_designs(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    method: Method = Method.EXACT,
    threads: int = 1,
    starts: Sequence[Tiling | None] | None = None,
    report: Report | None = None,
    finished: Finished | None = None,
    workers: Workers | None = None,
) -> tuple[Solution, ...]:
    """Solve independent problems; the answers do not depend on ``threads``.

    Parameters
    ----------
    problems : sequence of Problem
        One per design.
    options : SolveOptions, optional
        The time limit is for all of them: each gets an equal share of what is left.
    method : Method
        The engine.
    threads : int
        How many to solve at a time (each in a process of its own beyond 1).
    starts : sequence of Tiling or None, optional
        A known configuration per problem.
    report : callable, optional
        Receives the number of a problem and its progress.
    finished : callable, optional
        Receives the number of a problem and its solution, as they are found.
    workers : Workers, optional
        Processes to solve in, of a caller that solves several times.

    Returns
    -------
    tuple of Solution
        In the order of ``problems``.
    """
    options = options or SolveOptions()
    given = starts or [None] * len(problems)
    if threads == 1 or len(problems) < 2:
        return _one_by_one(problems, options, method, given, report, finished)
    count = min(threads, len(problems))
    if options.time_limit is not None:
        options = replace(options, time_limit=options.time_limit / -(-len(problems) // count))
    if workers is not None:
        return workers.solve(solve_design, problems, options, method=method, starts=given, report=report, finished=finished)
    with Workers(count) as own:
        return own.solve(solve_design, problems, options, method=method, starts=given, report=report, finished=finished)


def solve_design(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Tiling | None = None,
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


def best_solution(solutions: Sequence[Solution]) -> Solution | None:
    """The solution of least value; the first of equals."""
    found = [s for s in solutions if s.value is not None]
    return min(found, key=lambda s: s.value or 0) if found else None


def _one_by_one(
    problems: Sequence[Problem],
    options: SolveOptions,
    method: Method,
    starts: Sequence[Tiling | None],
    report: Report | None,
    finished: Finished | None,
) -> tuple[Solution, ...]:
    began = time.perf_counter()
    solutions = []
    for index, (problem, start) in enumerate(zip(problems, starts, strict=True)):
        share = options
        if options.time_limit is not None:
            left = max(options.time_limit - (time.perf_counter() - began), 0.0)
            share = replace(options, time_limit=left / (len(problems) - index))

        def tell(progress: Progress, index: int = index) -> None:
            if report is not None:
                report(index, progress)

        solutions.append(solve_design(problem, share, tell, start, method))
        if finished is not None:
            finished(index, solutions[-1])
    return tuple(solutions)
