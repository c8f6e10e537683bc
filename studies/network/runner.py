"""Run many problems: each result kept as it is found, none solved twice, no failure stopping the
rest."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.engines import Method
from ithaca.solver.executor import KilledError, LostError
from ithaca.solver.executors import open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import not_solved, solve_together
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution
from ithaca.studies.network.envelope import Envelope
from ithaca.studies.network.result import Failure
from ithaca.studies.store import Shared, Store

#: Longest reason of a failure (characters).
MAX_REASON = 300


@dataclass(frozen=True)
class Job:
    """One problem to solve."""

    place: str
    """The name for people: layer and design."""
    problem: Problem
    """The problem."""
    rivals: Hashable = None
    """The key of jobs of which the best comes first; None: it has no rivals."""
    runs: int = 1
    """How often what is solved runs: time goes to what may improve most in all."""


@dataclass(frozen=True)
class NetworkProgress:
    """The progress of a run."""

    done: int
    """Problems finished, and all of them."""
    total: int
    failed: int
    """Problems finished without an answer."""
    place: str
    """The problem that was finished last, or is being solved."""
    progress: Progress | None = None
    """The progress of the search that is under way, where that is known."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run of many problems."""

    method: str = Method.EXACT
    """The engine. The exact one is deterministic; what others find may depend on the clock."""
    search: SolveOptions = field(default_factory=SolveOptions)
    """How far. The time limit is for the whole run, and none is begun when it is over: first a
    bound and an incumbent for every problem, then what may improve on its rivals
    (`ithaca.solver.schedule`). ``stop`` ends the run with what it has."""
    threads: int = 1
    """How many problems to solve at a time; beyond 1 in processes of their own."""
    scheduler: str | None = None
    """Address of the scheduler of a Dask cluster to solve on; ``local`` for one on this machine, of
    ``threads`` workers."""
    best_only: bool = False
    """Whether, of rivals, only the best is to be proven: of the others that they do not beat it."""
    store: Store | Shared | None = None
    """Keeps results as they are found, and supplies those found before."""
    envelope: Envelope | None = None
    """The knowledge of these problems for other weights of two amounts."""
    report: Callable[[NetworkProgress], None] | None = None
    """Told how far the run is."""


def conditions(options: RunOptions) -> list[str | int]:
    """Engine, gap and seed, which tell apart the results that are kept of one problem.

    Engines may find different ones of several equally good configurations, and a resumed run shall
    give what it would have given in one go. The time limit tells none apart: what is proven stays
    proven, and what is not is searched again only with more time.
    """
    return [options.method, repr(options.search.gap), options.search.seed]


def run_problems(jobs: Sequence[Job], options: RunOptions) -> tuple[Solution | Failure, ...]:
    """Solve problems; those not reached before a stop have status *unknown*.

    Problems are not started from each other's answers, so the answers do not depend on how many
    are solved at a time, nor on which were known before.

    Raises `InputError` if there is no scheduler at the address given.
    """
    search, store = options.search, options.store
    outcomes: dict[int, Solution | Failure] = {}
    done, failed = set[int](), set[int]()
    left: list[int] = []
    starts: list[Configuration | None] = [None] * len(jobs)

    def tell(place: str, progress: Progress | None = None) -> None:
        if options.report is not None:
            options.report(NetworkProgress(len(done), len(jobs), len(failed), place, progress))

    def keep(index: int, outcome: Solution | Failure) -> None:
        outcomes[index] = outcome
        for numbers, belongs in (
            (failed, isinstance(outcome, Failure)),
            (done, isinstance(outcome, Failure) or outcome.final),
        ):
            (numbers.add if belongs else numbers.discard)(index)

    with open_executor(options.threads, options.scheduler) as executor:
        budget, rounds = Budget(search), max(-(-len(jobs) // executor.width), 1)
        # exactly the same in every run, so that what was kept by one serves the next
        least = None if search.time_limit is None else search.time_limit / rounds
        granted = replace(search, time_limit=least)
        for index, job in enumerate(jobs):
            known = None
            if options.envelope is not None:
                known = options.envelope.answer(job.place, job.problem)
            if known is not None and known.settled:
                keep(index, known)
                continue
            stored = None if store is None else store.load([job.problem])
            # an engine that ended by itself, without a proof, would do so again
            if stored is not None and (stored.serves(granted) or stored.time_limit == least):
                keep(index, stored.answer)
            else:
                left.append(index)
            start = known if stored is None else stored.answer
            starts[index] = None if start is None else start.configuration
            tell(job.place)
        for index in _unsupported(jobs, outcomes, options):
            done.discard(index)
            del outcomes[index]
            left.append(index)
        left.sort()
        together = solve_together(
            [jobs[index].problem for index in left],
            budget,
            executor,
            method=options.method,
            starts=[starts[index] for index in left],
            rivals=[
                ("alone", index) if jobs[index].rivals is None else jobs[index].rivals
                for index in left
            ],
            weights=[jobs[index].runs for index in left],
            tell=lambda number, progress: tell(jobs[left[number]].place, progress),
            best_only=options.best_only,
        )
        for number, outcome in together:
            index, job = left[number], jobs[left[number]]
            result = failure(job.place, outcome) if isinstance(outcome, Exception) else outcome
            keep(index, result)
            del outcome  # an error holds all that its search held, which the next may need
            if isinstance(result, Solution) and store is not None and result.final:
                store.save([job.problem], result, granted)
            tell(job.place)
        if store is not None and not search.stopped:  # they have gone as far as they were asked to
            for index in left:
                kept = outcomes.get(index)
                if isinstance(kept, Solution) and not kept.final:
                    store.save([jobs[index].problem], kept, granted)
    answers = (outcomes.get(index) or not_solved(job.problem) for index, job in enumerate(jobs))
    if options.envelope is None:
        return tuple(answers)
    return tuple(map(options.envelope.keep, (job.place for job in jobs), answers))


def _unsupported(
    jobs: Sequence[Job], known: Mapping[int, Solution | Failure], options: RunOptions
) -> list[int]:
    """Known answers to be searched for again: those that only do not beat others, where these are
    not known or all are to be proven, and with them their rivals."""
    rivals: dict[Hashable, list[int]] = {}
    for index, job in enumerate(jobs):
        rivals.setdefault(("alone", index) if job.rivals is None else job.rivals, []).append(index)
    again = []
    for numbers in rivals.values():
        own = [s for n in numbers if isinstance(s := known.get(n), Solution)]
        lost = [s for s in own if s.certificate.beaten]
        best = min((s.value for s in own if s.settled and s.value is not None), default=None)
        bounds = [s.certificate.lower_bound for s in lost]
        if lost and not (
            options.best_only
            and len(own) == len(numbers)
            and best is not None
            and all(bound is not None and bound >= best for bound in bounds)
        ):
            again += [n for n in numbers if n in known]
    return again


def failure(place: str, error: Exception) -> Failure:
    """A record of the error of a problem, so that others can go on."""
    if isinstance(error, InputError | KilledError | LostError):
        reason = str(error)
    elif isinstance(error, MemoryError):
        reason = "out of memory"
    else:
        reason = f"{type(error).__name__}: {error}"
    line = escaped(" ".join(reason.split()))
    short = line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"
    return Failure(place, short, refused=isinstance(error, InputError))
