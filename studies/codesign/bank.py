"""Layers' optima on figures of accelerators: solved once, whichever boxes and questions ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf

from ithaca.formulations.algebra.expression import Expression, split_coefficient
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.accelerator import Accelerator, Trend, Work
from ithaca.formulations.problem import Objective, Problem
from ithaca.results.certificate import Status
from ithaca.results.solution import Solution, make_solution
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.studies.codesign.combine import Choice
from ithaca.studies.front import pareto_front
from ithaca.studies.scale import wording
from ithaca.workloads.nest import LoopNest

#: A bound: minus infinity where nothing is known, infinity where nothing is possible.
Bound = Fraction | float

#: Problems whose tables are kept for the next question.
KEPT = 32

#: Mappings of a layer that are remembered to begin with, and to try on other accelerators.
REMEMBERED = 12


@dataclass(frozen=True)
class Ask:
    """A layer on figures of an accelerator, and what is minimised of a run."""

    nest: LoopNest
    stored: tuple[tuple[str, tuple[int, ...]], ...]
    figures: tuple[tuple[str, Fraction], ...]
    expression: Expression

    @property
    def work(self) -> Work:
        """The layer."""
        return Work(self.nest.name, self.nest, stored=self.stored)


@dataclass(frozen=True)
class Answer:
    """What is known of a layer on some figures."""

    bound: Bound  #: No mapping is below it; infinite if there is none
    solution: Solution | None = None  #: The best mapping found
    factor: Fraction = Fraction(1)  #: What the objective asked for is of the solution's, beside the bound, which has it

    @property
    def value(self) -> Bound:
        """The objective of the best mapping found; infinite without one."""
        return inf if self.solution is None or self.solution.value is None else self.factor * self.solution.value

    @property
    def exact(self) -> bool:
        """Whether nothing is left to prove."""
        return self.bound == self.value


def problems_of(accelerator: Accelerator, ask: Ask) -> tuple[Problem, ...]:
    """The problems of a layer, one per design that may run it."""
    return accelerator.problems(ask.work, dict(ask.figures), Objective(wording(ask.expression), ask.expression))


def solve_layer(
    accelerator: Accelerator,
    ask: Ask,
    method: Method,
    cutoff: Fraction | None,
    options: SolveOptions,
    tell: Callable[[Progress], None],
) -> Answer:
    """The best mapping of a layer over all its designs, or a proof that none is below a cutoff."""
    best: Solution | None = None
    bound: Bound = inf
    problems = problems_of(accelerator, ask)
    for problem in problems:
        known = [n for n in (cutoff, None if best is None else best.value) if n is not None]
        asked = replace(options, rival=min(known, default=None), any_tie=True)
        found = engine(method)(problem, asked, tell)
        proof = found.certificate
        bound = min(bound, _bound(found))
        if found.value is not None and (best is None or best.value is None or found.value < best.value):
            # a design keeps the tables that its search made
            best = make_solution(replace(problem, design=replace(problem.design)), found.configuration, proof)  # type: ignore[type-var]
    if best is None or best.value is None:
        return Answer(bound)
    least = bound if isinstance(bound, Fraction) else None
    if least is not None:
        least = min(least, best.value)
    proof = conclude(best.value, least, method=best.certificate.method, nodes=best.certificate.nodes)
    return Answer(-inf if least is None else least, replace(best, certificate=replace(proof, seconds=best.certificate.seconds)))


def _bound(found: Solution) -> Bound:
    proof = found.certificate
    if proof.status is Status.INFEASIBLE:
        return inf
    return -inf if proof.lower_bound is None else proof.lower_bound


class LayerBank:
    """Answers for the layers of an accelerator, by content."""

    def __init__(self, accelerator: Accelerator, method: Method = Method.AUTO) -> None:
        self.accelerator, self.method = accelerator, method
        self._known: dict[Ask, Answer] = {}
        self._fronts: dict[tuple[Ask, tuple[Expression, ...]], tuple[Choice, ...]] = {}
        self._mappings: dict[LoopNest, list[tuple[int, Configuration]]] = {}
        self._problems = lru_cache(KEPT)(lambda ask: problems_of(accelerator, ask))
        self._idle = {name for name, trend in accelerator.trends.items() if trend is Trend.IDLE}
        self.asked: set[Ask] = set()

    def ask(self, work: Work, figures: Mapping[str, Fraction], expression: Expression) -> Ask:
        """A question, without what does not matter for the answer."""
        kept = tuple(sorted((name, value) for name, value in figures.items() if name not in self._idle))
        return Ask(work.nest, work.stored, kept, expression)

    def known(self, work: Work, figures: Mapping[str, Fraction], objective: Objective) -> Answer:
        """What is known without a search."""
        factor, expression = _scaled(objective.expression)
        found = self._known.get(self.ask(work, figures, expression), Answer(-inf))
        return Answer(found.bound * factor, found.solution, factor)

    def best(
        self,
        work: Work,
        figures: Mapping[str, Fraction],
        objective: Objective,
        options: SolveOptions | None = None,
        cutoff: Fraction | None = None,
    ) -> Answer:
        """The least objective of a run on some figures, with its mapping; or a bound that reaches the cutoff.

        Unproven answers, of searches that ran out of time, are asked for again when they are needed again.
        """
        factor, expression = _scaled(objective.expression)
        ask, target = self.ask(work, figures, expression), None if cutoff is None else cutoff / factor
        self.asked.add(ask)
        found = self._known.get(ask, Answer(-inf))
        if not found.exact and (target is None or found.bound < target):
            found = solve_layer(self.accelerator, ask, self.method, target, options or SolveOptions(), lambda progress: None)
            self.learn(ask, found)
        return Answer(found.bound * factor, found.solution, factor)

    def front(
        self, work: Work, figures: Mapping[str, Fraction], objectives: tuple[Objective, ...], options: SolveOptions
    ) -> tuple[Choice, ...] | None:
        """Mappings of a run that none dominates; None if there may be others than those found in time."""
        ask = self.ask(work, figures, objectives[0].expression)
        key = ask, tuple(objective.expression for objective in objectives)
        if key not in self._fronts:
            problems = problems_of(self.accelerator, ask)
            found = pareto_front(problems, objectives, options)
            if not found.complete:
                return None
            names = [problem.design.name for problem in problems]
            self._fronts[key] = tuple((names.index(p.problem.design.name), p.configuration, p.values) for p in found.points)
        return self._fronts[key]

    def learn(self, ask: Ask, found: Answer) -> None:
        """Remember an answer, and its mapping for others."""
        known = self._known.get(ask)
        if known is not None:
            better = found if found.value < known.value else known
            found = Answer(max(found.bound, known.bound), better.solution)
        self._known[ask] = found
        if found.solution is not None and found.solution.configuration is not None:
            names = [problem.design.name for problem in self._problems(ask)]
            entry = names.index(found.solution.design), found.solution.configuration
            mappings = self._mappings.setdefault(ask.nest, [])
            if entry in mappings:
                mappings.remove(entry)
            self._mappings[ask.nest] = [entry, *mappings][:REMEMBERED]

    def tried(self, work: Work, figures: Mapping[str, Fraction], objective: Objective) -> Answer:
        """The best of the mappings known of a layer, on figures that they may not be from; nothing is searched."""
        factor, expression = _scaled(objective.expression)
        ask = self.ask(work, figures, expression)
        known = self._known.get(ask)
        if known is not None and known.exact:
            return Answer(known.bound * factor, known.solution, factor)
        best: tuple[Fraction, Problem, Configuration] | None = None
        problems = self._problems(ask)
        for number, configuration in self._mappings.get(work.nest, ()):
            if number < len(problems):
                value = problems[number].feasible_value(configuration)
                if value is not None and (best is None or value < best[0]):
                    best = value, problems[number], configuration
        if best is None:
            return Answer(-inf)
        return Answer(-inf, make_solution(best[1], best[2], conclude(best[0], None, method="tried")), factor)


def _scaled(expression: Expression) -> tuple[Fraction, Expression]:
    """An expression as a positive multiple of one that others ask for, too."""
    factor, rest = split_coefficient(expression)
    return (factor, rest) if factor > 0 and rest.symbols else (Fraction(1), expression)


def total(shares: Sequence[Fraction], bounds: Sequence[Bound]) -> Bound:
    """Σ share · bound of what counts."""
    counted = [(share, bound) for share, bound in zip(shares, bounds, strict=True) if share]
    if any(bound == inf for _, bound in counted):
        return inf
    if any(bound == -inf for _, bound in counted):
        return -inf
    return sum((share * Fraction(bound) for share, bound in counted), Fraction(0))
