"""Executors that run many solves: in this process, in several of this machine
(`ithaca.solver.processes`), or on a cluster (`ithaca.solver.cluster`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Generic, TypeVar

from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress, Report

T = TypeVar("T")

#: Something to solve: a function of a module with its arguments (`functools.partial`), so that
#: another process can find it. It is called with the options of the search and with whom to tell of
#: its progress.
Job = Callable[[SolveOptions, Report], T]


@dataclass(frozen=True)
class Sharing(Generic[T]):
    """A job whose first argument is shared with many others: each worker is sent it once."""

    job: Callable[..., T]
    """The job, a function of what is shared, options and a report."""
    common: object
    """The shared data: the same object."""

    def __call__(self, options: SolveOptions, report: Report) -> T:
        """Do the job here."""
        return self.job(self.common, options, report)


def taken_apart(job: Job[T]) -> tuple[Callable[..., T], object | None]:
    """A job, and what it shares with others, if it does."""
    return (job.job, job.common) if isinstance(job, Sharing) else (job, None)


#: Numbers of jobs, as they finish, with what came of each.
Outcomes = Iterator[tuple[int, T | Exception]]

#: The options of the next job, given how many are not finished; None if no more are to be begun, as
#: time is up.
Share = Callable[[int], SolveOptions | None]

#: Receives the number of a job and the progress of its search.
Tell = Callable[[int, Progress], None]


class KilledError(MemoryError):
    """A job ended its process even when no other one was under way."""

    def __init__(self) -> None:
        super().__init__("its process was killed each time; out of memory?")


class LostError(Exception):
    """A job has no outcome because what was to run it is gone."""


class Executor(ABC):
    """Runs independent jobs; what it holds is given back at the end of the ``with`` block."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The number of jobs that run at a time."""

    def run(self, jobs: Sequence[Job[T]], share: Share, tell: Tell | None = None) -> Outcomes[T]:
        """Run jobs in their order.

        A process that dies may take others with it. The jobs that were under way are then suspect:
        they are run one by one when all others are done, so that only the one to blame fails.

        Parameters
        ----------
        jobs : Sequence of Job
            The jobs.
        share : Share
            Gives the options of each job when it is handed over, or None: no more are to be begun.
            When the ``stop`` of the options says so, none are either, and those under way end with
            what they have.
        tell : Tell, optional
            Told of progress, where that is known.

        Yields
        ------
        tuple of int and object
            The number of each job and its result, or the exception that it ended with, as they
            finish; those not begun are missing.
        """
        heard = tell or _ignore
        suspects: list[int] = []
        for index, outcome in self._run(jobs, range(len(jobs)), share, heard):
            if isinstance(outcome, KilledError):
                suspects.append(index)
            else:
                yield index, outcome
        for index in suspects:
            yield from self._run(jobs, [index], share, heard)

    def results(
        self, jobs: Sequence[Job[T]], share: Share, tell: Tell | None = None
    ) -> Iterator[tuple[int, T]]:
        """The outcomes of `run`, where an error of one job is one of all: it is raised.

        Parameters
        ----------
        jobs : sequence of Job[T]
            What is done, each with options and a report.
        share : Share
            From the number of unfinished jobs, how far one may search; None if it is not begun
            any more.
        tell : Tell, optional
            Told the number of a job and its progress.

        Returns
        -------
        iterator of tuple of int, T
            The number of each job and its result, as they end.
        """
        for index, outcome in self.run(jobs, share, tell):
            if isinstance(outcome, Exception):
                raise outcome
            yield index, outcome

    @abstractmethod
    def _run(
        self, jobs: Sequence[Job[T]], chosen: Sequence[int], share: Share, tell: Tell
    ) -> Outcomes[T]:
        """Run some of the jobs; `KilledError` where a process died."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds; jobs under way end with what they have."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def attempt(job: Job[T], options: SolveOptions, tell: Report) -> T | Exception:
    """The result of a job, or the exception that it ended with.

    Parameters
    ----------
    job : Job[T]
        What is done.
    options : SolveOptions
        How far to search.
    tell : Report
        Told the progress.
    """
    try:
        return job(options, tell)
    except Exception as error:
        return error


class InProcess(Executor):
    """Runs one job after the other, in this process."""

    width = 1

    def _run(
        self, jobs: Sequence[Job[T]], chosen: Sequence[int], share: Share, tell: Tell
    ) -> Outcomes[T]:
        for position, index in enumerate(chosen):
            options = share(len(chosen) - position)
            if options is None or options.stopped:
                return
            yield index, attempt(jobs[index], options, partial(tell, index))

    def close(self) -> None:
        """Give back nothing: there is none to release."""


def _ignore(index: int, progress: Progress) -> None:
    """Ignore progress, for those who do not care."""
