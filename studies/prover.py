"""Minimise one objective within bounds on the others, over all designs, and remember what was
proven."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Objective, Problem
from ithaca.solver.certificate import Status
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.executor import Executor, InProcess
from ithaca.solver.options import Budget
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution, make_solution
from ithaca.studies.best import preferred_of
from ithaca.studies.region import Bound, Region, Vector, admits, inside
from ithaca.studies.scale import find_scale, form_of
from ithaca.studies.store import Store

#: A design that does not hold the best is searched to this much above it: what is found there, or
#: proven empty, saves later solves.
LOOKAHEAD = Fraction(1, 4)

#: Receives the name of a design and the progress of its search.
Tell = Callable[[str, Progress], None]


class UnfinishedError(Exception):
    """The search ended before a proof."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A configuration met on the way."""

    design: int
    """Number of its problem."""
    configuration: Configuration
    """The configuration."""
    vector: Vector
    """Its objectives."""


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A step of a proof: one proven minimum."""

    objective: int
    """Number of the objective minimised."""
    region: Region
    """The bounds it was minimised under, one per objective."""
    value: Fraction | None
    """The minimum over all designs; None if no configuration of any design is in the region."""
    solved: int
    """Designs solved for it."""
    known: int
    """Designs about which earlier steps had already proven enough."""
    nodes: int
    """Boxes examined."""
    seconds: float
    """Time of its searches, also of those in an earlier run."""


@dataclass
class Prover:
    """Answers "what is the least f_k within these bounds?" over several designs, of which there is
    one problem each.

    It keeps every configuration met, and for every design the regions of objective space proven
    empty. A design is solved again only if they do not settle the question. The budget is the time
    for all questions together; a store keeps every proof, and supplies those of an earlier run.
    """

    problems: Sequence[Problem]
    objectives: Sequence[Objective]
    budget: Budget
    method: str = Method.EXACT
    executor: Executor = field(default_factory=InProcess)
    store: Store | None = None
    tell: Tell | None = None
    known: Sequence[tuple[int, Configuration]] = ()
    """Numbers of problems with configurations of theirs; only what is better is looked for."""
    nodes: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._scales = [[find_scale(p, o) for o in self.objectives] for p in self.problems]
        self._forms = [[form_of(p, o) for o in self.objectives] for p in self.problems]
        self._empty: list[list[Region]] = [[] for _ in self.problems]
        self._pool: dict[Vector, Candidate] = {}
        self._order = list(range(len(self.problems)))
        for design, configuration in self.known:
            if self.problems[design].feasible_value(configuration) is None:
                name = self.problems[design].design.name
                raise InputError(f"known: a configuration of design {name} is beyond its limits")
            self._met(design, configuration)

    @property
    def quotients(self) -> frozenset[int]:
        """The objectives that are quotients, which are harder to minimise than those on a grid."""
        return frozenset(
            k for scales in self._scales for k, scale in enumerate(scales) if not scale.step
        )

    def minimise(
        self, objective: int, region: Region, fixed: Collection[int] = ()
    ) -> tuple[ProofStep, Candidate | None]:
        """The least value of an objective within a region.

        Parameters
        ----------
        objective : int
            Number of the objective.
        region : Region
            Bounds, one per objective.
        fixed : Collection of int, optional
            Objectives known to have a single value there.

        Returns
        -------
        tuple of ProofStep and Candidate or None
            The proven minimum, and a configuration of it.

        Raises
        ------
        UnfinishedError
            If time is up, or the search was told to stop, before it is proven.
        """
        nodes, seconds = self.nodes, self.seconds
        met = [point for vector, point in self._pool.items() if admits(region, vector)]
        best = min(met, key=lambda point: point.vector[objective], default=None)
        solved: set[int] = set()
        at_once = self.executor.width
        while unsettled := [
            d for d in self._order if not self._settled(d, objective, region, best)
        ]:
            batch = unsettled[:at_once]
            solved |= set(batch)
            for point in self._solve(batch, objective, region, best, fixed):
                if point is not None and (
                    best is None or point.vector[objective] < best.vector[objective]
                ):
                    best = point
                    self._order.remove(point.design)
                    self._order.insert(0, point.design)
        value = None if best is None else best.vector[objective]
        known = len(self.problems) - len(solved)
        return ProofStep(
            objective, region, value, len(solved), known, self.nodes - nodes, self.seconds - seconds
        ), best

    def preferred(self, point: Candidate) -> Candidate:
        """The preferred one of all configurations with the objectives of a point, as far as time
        allows."""
        region = tuple(Bound(value, strict=False) for value in point.vector)
        left = [
            d for d in range(len(self.problems)) if not self._covered(d, self._normal(d, region))
        ]
        questions = [self._question(design, 0, self._normal(design, region), ()) for design in left]
        known = [point.configuration if design == point.design else None for design in left]
        holder = left.index(point.design)
        stored = None if self.store is None else self.store.load(questions)
        if (
            stored is not None
            and stored.answer.certificate.ties_broken
            and stored.answer.configuration is not None
        ):
            answer = stored.answer
        else:
            value = questions[holder].value(point.configuration)
            chosen = preferred_of(questions, value, known, holder, self.budget)
            if chosen is None or chosen[1].configuration is None:
                return point
            number, outcome = chosen
            proof = conclude(value, value, method=self.method, complete=True, nodes=outcome.boxes)
            answer = make_solution(
                questions[number],
                outcome.configuration,
                replace(proof, ties_broken=outcome.complete),
            )
            if self.store is not None and outcome.complete:
                self.store.save(questions, answer, self.budget.options, self.method)
        assert answer.configuration is not None
        self.nodes += answer.certificate.nodes
        design = next(
            d
            for d, problem in zip(left, questions, strict=True)
            if problem.design == answer.problem.design
        )
        return Candidate(design, answer.configuration, point.vector)

    def empty(self, region: Region) -> bool:
        """Whether a region is already known to hold no configuration of any design."""
        return all(
            self._covered(design, self._normal(design, region))
            for design in range(len(self.problems))
        )

    def _settled(self, design: int, objective: int, region: Region, best: Candidate | None) -> bool:
        """Whether a design is known to hold nothing better than the best within a region."""
        cap = None if best is None else Bound(best.vector[objective], strict=True)
        return self._covered(design, self._capped(design, region, objective, cap))

    def _covered(self, design: int, region: Region) -> bool:
        return any(inside(region, empty) for empty in self._empty[design])

    def _normal(self, design: int, region: Region) -> Region:
        """A region by the bounds that a design's configurations can reach."""
        return tuple(
            None if b is None else s.normal(b)
            for b, s in zip(region, self._scales[design], strict=True)
        )

    def _capped(self, design: int, region: Region, objective: int, cap: Bound | None) -> Region:
        """A region by the bounds that a design can reach, with one objective bounded further."""
        upper = self._normal(design, region)
        if cap is None:
            return upper
        cap, known = self._scales[design][objective].normal(cap), upper[objective]
        return (
            *upper[:objective],
            known if known is not None and known.implies(cap) else cap,
            *upper[objective + 1 :],
        )

    def _solve(
        self,
        designs: Sequence[int],
        objective: int,
        region: Region,
        best: Candidate | None,
        fixed: Collection[int],
    ) -> list[Candidate | None]:
        """Minimise over each of some designs, and remember what that proves."""
        ceiling = None
        if best is not None:
            value = best.vector[objective]
            ceiling = (
                Bound(value, strict=True)
                if self.known
                else Bound(value + LOOKAHEAD * abs(value), strict=False)
            )
        searched = [self._capped(design, region, objective, ceiling) for design in designs]
        questions = [
            self._question(d, objective, s, fixed) for d, s in zip(designs, searched, strict=True)
        ]
        solutions = self._solutions(questions)
        return [
            self._learn(design, objective, region, bounds, solution)
            for design, bounds, solution in zip(designs, searched, solutions, strict=True)
        ]

    def _question(
        self, design: int, objective: int, searched: Region, fixed: Collection[int]
    ) -> Problem:
        """The problem to solve for the least value of an objective of a design."""
        problem, scales = self.problems[design], self._scales[design]
        limits = (
            scale.limit(bound)
            for scale, bound in zip(scales, searched, strict=True)
            if bound is not None
        )
        scale, target = scales[objective], self.objectives[objective]
        if not scale.step and scale.under_form in (self._forms[design][k] for k in fixed):
            # where the denominator has a single value, the least quotient has the least numerator
            target = scale.numerator
        return replace(problem, limits=(*problem.limits, *limits), objective=target)

    def _learn(
        self, design: int, objective: int, region: Region, searched: Region, solution: Solution
    ) -> Candidate | None:
        self.nodes += solution.certificate.nodes
        self.seconds += solution.certificate.seconds
        if solution.certificate.empty:
            self._empty[design].append(searched)
            return None
        if solution.certificate.status is not Status.OPTIMAL or solution.configuration is None:
            raise UnfinishedError
        point = self._met(design, solution.configuration)
        self._empty[design].append(
            self._capped(design, region, objective, Bound(point.vector[objective], strict=True))
        )
        return point

    def _met(self, design: int, configuration: Configuration) -> Candidate:
        """The candidate of the objectives of a configuration: the first that was met."""
        metrics = self.problems[design].metrics(configuration)
        vector = tuple(o.value(metrics) for o in self.objectives)
        return self._pool.setdefault(vector, Candidate(design, configuration, vector))

    def _solutions(self, questions: Sequence[Problem]) -> list[Solution]:
        """Solve problems, or look up how they were solved before."""
        solutions: dict[int, Solution] = {}
        for index, problem in enumerate(questions):
            stored = None if self.store is None else self.store.load([problem])
            if stored is not None and stored.answer.settled:
                solutions[index] = stored.answer
        left = [index for index in range(len(questions)) if index not in solutions]
        if left and self.budget.over:
            raise UnfinishedError

        def report(number: int, progress: Progress) -> None:
            if self.tell is not None:
                self.tell(questions[left[number]].design.name, progress)

        jobs = [partial(engine(self.method), questions[index]) for index in left]
        executor = self.executor if len(jobs) > 1 else InProcess()
        for number, solution in executor.results(
            jobs, lambda unfinished: self.budget.share(), report
        ):
            solutions[left[number]] = solution
            if self.store is not None and solution.settled:
                self.store.save(
                    [questions[left[number]]], solution, self.budget.options, self.method
                )
        if len(solutions) < len(questions):
            raise UnfinishedError
        return [solutions[index] for index in range(len(questions))]
