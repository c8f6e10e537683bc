"""Run many problems: each result kept as it is found, none solved twice, no failure stopping the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType

from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution
from ithaca.studies.budget import Budget
from ithaca.studies.network.executor import Executor
from ithaca.studies.network.failure import Failure
from ithaca.studies.network.here import Here
from ithaca.studies.network.job import Job
from ithaca.studies.network.processes import Processes
from ithaca.studies.network.store import ProblemStore, as_answer, as_solution


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
        How far. The time limit is for the whole run: every problem gets an equal share of what is left, at
        least the share it had at the beginning. ``stop`` ends the run with what it has.
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
        threads, scheduler = self.options.threads, self.options.scheduler
        if scheduler is not None:
            from ithaca.studies.network.cluster import Cluster

            self._executor = Cluster(scheduler, threads)
        else:
            self._executor = Here() if threads == 1 else Processes(threads)
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

        def share(unfinished: int) -> SolveOptions:
            options = self._budget.share(max(-(-unfinished // width), 1))
            if options.time_limit is None or least is None:
                return options
            return replace(options, time_limit=max(options.time_limit, least))

        def tell(number: int, progress: Progress) -> None:
            self._tell(len(outcomes), len(jobs), _failures(outcomes), left[number][1].place, progress)

        for number, outcome in self._executor.solve([job for _, job in left], self.options.method, share, tell):
            index, job = left[number]
            outcomes[index] = outcome
            if isinstance(outcome, Solution) and store is not None:
                answer = as_answer(outcome)
                # a search that was stopped has not gone as far as the options say
                if answer.settled or not self.stopped:
                    store.save([job.problem], answer, replace(self.options.search, time_limit=least))
            self._tell(len(outcomes), len(jobs), _failures(outcomes), job.place)
        return tuple(outcomes.get(index) or not_solved(job) for index, job in enumerate(jobs))

    def _least(self, rounds: int) -> float | None:
        """The least time of each of so many problems, solved one after the other."""
        limit = self.options.search.time_limit
        if limit is None:
            return None
        # at first exactly the same share in every run, so that what was kept by one serves the next
        left = limit if not self._runs else max(limit - self._budget.spent, 0.0)
        self._runs += 1
        return left / max(rounds, 1)

    def _kept(self, job: Job, time_limit: float | None) -> tuple[Solution | None, Tiling | None]:
        """A result of the store that serves, or else a configuration to start from."""
        kept = None if self.options.store is None else self.options.store.load([job.problem])
        if kept is None:
            return None, None
        options = replace(self.options.search, time_limit=time_limit)
        # an engine that ended by itself, without a proof, would do so again
        if kept.serves(options) or kept.time_limit == time_limit:
            return as_solution(job.problem, kept.answer), None
        return None, None if kept.answer.solution is None else kept.answer.solution.tiling

    def _tell(self, done: int, total: int, failed: int, place: str, progress: Progress | None = None) -> None:
        if self.options.report is not None:
            self.options.report(RunState(done, total, failed, place, progress))


def run_problems(jobs: Sequence[Job], options: RunOptions) -> tuple[Solution | Failure, ...]:
    """Solve problems in one go; see `Runner`."""
    with Runner(options) as runner:
        return runner.run(jobs)


def not_solved(job: Job) -> Solution:
    """The solution of a problem that was not reached."""
    return Solution(job.problem, None, None, Certificate(Status.UNKNOWN, None, None, "none", 0, 0.0), {}, {})


def _failures(outcomes: dict[int, Solution | Failure]) -> int:
    return sum(isinstance(outcome, Failure) for outcome in outcomes.values())
