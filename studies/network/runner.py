"""Run many problems: each result kept as it is found, none solved twice, no failure stopping the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.solution import Solution
from ithaca.solver.engines import Method
from ithaca.solver.executor import KilledError, LostError, open_executor
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


def run_problems(jobs: Sequence[Job], options: RunOptions) -> tuple[Solution | Failure, ...]:
    """Solve problems.

    They are not started from each other's answers, so the answers do not depend on how many are solved at a time, nor on
    which were known before.

    Parameters
    ----------
    jobs : sequence of Job
        Problems and where they belong.
    options : RunOptions
        How.

    Returns
    -------
    tuple of Solution or Failure
        In the order of ``jobs``; those not reached before a stop, or before time was up, have status *unknown*.

    Raises
    ------
    InputError
        If there is no scheduler at the address given.
    """
    search, store = options.search, options.store
    outcomes: dict[int, Solution | Failure] = {}
    left: list[tuple[int, Job]] = []

    def stopped() -> bool:
        return search.stop is not None and search.stop()

    def show(place: str, progress: Progress | None = None) -> None:
        if options.report is not None:
            failed = sum(isinstance(outcome, Failure) for outcome in outcomes.values())
            options.report(RunState(len(outcomes), len(jobs), failed, place, progress))

    with open_executor(options.threads, options.scheduler) as executor:
        budget, rounds = Budget(search), max(-(-len(jobs) // executor.width), 1)
        # exactly the same share in every run, so that what was kept by one serves the next
        least = None if search.time_limit is None else search.time_limit / rounds
        for index, job in enumerate(jobs):
            answer, start = _kept(job, options, least)
            if answer is None:
                left.append((index, replace(job, start=start or job.start)))
            else:
                outcomes[index] = answer
            show(job.place)

        def share(unfinished: int) -> SolveOptions | None:
            if budget.over and not stopped():
                return None
            given = budget.share(max(-(-unfinished // executor.width), 1))
            if given.time_limit is None or least is None:
                return given
            return replace(given, time_limit=max(given.time_limit, least))

        def tell(number: int, progress: Progress) -> None:
            show(left[number][1].place, progress)

        tasks = [partial(solve_design, job.problem, start=job.start, method=options.method) for _, job in left]
        for number, outcome in executor.run(tasks, share, tell):
            index, job = left[number]
            outcomes[index] = found = failure(job.place, outcome) if isinstance(outcome, Exception) else outcome
            del outcome  # an error holds all that its search held, which the next may need
            # a search that was stopped has not gone as far as the options say
            if isinstance(found, Solution) and store is not None and (found.settled or not stopped()):
                store.save([job.problem], found, replace(search, time_limit=least))
            show(job.place)
    return tuple(outcomes.get(index) or not_solved(job.problem) for index, job in enumerate(jobs))


def _kept(job: Job, options: RunOptions, time_limit: float | None) -> tuple[Solution | None, Configuration | None]:
    """A result of the store that serves, or else a configuration to start from."""
    kept = None if options.store is None else options.store.load([job.problem])
    if kept is None:
        return None, None
    # an engine that ended by itself, without a proof, would do so again
    if kept.serves(replace(options.search, time_limit=time_limit)) or kept.time_limit == time_limit:
        return kept.answer, None
    return None, kept.answer.configuration


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
