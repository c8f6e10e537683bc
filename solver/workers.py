"""Processes that solve problems side by side."""

from __future__ import annotations

import multiprocessing
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from types import TracebackType
from typing import Any

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.child_process import begin_child
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution

#: Solves one problem; a function of a module, so that another process can find it.
Solve = Callable[[Problem, SolveOptions, Callable[[Progress], None], Tiling | None, Method], Solution]

#: Receives the number of a problem and its progress.
Report = Callable[[int, Progress], None]

#: Receives the number of a problem and its solution.
Finished = Callable[[int, Solution], None]

#: Seconds between looks at the workers.
POLL = 0.1


@dataclass(frozen=True)
class _Task:
    index: int
    solve: Solve
    problem: Problem
    options: SolveOptions
    start: Tiling | None
    method: Method


class Workers:
    """Worker processes, started as they are needed and kept until the end of the ``with`` block.

    Parameters
    ----------
    count : int
        How many problems to solve at a time.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        # spawn: a fork of a process with threads (a progress display) can hang
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()
        self._messages: Queue[tuple[int, Progress]] = self._context.Queue()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        self._pool = ProcessPoolExecutor(self.count, self._context, _start_worker, (self._stop, self._messages))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            if error is not None:
                self._stop.set()
            self._pool.shutdown(cancel_futures=error is not None)

    def solve(
        self,
        solve: Solve,
        problems: Sequence[Problem],
        options: SolveOptions,
        *,
        method: Method,
        starts: Sequence[Tiling | None],
        report: Report | None = None,
        finished: Finished | None = None,
    ) -> tuple[Solution, ...]:
        """Solve problems, `count` at a time.

        Parameters
        ----------
        solve : callable
            Solves one of them.
        problems : sequence of Problem
            The problems.
        options : SolveOptions
            Limits of each search; ``stop`` is asked here, and passed on to the workers.
        method, starts
            As for `ithaca.solver.portfolio.solve_designs`.
        report, finished : callable, optional
            Told of progress and solutions.

        Returns
        -------
        tuple of Solution
            In the order of ``problems``.
        """
        assert self._pool is not None, "to be used in a with block"
        self._stop.clear()
        plain = replace(options, stop=None)
        tasks = [_Task(i, solve, p, plain, s, method) for i, (p, s) in enumerate(zip(problems, starts, strict=True))]
        solutions: dict[int, Solution] = {}
        try:
            waiting: dict[Future[Solution], int] = {self._pool.submit(_work, task): task.index for task in tasks}
            while waiting:
                done, _ = wait(waiting, timeout=POLL)
                if options.stop is not None and options.stop():
                    self._stop.set()
                self._drain(report)
                for future in done:
                    index = waiting.pop(future)
                    solutions[index] = future.result()
                    if finished is not None:
                        finished(index, solutions[index])
        except BrokenProcessPool:  # the system killed a worker
            raise MemoryError from None
        return tuple(solutions[index] for index in range(len(tasks)))

    def _drain(self, report: Report | None) -> None:
        """Pass on what workers have sent; a queue that nobody empties would block them."""
        while True:
            try:
                message = self._messages.get_nowait()
            except queue.Empty:
                return
            if report is not None:
                report(*message)


#: What a worker process was started with.
_worker: dict[str, Any] = {}


def _start_worker(stop: Event, messages: Queue[tuple[int, Progress]]) -> None:
    begin_child()
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
    return task.solve(task.problem, options, tell, task.start, task.method)
