"""Pareto fronts by the ε-constraint method, every point with its proof.

A configuration is on the front if no configuration of any design is at least as good in every
objective and better in one. The method: take a box of objective space that may hold points of
the front (at first all of it; see `ithaca.studies.region`); minimise the objectives one after
the other within it, each under the proven minima of those before (lexicographic order). The
outcome z is on the front: whatever dominates z would lie in the same box, and at the first
objective in which it is better contradict that objective's minimum. Then z splits the boxes
that contain it, and the next box is taken, until every box is proven empty. For two objectives
that is the usual sweep, "minimise f1, then f2 among the best, then ask for a smaller f2", with
one proof of emptiness at its end.

"Smaller" is exact (`ithaca.studies.scale`), never an arbitrary ε. The first points minimise one
objective each over all of objective space, so that a partial front at least shows the extremes.
Quotients are minimised last within a box, when their denominator often has a single value left.

With a results folder every proof is kept. An interrupted front is then computed again from the
kept proofs, which takes no search, and goes on where it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ithaca.files.clock import StoppedError, ending
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, number
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.monotonicity import falling
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Objective, Problem
from ithaca.solver.certificate import OWN, Status
from ithaca.solver.engines import Method
from ithaca.solver.executors import open_executor
from ithaca.solver.infeasibility import why_infeasible
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.runs import none_by_form, not_run
from ithaca.solver.shortfall import Shortfall
from ithaca.studies.best import all_shortfalls
from ithaca.studies.points import PointAnswer, study_title
from ithaca.studies.prover import Candidate, ProofStep, Prover, UnfinishedError
from ithaca.studies.region import Bound, Region, Vector, split
from ithaca.studies.scale import EquivalentObjective, check_distinct, equivalent_objective
from ithaca.studies.store import Store

#: Most objectives of a front: its points, and the boxes between them, grow with their number's
#: power.
MAX_OBJECTIVES = 5

#: Receives the number of points found, the name of a design and the progress of its search.
FrontReport = Callable[[int, str, Progress], None]


@dataclass(frozen=True)
class FrontPoint:
    """A point of a front."""

    problem: Problem
    """Its design."""
    configuration: Configuration
    """The preferred one of the configurations with the same objectives, as far as time allowed."""
    values: tuple[Fraction, ...]
    """Its objectives, by the Fraction reference."""
    metrics: dict[str, Fraction]
    """All its metrics."""
    proof: tuple[ProofStep, ...]
    """The proven minima that no dominating configuration is compatible with."""

    def __repr__(self) -> str:
        return f"<FrontPoint {self.problem.design.name}: {', '.join(map(number, self.values))}>"

    @classmethod
    def of(
        cls,
        problem: Problem,
        configuration: Configuration,
        objectives: Sequence[Objective],
        proof: Sequence[ProofStep],
    ) -> FrontPoint:
        """Evaluate a configuration by the Fraction reference.

        Parameters
        ----------
        problem : Problem
            Its problem.
        configuration : Configuration
            The configuration.
        objectives : Sequence of Objective
            The objectives of the front.
        proof : Sequence of ProofStep
            Why it is on the front.

        Returns
        -------
        FrontPoint
            The point.
        """
        if problem.objective != objectives[0]:
            problem = replace(problem, objective=objectives[0])
        metrics = problem.metrics(configuration)
        values = tuple(objective.value(metrics) for objective in objectives)
        return cls(problem, configuration, values, metrics, tuple(proof))


@dataclass(frozen=True, repr=False, eq=False)
class Front(PointAnswer):
    """The answer of `ithaca.pareto`: points proven to be on the front, and whether they are all.

    Examples
    --------
    >>> front = ithaca.pareto("mm", objectives="latency,dsp", i=4, j=4, k=4, dataflow="i,j")
    >>> front.complete, len(front.points)
    (True, 2)
    """

    objectives: tuple[Objective, ...]
    """The objectives, which are minimised."""
    problems: tuple[Problem, ...]
    """The designs, one problem each."""
    points: tuple[FrontPoint, ...]
    """Points proven to be on the front, by ascending first objective."""
    unfinished: str | None
    """Why further points may exist; None if the front is proven complete."""
    completeness: tuple[ProofStep, ...]
    """The proofs that nothing else is on the front (of the boxes examined so far)."""
    nodes: int
    """Boxes examined by all searches."""
    seconds: float
    """Wall time."""
    shortfalls: tuple[Shortfall, ...] = ()
    """Design and limit that cannot be met, if no configuration of any design is feasible."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """The fixed settings, for people: workload, platform and so on."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def among(self) -> str:
        """The configurations in words among which the points are proven to be on the front; empty:
        among everything (`Design.among`)."""
        minimised = [o.expression for o in self.objectives]
        limits = [limit.expression for limit in self.problems[0].limits]
        return self.problems[0].design.among(falling(*minimised, *limits))

    @property
    def complete(self) -> bool:
        """Whether it is proven that no other vector of objectives is on the front."""
        return self.unfinished is None

    @property
    def title(self) -> str:
        """The title for people: the question of the front."""
        return study_title(self.provenance)

    @property
    def basis(self) -> str:
        return not_run(problem.design for problem in self.problems)

    @property
    def headline(self) -> str:
        many = f"{counted(len(self.points), 'point')} ({self.status}{self.basis})"
        return f"Pareto front of {self.title}: {many}"

    @property
    def status(self) -> str:
        """Optimal if the front is proven complete, feasible if points of it are known; infeasible
        or unknown without points."""
        if self.points:
            status = Status.OPTIMAL if self.complete else Status.FEASIBLE
        else:
            narrowed = self.problems[0].feasible_among
            status = Status.INFEASIBLE if self.complete and not narrowed else Status.UNKNOWN
        return status.value

    @property
    def failure(self) -> str:
        if self.points:
            return ""
        if self.complete and (among := self.problems[0].feasible_among):
            return (
                f"nothing that meets the limits is among {among}; others, "
                "which might, were not searched"
            )
        if self.complete:
            words = none_by_form(self.problems[0], self.shortfalls)
            return f"infeasible{words}: {why_infeasible(self.problems, self.shortfalls)}"
        return "nothing proven before the search ended; allow more time with --time-limit"

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements, one a line: the points of the front, and the price of one objective in terms
        of another."""
        return tuple(self.made("statements"))


def pareto_front(
    problems: Sequence[Problem],
    objectives: Sequence[str | Objective],
    options: SolveOptions | None = None,
    *,
    max_points: int | None = None,
    method: str = Method.EXACT,
    threads: int = 1,
    store: Store | None = None,
    report: FrontReport | None = None,
    provenance: Mapping[str, str] | None = None,
    known: Sequence[FrontPoint] = (),
) -> Front:
    """Compute the front of two or more objectives over all designs.

    The front does not depend on how many threads solve designs at a time: of configurations with
    the same objectives the preferred one stands for a point (`ithaca.solver.ties`). It is partial,
    and labelled so, if time, points or patience ran out; its points are proven all the same.

    Parameters
    ----------
    problems : Sequence of Problem
        One per design, alike in everything else; their own objectives do not matter.
    objectives : Sequence of str or Objective
        Expressions to be minimised.
    options : SolveOptions, optional
        The time limit is for the whole front; a gap has no meaning here.
    max_points : int, optional
        Points after which the search ends.
    method : str, optional
        The engine, which must prove what it finds.
    threads : int, optional
        Designs solved at a time; beyond 1 in processes of their own.
    store : Store, optional
        Keeps every proof as it is found, and supplies those found before.
    report : FrontReport, optional
        Told the number of points, the name of a design and the progress of its search.
    provenance : Mapping of str to str, optional
        Recorded with the front.
    known : Sequence of FrontPoint, optional
        Points that are thought to be on it.

    Returns
    -------
    Front
        Every vector of objectives on the front, with one configuration each.

    Raises
    ------
    InputError
        If there are fewer than two objectives, one is repeated, or one cannot be bounded strictly.
    """
    targets = check_objectives(objectives, problems[0].design.vocabulary)
    budget = Budget(replace(options or SolveOptions(), gap=0.0, any_tie=True))
    points: list[FrontPoint] = []
    try:
        with ending():
            equivalents = [equivalent_objective(problems, objective) for objective in targets]
    except StoppedError:
        early, made = _why_early(budget), provenance or {}
        whole = tuple(problems)
        return Front(targets, whole, (), early, (), 0, budget.spent, provenance=made)
    tell = (
        None if report is None else lambda design, progress: report(len(points), design, progress)
    )
    numbers = {problem.design: number for number, problem in enumerate(problems)}
    met = [(numbers[p.problem.design], p.configuration) for p in known]
    with open_executor(min(threads, len(problems))) as executor:
        minimised = [e.objective for e in equivalents]
        prover = Prover(
            problems,
            minimised,
            budget,
            method=method,
            executor=executor,
            store=store,
            tell=tell,
            known=met,
        )
        search = _FrontSearch(tuple(problems), targets, equivalents, prover, points, max_points)
        return replace(search.run(budget), provenance=provenance or {})


def _why_early(budget: Budget) -> str:
    return "interrupted" if budget.options.stopped else "time was up"


def check_objectives(
    texts: Sequence[str | Objective], known: Collection[str]
) -> tuple[Objective, ...]:
    """Read objectives over the metrics known; refuse too few or many of them, and repeated ones."""
    objectives = tuple(_read(o, known) if isinstance(o, str) else o for o in texts)
    if not 2 <= len(objectives) <= MAX_OBJECTIVES:
        raise InputError(
            f"a front needs 2 to {MAX_OBJECTIVES} objectives, not "
            f"{len(objectives)}; allowed: e.g. latency,dsp"
        )
    check_distinct(objectives)
    return objectives


def _read(text: str, known: Collection[str]) -> Objective:
    under: list[Expression] = []
    expression = parse_expression(text, where="--objective", allowed=known, under=under)
    return Objective(text, expression, divisors=tuple(under))


@dataclass(frozen=True)
class _FrontSearch:
    """The search for a front, in objectives equivalent to those asked for."""

    problems: tuple[Problem, ...]
    objectives: tuple[Objective, ...]
    equivalents: Sequence[EquivalentObjective]
    prover: Prover
    points: list[FrontPoint]
    max_points: int | None
    vectors: list[Vector] = field(default_factory=list)
    proofs: list[ProofStep] = field(default_factory=list)

    def run(self, budget: Budget) -> Front:
        unfinished = None
        try:
            left = self._search()
            if left:
                unfinished = f"ended after {self.max_points} points, as asked"
        except UnfinishedError:
            unfinished = _why_early(budget)
        points = tuple(sorted(self.points, key=lambda p: p.values))
        none = not points and unfinished is None and not self.problems[0].feasible_among
        falls = all_shortfalls(self.problems, budget) if none else ()
        nodes, proofs = self.prover.nodes, tuple(self.proofs)
        return Front(
            self.objectives, self.problems, points, unfinished, proofs, nodes, budget.spent, falls
        )

    def _search(self) -> list[Region]:
        """Find points until every box is empty, or there are enough; return the boxes left."""
        everything: Region = (None,) * len(self.objectives)
        boxes = [everything]
        for first in range(len(self.objectives)):
            if not boxes or len(self.points) == self.max_points:
                break
            vector = self._lexicographic(everything, self._order(first))
            if vector is None:
                return []
            boxes = split(boxes, vector)
        while boxes and len(self.points) != self.max_points:
            vector = self._lexicographic(boxes[0], self._order())
            if vector is None:
                del boxes[0]
            else:
                boxes = split(boxes, vector)
        return [box for box in boxes if not self.prover.empty(box)]

    def _order(self, first: int | None = None) -> list[int]:
        """Objectives in the order of minimising: one first if so wanted, then those on a grid, then
        quotients."""
        count, begin = len(self.objectives), first or 0
        order = [(begin + offset) % count for offset in range(count)]
        return sorted(order, key=lambda k: k != first and k in self.prover.quotients)

    def _lexicographic(self, region: Region, order: Sequence[int]) -> Vector | None:
        """Add the point of a region that minimises one objective after the other; None if it is
        empty."""
        proof: list[ProofStep] = []
        point: Candidate | None = None
        for position, objective in enumerate(order):
            step, point = self.prover.minimise(objective, region, order[:position])
            if point is None or step.value is None:
                self.proofs.append(self._original(step))
                return None
            proof.append(self._original(step))
            region = (
                *region[:objective],
                Bound(step.value, strict=False),
                *region[objective + 1 :],
            )
        assert point is not None
        if point.vector not in self.vectors:
            self.vectors.append(point.vector)
            self.points.append(self._point(self.prover.preferred(point), tuple(proof)))
        return point.vector

    def _point(self, point: Candidate, proof: tuple[ProofStep, ...]) -> FrontPoint:
        return FrontPoint.of(
            self.problems[point.design], point.configuration, self.objectives, proof
        )

    def _original(self, step: ProofStep) -> ProofStep:
        """A step in the objectives asked for."""
        region = tuple(
            e.original_bound(bound) for e, bound in zip(self.equivalents, step.region, strict=True)
        )
        value = (
            None if step.value is None else self.equivalents[step.objective].original(step.value)
        )
        return replace(step, region=region, value=value)
