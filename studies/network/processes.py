"""Solve problems in processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing.synchronize import Event
from typing import Any

from ithaca.solver.child_process import begin_child
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution
from ithaca.studies.network.executor import AHEAD, KILLED, POLL, Share, Tell
from ithaca.studies.network.failure import Failure
from ithaca.studies.network.job import Job, attempt, one_line


class Processes:
    """An `Executor` with a pool of processes, started with the first problem.

    A process that dies takes the pool with it. The problems that were under way are then suspect: they are solved one by
    one when all others are done, so that only the one to blame fails.

    Parameters
    ----------
    threads : int
        How many.
    """

    def __init__(self, threads: int) -> None:
        self.width = threads
        # spawn: a fork of a process with threads (a progress display) can hang
        self._context = multiprocessing.get_context("spawn")
        self._unwanted = self._context.Event()
        self._pool: ProcessPoolExecutor | None = None

    def solve(self, jobs: Sequence[Job], method: Method, share: Share, tell: Tell) -> Iterator[tuple[int, Solution | Failure]]:
        """Solve problems in the given order, several at a time; their progress is not told."""
        suspects: list[int] = []
        for index, outcome in self._run(jobs, range(len(jobs)), method, share):
            if outcome is None:
                suspects.append(index)
            else:
                yield index, outcome
        for index in suspects:
            for _, outcome in self._run(jobs, [index], method, share):
                yield index, outcome or Failure(jobs[index].place, KILLED)

    def close(self) -> None:
        """End the processes; a search that is under way ends with what it has."""
        if self._pool is not None:
            self._unwanted.set()
            self._pool.shutdown(cancel_futures=True)

    def _run(
        self, jobs: Sequence[Job], chosen: Sequence[int], method: Method, share: Share
    ) -> Iterator[tuple[int, Solution | Failure | None]]:
        """Solve some of the jobs; None where a process died."""
        wanted = deque(chosen)
        under_way: dict[Future[Solution | Failure], int] = {}
        while wanted or under_way:
            options = share(len(wanted) + len(under_way))
            if options.stop is not None and options.stop():
                self._unwanted.set()  # what is under way ends with what it has
                wanted.clear()
                under_way = {future: index for future, index in under_way.items() if not future.cancel()}
            if self._pool is None:
                self._pool = ProcessPoolExecutor(self.width, self._context, _start, (self._unwanted,))
            broken = False
            while wanted and len(under_way) < AHEAD * self.width and not broken:
                plain = replace(share(len(wanted) + len(under_way)), stop=None)
                try:
                    under_way[self._pool.submit(_work, jobs[wanted[0]], plain, method)] = wanted[0]
                    wanted.popleft()
                except BrokenProcessPool:
                    broken = True
            done, _ = wait(under_way, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in done:
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    broken = True
                    continue
                index = under_way.pop(future)
                yield index, future.result() if error is None else Failure(jobs[index].place, one_line(repr(error)))
            if broken:
                yield from ((index, None) for index in under_way.values())
                under_way.clear()
                self._pool.shutdown()
                self._pool = None


#: What a process was started with.
_given: dict[str, Any] = {}


def _start(unwanted: Event) -> None:
    begin_child()
    _given["unwanted"] = unwanted


def _work(job: Job, options: SolveOptions, method: Method) -> Solution | Failure:
    return attempt(job, replace(options, stop=_given["unwanted"].is_set), method)
