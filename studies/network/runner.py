"""Run many problems: each result kept as it is found, none solved twice, no failure stopping the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.solution import Solution
from ithaca.solver.engines import Method
from ithaca.solver.executor import Executor, KilledError, LostError, open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import not_solved, solve_design
from ithaca.solver.progress import Progress
from ithaca.studies.network.result import Failure
from ithaca.studies.network.store import ProblemStore
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import escaped

#: Longest reason of a failure (characters).
MAX_REASON = 300


@dataclass(frozen=True)
class Job:
    """One problem to solve.

    Attributes
    ----------
    place : str
        What it is, for people: layer and design.
    problem : Problem
        The problem.
    start : Configuration or None
        A configuration to start from.
    """

    place: str
    problem: Problem
    start: Configuration | None = None


@dataclass(frozen=True)
class RunState:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Problems finished, and all of them.
    failed : int
        Problems finished without an answer.
    place : str
        What was finished last, or is being solved.
    progress : Progress or None
        Of the search that is under way, where that is known.
    """

    done: int
    total: int
    failed: int
    place: str
    progress: Progress | None = None


@dataclass(frozen=True)
class RunOptions:
    """How to run many problems.

    Attributes
    ----------
    method : Method
        The engine. The exact one is deterministic; what others find may depend on the clock.
    search : SolveOptions
        How far. The time limit is for the whole run: every problem gets an equal share of what is left, at least the share
        it had at the beginning, and none is begun when it is over. ``stop`` ends the run with what it has.
    threads : int
        How many problems to solve at a time; beyond 1 in processes of their own.
    scheduler : str or None
        Address of the scheduler of a Dask cluster to solve on; ``local`` for one on this machine, of ``threads`` workers.
    store : ProblemStore or None
        Keeps results as they are found, and supplies those found before.
    report : callable or None
        Told how far the run is.
    """

    method: Method = Method.EXACT
    search: SolveOptions = field(default_factory=SolveOptions)
    threads: int = 1
    scheduler: str | None = None
    store: ProblemStore | None = None
    report: Callable[[RunState], None] | None = None


class Runner:
    """Runs problems, in several goes if need be; its processes end with the ``with`` block.

    Problems are not started from each other's answers, so the answers do not depend on how many
    are solved at a time, nor on which were known before.

    Parameters
    ----------
    options : RunOptions
        How.

    Raises
    ------
    InputError
        If there is no scheduler at the address given.
    """

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self._budget = Budget(options.search)
        self._runs = 0
        self._executor: Executor | None = None

    def __enter__(self) -> Runner:
        self._executor = open_executor(self.options.threads, self.options.scheduler)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._executor is not None:
            self._executor.close()

    @property
    def stopped(self) -> bool:
        """Whether the run was told to stop."""
        stop = self.options.search.stop
        return stop is not None and stop()

    def run(self, jobs: Sequence[Job]) -> tuple[Solution | Failure, ...]:
        """Solve problems.

        Parameters
        ----------
        jobs : sequence of Job
            Problems and where they belong.

        Returns
        -------
        tuple of Solution or Failure
            In the order of ``jobs``; those not reached before a stop have status *unknown*.
        """
        assert self._executor is not None, "to be used in a with block"
        width, store = self._executor.width, self.options.store
        least = self._least(-(-len(jobs) // width))
        outcomes: dict[int, Solution | Failure] = {}
        left: list[tuple[int, Job]] = []
        for index, job in enumerate(jobs):
            kept, start = self._kept(job, least)
            if kept is None:
                left.append((index, replace(job, start=start or job.start)))
            else:
                outcomes[index] = kept
            self._tell(len(outcomes), len(jobs), 0, job.place)

        def share(unfinished: int) -> SolveOptions | None:
            if self._budget.over and not self.stopped:
                return None
            options = self._budget.share(max(-(-unfinished // width), 1))
            if options.time_limit is None or least is None:
                return options
            return replace(options, time_limit=max(options.time_limit, least))

        def tell(number: int, progress: Progress) -> None:
            self._tell(len(outcomes), len(jobs), _failures(outcomes), left[number][1].place, progress)

        tasks = [partial(solve_design, job.problem, start=job.start, method=self.options.method) for _, job in left]
        for number, outcome in self._executor.run(tasks, share, tell):
            index, job = left[number]
            outcomes[index] = found = failure(job.place, outcome) if isinstance(outcome, Exception) else outcome
            del outcome  # an error holds all that its search held, which the next may need
            # a search that was stopped has not gone as far as the options say
            if isinstance(found, Solution) and store is not None and (found.settled or not self.stopped):
                store.save([job.problem], found, replace(self.options.search, time_limit=least))
            self._tell(len(outcomes), len(jobs), _failures(outcomes), job.place)
        return tuple(outcomes.get(index) or not_solved(job.problem) for index, job in enumerate(jobs))

    def _least(self, rounds: int) -> float | None:
        """The least time of each of so many problems, solved one after the other."""
        limit = self.options.search.time_limit
        if limit is None:
            return None
        # at first exactly the same share in every run, so that what was kept by one serves the next
        left = limit if not self._runs else max(limit - self._budget.spent, 0.0)
        self._runs += 1
        return left / max(rounds, 1)

    def _kept(self, job: Job, time_limit: float | None) -> tuple[Solution | None, Configuration | None]:
        """A result of the store that serves, or else a configuration to start from."""
        kept = None if self.options.store is None else self.options.store.load([job.problem])
        if kept is None:
            return None, None
        options = replace(self.options.search, time_limit=time_limit)
        # an engine that ended by itself, without a proof, would do so again
        if kept.serves(options) or kept.time_limit == time_limit:
            return kept.answer, None
        return None, kept.answer.configuration

    def _tell(self, done: int, total: int, failed: int, place: str, progress: Progress | None = None) -> None:
        if self.options.report is not None:
            self.options.report(RunState(done, total, failed, place, progress))


def run_problems(jobs: Sequence[Job], options: RunOptions) -> tuple[Solution | Failure, ...]:
    """Solve problems in one go; see `Runner`."""
    with Runner(options) as runner:
        return runner.run(jobs)


def failure(place: str, error: Exception) -> Failure:
    """What went wrong with a problem, so that others can go on."""
    if isinstance(error, InputError | KilledError | LostError):
        reason = str(error)
    elif isinstance(error, MemoryError):
        reason = "out of memory"
    else:
        reason = f"{type(error).__name__}: {error}"
    line = escaped(" ".join(reason.split()))
    short = line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"
    return Failure(place, short, refused=isinstance(error, InputError))


def _failures(outcomes: dict[int, Solution | Failure]) -> int:
    return sum(isinstance(outcome, Failure) for outcome in outcomes.values())
