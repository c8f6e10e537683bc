"""An executor of several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as await_any
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.queues import Queue
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from ithaca.solver.executor import (
    Executor,
    Job,
    KilledError,
    Outcomes,
    Share,
    Sharing,
    T,
    Tell,
    taken_apart,
)
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress

#: Seconds between looks at whether to stop, and between two reports of a process.
POLL = 0.1

#: Looks at jobs of which a process is gone, before all others are let go; jobs per process that are
#: handed over, of which the second waits there.
PATIENCE, AHEAD = 20, 2

#: How much of what jobs share is kept: what the last jobs did.
KEPT = 8


_script_hidden = threading.Lock()


@contextmanager
def without_script() -> Iterator[None]:
    """Hide the script that runs: processes started meanwhile do not run it, too, so that it needs
    no ``if __name__ == "__main__"``."""
    with _script_hidden:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process: Any) -> Any:  # noqa: N802  (the library's name)
        with without_script():
            return SpawnProcess._Popen(process)


class _Spawned(SpawnContext):
    Process = _Process


class Processes(Executor):
    """Runs jobs in so many processes of this machine, started as they are needed."""

    def __init__(self, count: int) -> None:
        self._count = count
        # spawn: a fork of a process with threads (a progress display) can hang
        self._context = _Spawned()
        # no Event: a process killed while it holds the lock of one stops all who look at it
        self._unwanted = self._context.RawValue("b", 0)
        # the run whose jobs may begin: futures are not cancelled, as a pool that breaks stumbles
        # over those that were
        self._begins = self._context.RawValue("q", 0)
        self._messages: Queue[tuple[int, int, Progress]] | None = None
        self._held: tuple[Connection, Connection] | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._runs = self._files = self._silent = 0
        self._shared: list[tuple[object, str]] = []  #: With files, the last one last
        self._folder: TemporaryDirectory[str] | None = None

    @property
    def width(self) -> int:
        """The number of processes."""
        return self._count

    def close(self) -> None:
        """Stop all jobs, and end the processes."""
        self._unwanted.value = 1
        self._shut(broken=False)
        if self._folder is not None:
            self._folder.cleanup()
        self._shared, self._folder = [], None

    def _run(
        self, jobs: Sequence[Job[T]], chosen: Sequence[int], share: Share, tell: Tell
    ) -> Outcomes[T]:
        self._unwanted.value = 0
        self._runs += 1
        self._begins.value = self._runs
        for _, old in self._shared[:-KEPT]:
            Path(old).unlink()
        del self._shared[:-KEPT]
        wanted = deque(chosen)
        under_way: dict[Future[tuple[T] | None], int] = {}
        try:
            while wanted or under_way:
                options = share(len(wanted) + len(under_way))
                if options is None or options.stopped:
                    self._unwanted.value = options is not None
                    self._begins.value = 0
                    wanted.clear()
                pool, broken = self._open(), False
                while wanted and len(under_way) < AHEAD * self._count and not broken:
                    if (options := share(len(wanted) + len(under_way))) is None:
                        break
                    try:
                        plain, index = options.elsewhere, wanted[0]
                        (job, common), name = taken_apart(jobs[index]), (self._runs, index)
                        future = pool.submit(_work, name, job, plain, self._place_of(common))
                        under_way[future] = wanted.popleft()
                    except BrokenProcessPool:
                        broken = True
                done = self._ended(under_way)
                self._pass_on(tell)
                for future in done:
                    error = future.exception()
                    if isinstance(error, BrokenProcessPool):
                        broken = True
                    elif isinstance(error, Exception):
                        yield under_way.pop(future), error
                    else:
                        index, outcome = under_way.pop(future), future.result()
                        if outcome is not None:
                            yield index, outcome[0]
                if broken:
                    yield from ((index, KilledError()) for index in under_way.values())
                    under_way.clear()
                    self._shut(broken=True)
        finally:  # whoever asked has turned to something else, perhaps to the next run
            if under_way:
                self._unwanted.value, self._begins.value = 1, 0
                while under_way.keys() - self._ended(under_way, every=True):
                    pass

    def _ended(
        self, under_way: Collection[Future[tuple[T] | None]], *, every: bool = False
    ) -> set[Future[tuple[T] | None]]:
        """The jobs that end within a moment: one of them, or every one."""
        when = ALL_COMPLETED if every else FIRST_COMPLETED
        done, left = wait(under_way, timeout=POLL, return_when=when)
        # one that is killed while it hands a result back leaves half of it in the pipe, and the
        # lock that the others wait for: nothing would end any more, so all are let go
        processes = (getattr(self._pool, "_processes", None) or {}).values()
        killed = any(process.exitcode is not None for process in processes)
        self._silent = self._silent + 1 if killed and left and (every or not done) else 0
        if self._silent == PATIENCE and self._held is not None:
            self._held[1].close()
            vars(self._pool)["_result_queue"]._writer.close()
        return done

    def _place_of(self, common: object | None) -> str | None:
        """A file of what jobs share; the next run deletes those of long ago."""
        if common is None:
            return None
        for number, (known, place) in enumerate(self._shared):
            if known is common:
                self._shared.append(self._shared.pop(number))
                return place
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="ithaca-")
        self._files += 1
        path = Path(self._folder.name, f"{self._files}")
        with path.open("wb") as file:
            pickle.dump(common, file, pickle.HIGHEST_PROTOCOL)
        self._shared.append((common, str(path)))
        return str(path)

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._messages, self._held = self._context.Queue(), self._context.Pipe(duplex=False)
            shared = self._unwanted, self._begins, self._messages, self._held[0]
            self._pool = ProcessPoolExecutor(self._count, self._context, _begin_worker, shared)
        return self._pool

    def _shut(self, *, broken: bool) -> None:
        """End the processes; of a broken pool at once: one that was killed may hold the lock that
        the others wait for."""
        if self._pool is None or self._held is None:
            return
        if broken:
            self._held[1].close()
        self._pool.shutdown()
        for end in self._held:
            end.close()
        self._pool = self._held = None

    def _pass_on(self, tell: Tell) -> None:
        """Tell what processes have sent in this run."""
        assert self._messages is not None
        while True:
            try:
                run, index, progress = self._messages.get_nowait()
            except queue.Empty:
                return
            if run == self._runs:
                tell(index, progress)


#: What a worker process was started with.
_shared: dict[str, Any] = {}


def _begin_worker(
    unwanted: Any, begins: Any, messages: Queue[tuple[int, int, Progress]], held: Connection
) -> None:
    begin_child(held)
    messages.cancel_join_thread()  # reports that nobody reads any more must not keep it from ending
    _shared.update(unwanted=unwanted, begins=begins, messages=messages)


def _work(
    name: tuple[int, int], job: Job[T], options: SolveOptions, place: str | None
) -> tuple[T] | None:
    """The result of a job; None if it was not to begin any more."""
    if _shared["begins"].value != name[0]:
        return None
    last, own = 0.0, job if place is None else Sharing(job, _common_in(place))

    def tell(progress: Progress) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= POLL:
            last = now
            _shared["messages"].put((*name, progress))

    return (own(replace(options, stop=lambda: bool(_shared["unwanted"].value)), tell),)


@lru_cache(KEPT)
def _common_in(place: str) -> object:
    """Data that jobs share."""
    with Path(place).open("rb") as file:
        return pickle.load(file)


def begin_child(*held: Connection) -> None:
    """Prepare this process, started by `multiprocessing`: deaf to signals, and gone when its parent
    is or lets go of a pipe."""
    # signals reach the whole process group; the parent decides and tells the others
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    end_with_parent(*held)


def end_with_parent(*held: Connection) -> None:
    """Let this process, which would wait for ever, end with its parent or when a pipe is closed."""
    threading.Thread(target=_await_parent, args=held, daemon=True).start()


def _await_parent(*held: Connection) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        await_any([parent.sentinel, *held])
        os._exit(1)
