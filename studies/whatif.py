"""What-if studies: the proven best over a grid of problems.

Every point of the grid is a set of problems, one per design. Points are solved one after the
other; what is best at a neighbour is the start of the next. With a results folder an
interrupted study goes on where it ended, and none of its points is solved twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import OWN, Status
from ithaca.solver.engines import Method
from ithaca.solver.executor import Executor
from ithaca.solver.executors import open_executor
from ithaca.solver.infeasibility import why_infeasible
from ithaca.solver.options import RUNNING, Budget, SolveOptions
from ithaca.solver.portfolio import not_solved, solve_designs
from ithaca.solver.progress import Progress
from ithaca.solver.runs import Run, as_it_runs, basis, not_run
from ithaca.solver.solution import Solution
from ithaca.studies.best import best_start, solve_best
from ithaca.studies.grid import Cell, Index, StudyAxis, check_grid, indices, neighbours, visits
from ithaca.studies.marginal import Marginal, marginal_values, raisable_limits
from ithaca.studies.points import GridAnswer
from ithaca.studies.runs import HANGS, runs_of
from ithaca.studies.store import Store

#: Builds the problems (one per design) of a point from its values by axis name.
Build = Callable[[Mapping[str, Any]], Sequence[Problem]]

#: Receives what is being solved, how many points are done, and the progress of the search.
StudyReport = Callable[[str, int, Progress], None]


@dataclass(frozen=True)
class StudyPoint:
    """One point of a study."""

    problems: tuple[Problem, ...]
    """The problems: one per design."""
    answer: Solution
    """The best over all designs."""
    marginals: tuple[Marginal[Solution], ...] = ()
    """The marginal value of each limit there, if asked for."""
    runs: tuple[Run, ...] = ()
    """The run, word by word, of the answer, where hardware takes the cycles that simulation
    counts."""

    def __repr__(self) -> str:
        return f"<StudyPoint {self.answer!r}>"

    @property
    def basis(self) -> str:
        """Words after the status of the proof: by what it is proven."""
        own, proof = self.answer, self.answer.certificate
        outrun = self.runs and own.value is not None and proof.lower_bound != own.value
        return not_run([own.problem.design]) if outrun else basis(own, (), self.runs)


@dataclass(frozen=True, repr=False, eq=False)
class Study(GridAnswer):
    """The answer of `ithaca.whatif`: the best configuration at every point of a grid.

    Examples
    --------
    >>> w = ithaca.whatif("mm", vary="dsp=5,40", i=4, j=4, k=4, dataflow="i,j")
    >>> [point.answer.value for point in w.points.values()]
    [Fraction(89, 1), Fraction(58, 1)]
    """

    axes: tuple[StudyAxis, ...]
    """The quantities that were varied."""
    points: Mapping[Index, StudyPoint]
    """Every point of the grid, in its order; those not reached have status *unknown*."""
    complete: bool
    """Whether every point was reached."""
    percent: Fraction | None = None
    """By how much limits were raised for marginal values (%)."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """The fixed settings, for people: platform, objective and so on."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def cells(self) -> Mapping[Index, Cell]:
        return {
            index: Cell(p.answer.value, p.answer.certificate, p.answer.design, p.basis)
            for index, p in self.points.items()
        }

    @property
    def title(self) -> str:
        return self.provenance["title"]

    @property
    def failure(self) -> str:
        points = list(self.points.values())
        if any(point.answer.value is not None for point in points):
            return ""
        if all(point.answer.certificate.status is Status.INFEASIBLE for point in points):
            more = f" (and {len(points) - 1} more points)" if len(points) > 1 else ""
            return (
                f"infeasible{points[0].basis}: "
                f"{why_infeasible(points[0].problems, points[0].answer.shortfalls)}{more}"
            )
        if narrowed := next(
            (point.answer.certificate for point in points if point.answer.certificate.empty), None
        ):
            return narrowed.failure
        return "nothing found before the search ended; allow more time with --time-limit"

    @property
    def objective(self) -> str:
        texts = {point.problems[0].objective.text for point in self.points.values()}
        return texts.pop() if len(texts) == 1 else "objective"

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements, one a line: the best points along the axes, the worth of limits, and the
        reasons of infeasible points."""
        return tuple(self.made("statements"))


def run_study(
    axes: Sequence[StudyAxis],
    build: Build,
    options: SolveOptions | None = None,
    *,
    method: str = Method.EXACT,
    threads: int = 1,
    store: Store | None = None,
    percent: Fraction | None = None,
    report: StudyReport | None = None,
    provenance: Mapping[str, str] | None = None,
) -> Study:
    """Solve every point of a grid, the product of axes.

    All problems are built, and so checked, before the first is solved. Every point, and every
    raised limit, gets an equal share of the time that is left, at least the share it had at the
    beginning. Infeasible points keep their shortfalls.

    Parameters
    ----------
    axes : Sequence of StudyAxis
        The axes; none: a single point.
    build : Build
        States the problems of a point, one per design, from its values by axis name.
    options : SolveOptions, optional
        The time limit is for the whole study; ``stop`` ends it with what it has.
    method : str, optional
        The engine.
    threads : int, optional
        Designs solved at a time; beyond 1 in processes of their own.
    store : Store, optional
        Keeps answers as they are found, and supplies those found before.
    percent : Fraction, optional
        By how much limits are raised for their marginal values (%); None: none are computed.
    report : StudyReport, optional
        Told the point that is being solved, the number of points done, and the progress.
    provenance : Mapping of str to str, optional
        Recorded with the study.

    Returns
    -------
    Study
        Every point with its answer and certificate.
    """
    check_grid(axes)
    problems_at = {
        index: tuple(
            build({axis.name: axis.values[i] for axis, i in zip(axes, index, strict=True)})
        )
        for index in indices(axes)
    }
    for problems in problems_at.values():
        problems[0].symbolic()  # refuses a metric that the platform does not know
    searches = sum(
        1 if percent is None else 1 + len(raisable_limits(p)) for p in problems_at.values()
    )
    done: dict[Index, StudyPoint] = {}
    budget = Budget(options or SolveOptions())
    are_run = any(profile_of(p[0].design).runs for p in problems_at.values())
    search = budget.options.keeping(RUNNING if are_run else 0)
    with open_executor(threads) as executor:
        run = _Run(search, searches, method, executor, store, report)
        for index in visits(axes):
            if run.stopped:
                break
            problems = problems_at[index]
            near = [done[n].answer for n in neighbours(axes, index)]
            run.place = " ".join(
                f"{axis.name}={axis.labels[i]}" for axis, i in zip(axes, index, strict=True)
            )
            answer = run.solve(problems, _starts(problems, near))
            marginals: tuple[Marginal[Solution], ...] = ()
            if percent is not None and answer.configured is None:
                run.left -= len(raisable_limits(problems))
            elif percent is not None and not run.stopped:
                marginals = marginal_values(problems, answer, percent, solve=run.solve)
            done[index] = StudyPoint(problems, answer, marginals)
            run.done += 1
    points = {
        index: done.get(index, StudyPoint(problems, not_solved(problems[0])))
        for index, problems in problems_at.items()
    }
    points = {index: _as_it_runs(point, method, budget) for index, point in points.items()}
    return Study(tuple(axes), points, not run.stopped, percent, provenance or {})


def _as_it_runs(point: StudyPoint, method: str, budget: Budget) -> StudyPoint:
    """A point with the run of its answer, where hardware takes the cycles that simulation counts;
    where these are others than by the closed form, the answer is of the design that is best as it
    runs. Marginal values are of the best by the closed form, and so is an answer that has any."""
    answer = point.answer
    if answer.configured is None or not answer.profile.runs:
        return point
    (own,) = runs = tuple(runs_of(answer, (), budget))
    unknown = own.cycles is None and own.reason != HANGS
    if own.value != answer.value and not (unknown or point.marginals):
        each = solve_designs(point.problems, budget.share(), method=method)
        designs = [answer if s.design == answer.design else s for s in each]
        runs = tuple(runs_of(answer, designs, budget))
        best = as_it_runs(designs, runs)
        if best is not None and best is not answer and best.value is not None:
            proof = replace(answer.certificate, ties_broken=None)
            if best.value != answer.value:
                proof = proof.of_other(best.value)
            runs = tuple(run for run in runs if run.design == best.design)
            return replace(point, answer=replace(best, certificate=proof), runs=runs)
        runs = (own,)
    return replace(point, runs=runs)


@dataclass
class _Run:
    """Solves problems, by looking them up where it can."""

    options: SolveOptions
    left: int
    method: str
    executor: Executor
    store: Store | None
    report: StudyReport | None
    place: str = ""
    done: int = 0

    def __post_init__(self) -> None:
        self.budget = Budget(self.options)
        self.first_share = self.budget.share(self.left).time_limit

    @property
    def stopped(self) -> bool:
        return self.budget.options.stopped

    def solve(
        self, problems: Sequence[Problem], starts: Sequence[Configuration | None]
    ) -> Solution:
        options = self._share()
        stored = None if self.store is None else self.store.load(problems)
        if stored is not None:
            if stored.serves(replace(options, time_limit=self.first_share), self.method):
                return stored.answer
            starts = [
                best_start(
                    p, [c for c in (start, *_configurations(p, [stored.answer])) if c is not None]
                )
                for p, start in zip(problems, starts, strict=True)
            ]
        answer = solve_best(
            problems,
            options,
            method=self.method,
            executor=self.executor,
            starts=starts,
            report=self._tell,
        )
        # a search that was stopped has not gone as far as the options say
        if self.store is not None and (answer.final or not self.stopped):
            self.store.save(problems, answer, options, self.method)
        return answer

    def _share(self) -> SolveOptions:
        """The options of the next search."""
        options = self.budget.share(max(self.left, 1))
        self.left -= 1
        if options.time_limit is None or self.first_share is None:
            return options
        return replace(options, time_limit=max(options.time_limit, self.first_share))

    def _tell(self, design: str, progress: Progress) -> None:
        if self.report is not None:
            self.report(f"{self.place} {design}".strip(), self.done, progress)


def _starts(problems: Sequence[Problem], near: Sequence[Solution]) -> list[Configuration | None]:
    """A start for every design: the best of the neighbours' configurations that fits its
    problem."""
    return [best_start(p, _configurations(p, near)) for p in problems]


def _configurations(problem: Problem, answers: Sequence[Solution]) -> list[Configuration]:
    """The configurations of answers that are of a problem's design."""
    return [
        a.configuration
        for a in answers
        if a.design == problem.design.name and a.configuration is not None
    ]
