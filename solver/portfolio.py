"""Solve many designs: one after the other, or side by side in processes."""

from __future__ import annotations

import multiprocessing
import queue
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from typing import Any

from ithaca.formulations.problem import Problem
from ithaca.formulations.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.infeasibility import shortfalls
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution

Report = Callable[[int, Progress], None]
Finished = Callable[[int, Solution], None]

#: Seconds between looks at the workers.
POLL = 0.1


@dataclass(frozen=True)
class _Task:
    index: int
    problem: Problem
    options: SolveOptions
    start: Tiling | None
    method: Method


def solve_designs(
    problems: Sequence[Problem],
    options: SolveOptions | None = None,
    *,
    method: Method = Method.EXACT,
    threads: int = 1,
    starts: Sequence[Tiling | None] | None = None,
    report: Report | None = None,
    finished: Finished | None = None,
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

    Returns
    -------
    tuple of Solution
        In the order of ``problems``.
    """
    options = options or SolveOptions()
    given = starts or [None] * len(problems)
    if threads == 1 or len(problems) < 2:
        return _one_by_one(problems, options, method, given, report, finished)
    return _side_by_side(problems, options, method, given, min(threads, len(problems)), report, finished)


def solve_design(
    problem: Problem,
    options: SolveOptions | None = None,
    report: Callable[[Progress], None] | None = None,
    start: Tiling | None = None,
    method: Method = Method.EXACT,
) -> Solution:
    """Solve one problem and, if it is infeasible, find out why."""
    options = options or SolveOptions()
    solution = engine(method)(problem, options, report, start)
    if solution.certificate.status is not Status.INFEASIBLE:
        return solution
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


def _side_by_side(
    problems: Sequence[Problem],
    options: SolveOptions,
    method: Method,
    starts: Sequence[Tiling | None],
    workers: int,
    report: Report | None,
    finished: Finished | None,
) -> tuple[Solution, ...]:
    # spawn: a fork of a process with threads (a progress display) can hang
    context = multiprocessing.get_context("spawn")
    stop, messages = context.Event(), context.Queue()
    if options.time_limit is not None:
        rounds = -(-len(problems) // workers)
        options = replace(options, time_limit=options.time_limit / rounds)
    plain = replace(options, stop=None)
    solutions: dict[int, Solution] = {}
    with ProcessPoolExecutor(workers, context, _start_worker, (stop, messages)) as pool:
        tasks = (_Task(i, p, plain, s, method) for i, (p, s) in enumerate(zip(problems, starts, strict=True)))
        waiting: dict[Future[Solution], int] = {pool.submit(_work, task): task.index for task in tasks}
        while waiting:
            done, _ = wait(waiting, timeout=POLL)
            if options.stop is not None and options.stop():
                stop.set()
            _drain(messages, report)
            for future in done:
                index = waiting.pop(future)
                try:
                    solutions[index] = future.result()
                except BrokenProcessPool:  # the system killed a worker
                    raise MemoryError from None
                if finished is not None:
                    finished(index, solutions[index])
    return tuple(solutions[index] for index in range(len(problems)))


def _drain(messages: Queue[tuple[int, Progress]], report: Report | None) -> None:
    """Pass on what workers have sent; a queue that nobody empties would block them."""
    while True:
        try:
            message = messages.get_nowait()
        except queue.Empty:
            return
        if report is not None:
            report(*message)


#: What a worker process was started with.
_worker: dict[str, Any] = {}


def _start_worker(stop: Event, messages: Queue[tuple[int, Progress]]) -> None:
    # signals reach the whole process group; the parent decides and tells the workers
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _worker.update(stop=stop, messages=messages)


def _work(task: _Task) -> Solution:
    last = 0.0

    def tell(progress: Progress) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= POLL:
            last = now
            _worker["messages"].put((task.index, progress))

    options = replace(task.options, stop=_worker["stop"].is_set)
    return solve_design(task.problem, options, tell, task.start, task.method)
