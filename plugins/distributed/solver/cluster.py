"""Run jobs on a Dask cluster: one on this machine, or one whose scheduler is given.

Every job is a task of its own, a few kilobytes long. Dask gives the tasks of a worker that dies to
others; one that was among them too often counts as killed.
"""

from __future__ import annotations

import logging
import pickle
import queue
import re
import secrets
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.files.extras import check_installed
from ithaca.files.messages import quoted
from ithaca.solver.executor import (
    Executor,
    Job,
    KilledError,
    LostError,
    Outcomes,
    Share,
    Sharing,
    T,
    Tell,
    attempt,
    taken_apart,
)
from ithaca.solver.options import SolveOptions
from ithaca.solver.processes import AHEAD, KEPT, POLL, without_script
from ithaca.solver.progress import Progress

if TYPE_CHECKING:
    from distributed import Client, Future

#: Seconds between looks of a running search at whether it is still wanted, and of the size of the
#: cluster.
LOOK = 2.0

#: Seconds to wait for a scheduler, and for its first worker.
PATIENCE = 10.0

#: The setting of Dask from what size on it warns of what a task is sent, and bytes beside the data.
WARNED_ABOUT, UNNOTICED = "distributed.admin.large-graph-warning-threshold", 1 << 24

#: What to give as address for a cluster on this machine.
LOCAL = "local"

#: What the address of a scheduler looks like.
ADDRESS = re.compile(r"([a-z]+://)?[^\s/]+:[0-9]{1,5}")

#: Why jobs have no outcome.
GONE = "the connection to the scheduler was lost"


class Cluster(Executor):
    """Runs jobs on Dask; their progress is not told.

    The scheduler is an address such as ``tcp://host:8786``, or `LOCAL`: then a cluster of so many
    processes is started with the first job. Refused if Dask is not installed, no scheduler answers,
    or it has no workers.
    """

    def __init__(self, scheduler: str, threads: int) -> None:
        check_installed("distributed")
        self._threads = threads
        self._local: Any = None
        self._client: Client | None = None
        self._looked = -LOOK
        self._shared: list[tuple[object, Future[Any]]] = []  #: The last one last
        if scheduler != LOCAL:
            self._client = _connect(scheduler)
            self._count_threads()

    @property
    def width(self) -> int:
        """Threads of all workers."""
        return max(self._threads, 1)

    def close(self) -> None:
        """Leave the cluster; one on this machine ends."""
        if self._client is not None:
            self._client.close()
        if self._local is not None:
            self._local.close()

    def _run(
        self, jobs: Sequence[Job[T]], chosen: Sequence[int], share: Share, tell: Tell
    ) -> Outcomes[T]:
        if not chosen:
            return
        from distributed import Event

        client = self._start()
        wanted = deque(chosen)
        under_way: dict[str, tuple[int, Future[Any]]] = {}
        finished: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        name = f"ithaca-{secrets.token_hex(8)}"
        unwanted = Event(name, client)
        try:
            while wanted or under_way:
                options = share(len(wanted) + len(under_way))
                if options is None:
                    wanted.clear()
                elif options.stopped:
                    return
                if client.status in ("closing", "closed"):
                    left = [*(index for index, _ in under_way.values()), *wanted]
                    yield from ((index, LostError(GONE)) for index in left)
                    return
                self._count_threads()
                while wanted and len(under_way) < AHEAD * self.width and client.status == "running":
                    if (options := share(len(wanted) + len(under_way))) is None:
                        break
                    index = wanted.popleft()
                    job, common = taken_apart(jobs[index])
                    future = client.submit(
                        *(work, job, options.elsewhere, name, self._handed(common)),
                        key=f"{name}-{index}",
                        pure=False,
                    )
                    under_way[str(future.key)] = index, future
                    future.add_done_callback(finished.put)
                try:
                    future = finished.get(timeout=POLL)
                except queue.Empty:
                    continue
                index, _ = under_way.pop(str(future.key))
                outcome = _outcome(future)
                if outcome is None:  # the connection was lost; once it is back, again
                    wanted.appendleft(index)
                else:
                    yield index, outcome
        finally:
            if under_way and client.status == "running":
                unwanted.set()
                client.cancel([future for _, future in under_way.values()], force=True)

    def _handed(self, common: object | None) -> Future[Any] | None:
        """Data that jobs share, on the cluster: workers hand them on to each other, and make them
        anew where the only one that had them is gone."""
        if common is None:
            return None
        known = next((own for own in self._shared if own[0] is common), None)
        if known is None:
            import dask

            data = pickle.dumps(common, pickle.HIGHEST_PROTOCOL)
            with dask.config.set({WARNED_ABOUT: f"{2 * len(data) + UNNOTICED} B"}):
                known = common, self._start().submit(pickle.loads, data, pure=False)
        self._shared = [*(own for own in self._shared if own is not known), known][-KEPT:]
        return known[1]

    def _start(self) -> Client:
        if self._client is None:
            from distributed import Client, LocalCluster

            with without_script():
                self._local = LocalCluster(
                    n_workers=self._threads,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                    preload=[__name__],
                )
            self._client = Client(self._local, set_as_default=False)
        return self._client

    def _count_threads(self) -> None:
        """Look now and then, as workers may join and leave."""
        now = time.monotonic()
        if (
            self._client is not None
            and self._client.status == "running"
            and now - self._looked > LOOK
        ):
            self._looked = now
            self._threads = sum(self._client.nthreads().values())


def dask_setup(worker: object) -> None:
    """Ignore Ctrl-C in a worker process on this machine: it reaches all processes of a terminal.

    This process decides, and tells the workers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def work(
    job: Callable[..., T], options: SolveOptions, unwanted: str, common: object | None = None
) -> T | Exception:
    """Attempt a job in a worker, and end the search when it is not wanted any more.

    Parameters
    ----------
    job : Callable
        What is done with options and a report.
    options : SolveOptions
        How far to search; the worker's own stop takes the place of theirs.
    unwanted : str
        Name of the cluster's variable that is set once the job is not wanted.
    common : object, optional
        What the job shares with others, its first argument.

    Returns
    -------
    T or Exception
        The result, or the error that it ended with.
    """
    own = job if common is None else Sharing(job, common)
    return attempt(own, replace(options, stop=_is_set(unwanted)), _untold)


def _untold(progress: Progress) -> None:
    """The progress of a search on a worker goes nowhere."""


def _is_set(event: str) -> Callable[[], bool]:
    """Whether an event of the cluster is set; asked seldom, since most searches are over before it
    could be."""
    looked, is_set = time.monotonic(), False

    def ask() -> bool:
        nonlocal looked, is_set
        if not is_set and time.monotonic() - looked > LOOK:
            from distributed import Event

            is_set, looked = bool(Event(event).is_set()), time.monotonic()
        return is_set

    return ask


def _outcome(future: Future[Any]) -> Any:
    """The result of a future; None where the connection was lost."""
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()
    except CancelledError:
        return None
    except KilledWorker:
        return KilledError()
    except Exception as error:  # such as a worker that does not have Ithaca
        return error


def _connect(scheduler: str) -> Client:
    from distributed import Client

    if not ADDRESS.fullmatch(scheduler):
        raise InputError(
            f"--scheduler is {quoted(scheduler)}; allowed: {LOCAL}, or an "
            "address such as tcp://host:8786"
        )
    for name in (
        "distributed.client",
        "distributed.core",
        "distributed.comm",
    ):  # what they report is told in our own words
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--scheduler {quoted(scheduler)}: {' '.join(str(error).split())}; allowed: "
            "the address of a running Dask scheduler"
        ) from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        raise InputError(
            f"--scheduler {quoted(scheduler)} has no workers; allowed: "
            "a scheduler with at least one"
        ) from None
    return client
