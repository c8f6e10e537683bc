"""Layers' optima on figures of accelerators: solved once, whichever boxes, questions and runs ask
for them.

What the bank answers depends on the questions alone, not on what it happens to know beyond them: an
optimum that reaches the cutoff of a question is answered by the cutoff, and mappings are remembered
in the order in which they were asked for. So a search is the same whether layers are solved as it
goes, ahead of it by other processes, or were found in a results folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import inf, isfinite

from ithaca.files.clock import late
from ithaca.formulations.algebra.expression import Expression, split_coefficient
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.accelerator import Accelerator, Trend, Work
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.remembered import remembered
from ithaca.plugins.codesign.studies.combine import Choice
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.studies.front import pareto_front
from ithaca.studies.scale import wording
from ithaca.studies.store import Store, digest, fingerprint
from ithaca.workloads.nest import LoopNest, Stored

#: A bound: minus infinity where nothing is known, infinity where nothing is possible.
Bound = Fraction | float

#: Layers on figures whose problems are kept at hand.
KEPT = 64

#: Mappings of a layer that are remembered, to try on other accelerators.
REMEMBERED = 8


@dataclass(frozen=True)
class Ask:
    """A layer on figures of an accelerator, and what is minimised of a run."""

    nest: LoopNest
    stored: Stored
    figures: tuple[tuple[str, Fraction], ...]
    expression: Expression
    divisors: tuple[Expression, ...] = ()
    """All that it divides by, and cancels."""

    @property
    def work(self) -> Work:
        """The layer as work of its own."""
        return Work(self.nest.name, self.nest, stored=self.stored)


@dataclass(frozen=True)
class CachedRun:
    """A run of a layer on figures of an accelerator."""

    ask: Ask
    """The question that it puts."""
    factor: Fraction
    """The objective of the run over that of the answer."""

    def target(self, cutoff: Fraction | None) -> Fraction | None:
        """The value that the answer must be below for the run to be below a cutoff."""
        return None if cutoff is None else cutoff / self.factor


@dataclass(frozen=True)
class LayerAnswer:
    """Bound and best mapping known of a layer on some figures."""

    bound: Bound
    """No mapping is below it; infinite if there is none."""
    solution: Solution | None = None
    """The best mapping found."""
    factor: Fraction = Fraction(1)
    """The objective asked for, and the bound, are so often the solution's."""

    @property
    def value(self) -> Bound:
        """The objective of the best mapping found; infinite without one."""
        return (
            inf
            if self.solution is None or self.solution.value is None
            else self.factor * self.solution.value
        )

    @property
    def exact(self) -> bool:
        """Whether nothing is left to prove."""
        return self.bound == self.value

    def serves(self, target: Fraction | None) -> bool:
        """Whether the answer tells the optimum, or that none is below a target."""
        return self.exact or (target is not None and self.bound >= target)

    def times(self, factor: Fraction) -> LayerAnswer:
        """The answer for a multiple of the objective."""
        return LayerAnswer(self.bound * factor, self.solution, factor)


UNKNOWN = LayerAnswer(-inf)


def problems_of(accelerator: Accelerator, ask: Ask) -> tuple[Problem, ...]:
    """The problems of a layer, one per design that may run it."""
    objective = Objective(wording(ask.expression), ask.expression, divisors=ask.divisors)
    return accelerator.problems(ask.work, dict(ask.figures), objective)


def solve_layer(
    accelerator: Accelerator,
    ask: Ask,
    method: str,
    cutoff: Fraction | None,
    options: SolveOptions,
    tell: Report,
) -> LayerAnswer:
    """The best mapping of a layer over all its designs, or a proof that none is below a cutoff.

    Parameters
    ----------
    accelerator : Accelerator
        The kind of accelerator.
    ask : Ask
        The layer, the figures that matter, and what is minimised.
    method : str
        The engine.
    cutoff : Fraction, optional
        Answers that are not below this are not searched for.
    options : SolveOptions
        How far to search.
    tell : Report
        Told the progress.
    """
    best: Solution | None = None
    bound: Bound = inf
    for problem in problems_of(accelerator, ask):
        known = [n for n in (cutoff, None if best is None else best.value) if n is not None]
        solution = engine(method)(
            problem, replace(options, rival=min(known, default=None), any_tie=True), tell
        )
        bound = min(bound, _bound(solution))
        if solution.value is not None and (
            best is None or best.value is None or solution.value < best.value
        ):
            # a design keeps the tables that its search made
            bare = replace(problem, design=replace(problem.design))  # type: ignore[type-var]
            best = make_solution(bare, solution.configuration, solution.certificate)
    if best is None or best.value is None:
        return LayerAnswer(bound)
    bound = min(bound, best.value)
    proof = best.certificate
    again = conclude(
        best.value,
        None if bound == -inf else Fraction(bound),
        method=proof.method,
        nodes=proof.nodes,
    )
    return LayerAnswer(bound, replace(best, certificate=replace(again, seconds=proof.seconds)))


def _bound(solution: Solution) -> Bound:
    proof = solution.certificate
    if proof.empty:
        return inf
    return -inf if proof.lower_bound is None else proof.lower_bound


class LayerCache:
    """Answers for the layers of an accelerator, by content; kept in a store, if one is given, and
    found there."""

    def __init__(
        self, accelerator: Accelerator, method: str = Method.AUTO, store: Store | None = None
    ) -> None:
        self.accelerator, self.method, self.store = accelerator, method, store
        self.asks: set[Ask] = set()
        self._known: dict[Ask, LayerAnswer] = {}
        self._settled: set[Ask] = set()
        self._fronts: dict[tuple[Ask, tuple[Expression, ...]], tuple[Choice, ...]] = {}
        self._mappings: dict[LoopNest, list[tuple[int, Configuration]]] = {}
        self._problems = lru_cache(KEPT)(lambda ask: problems_of(accelerator, ask))
        self._idle = {name for name, trend in accelerator.trends.items() if trend is Trend.IDLE}

    # -- questions ---------------------------------------------------------------------

    def run(self, work: Work, figures: Mapping[str, Fraction], objective: Objective) -> CachedRun:
        """A run of a layer, without what does not matter for its answer.

        Parameters
        ----------
        work : Work
            The layer.
        figures : mapping of str to Fraction
            The figures of an accelerator, by name.
        objective : Objective
            What is minimised of a run.
        """
        factor, expression = split_coefficient(objective.expression)
        if factor <= 0 or not expression.symbols:
            factor, expression = Fraction(1), objective.expression
        kept = tuple(
            sorted((name, value) for name, value in figures.items() if name not in self._idle)
        )
        return CachedRun(Ask(work.nest, work.stored, kept, expression, objective.divisors), factor)

    def serves(self, ask: Ask, target: Fraction | None) -> bool:
        """Whether a question can be answered without a search."""
        return self._lookup(ask).serves(target)

    def job(
        self, ask: Ask, target: Fraction | None
    ) -> Callable[[SolveOptions, Report], LayerAnswer]:
        """The search for an answer, for another process; `learn` takes what comes of it."""
        return partial(solve_layer, self.accelerator, ask, self.method, target)

    def best(
        self,
        run: CachedRun,
        options: SolveOptions | None = None,
        cutoff: Fraction | None = None,
        tell: Report = lambda progress: None,
        floor: Bound = -inf,
    ) -> LayerAnswer:
        """The least objective of a run on some figures, with its mapping; or the cutoff, if none is
        below it.

        A known mapping that reaches a bound known from elsewhere, the ``floor``, needs no search.
        Unproven answers, of searches that ran out of time, are asked for again when they are needed
        again.

        Parameters
        ----------
        run : LayerRun
            The layer, on figures of an accelerator.
        options : SolveOptions, optional
            How far to search.
        cutoff : Fraction, optional
            Answers that are not below this are not searched for.
        tell : Report, optional
            Told the progress.
        floor : Bound, optional
            A bound that is known from elsewhere.
        """
        ask, target = run.ask, run.target(cutoff)
        if floor > -inf and ask not in self._settled and self.tried_value(run, floor) == floor:
            known = self.tried(run)
            self._known[ask] = replace(known, bound=floor / run.factor, factor=Fraction(1))
            self._settled.add(ask)
        if ask not in self._settled:
            self.asks.add(ask)
        if not self.serves(ask, target):
            self.learn(ask, target, self.job(ask, target)(options or SolveOptions(), tell))
        answer = self._known[ask]
        if target is not None and answer.bound >= target:
            return LayerAnswer(target * run.factor)
        if answer.exact and ask not in self._settled:
            self._settled.add(ask)
            self._remember(ask, answer)
        return answer.times(run.factor)

    def floor(self, run: CachedRun) -> Bound:
        """A bound that takes no search: roofs, and what designs that are searched in stages know of
        themselves at once."""
        return self._floor(run.ask) * run.factor

    @remembered
    def _floor(self, ask: Ask) -> Bound:
        def of(problem: Problem) -> Bound:
            floor = -inf if problem.floor is None else problem.floor
            stage = None if late() else problem.stage
            return floor if stage is None else max(floor, stage.least)

        least = min(map(of, self._problems(ask)), default=inf)
        return Fraction(least) if isfinite(least) else least

    def answer(self, run: CachedRun) -> LayerAnswer:
        """The answer that is kept of a run."""
        kept = run.ask in self.asks or run.ask in self._settled
        return (self._known.get(run.ask, UNKNOWN) if kept else UNKNOWN).times(run.factor)

    def tried(self, run: CachedRun, most: int = REMEMBERED) -> LayerAnswer:
        """The best of the last mappings known of a layer, ``most`` of them, on figures that they
        may not be from; nothing is searched."""
        ask = run.ask
        if ask in self._settled:
            return self._known[ask].times(run.factor)
        best = self._tried(ask, most)
        if best is None:
            return UNKNOWN
        value, number, configuration = best
        proof, problem = conclude(value, None, method="tried"), self._problems(ask)[number]
        return LayerAnswer(-inf, make_solution(problem, configuration, proof), run.factor)

    def tried_value(self, run: CachedRun, floor: Bound = -inf, most: int = REMEMBERED) -> Bound:
        """The value of what `tried` answers, at a fraction of its time; no mapping is below a floor
        known from elsewhere.

        Parameters
        ----------
        run : CachedRun
            The layer, on figures of an accelerator.
        floor : Bound, optional
            A bound of the run.
        most : int, optional
            How many mappings are looked at.
        """
        if run.ask in self._settled:
            return self._known[run.ask].value * run.factor
        best = self._tried(run.ask, most, floor / run.factor)
        return inf if best is None else best[0] * run.factor

    def _tried(
        self, ask: Ask, most: int, floor: Bound = -inf
    ) -> tuple[Fraction, int, Configuration] | None:
        """The least objective of mappings known of a layer, the number of its design, and the
        mapping; None where none fits."""
        best: tuple[Fraction, int, Configuration] | None = None
        for number, configuration in self._mappings.get(ask.nest, [])[:most]:
            value = self._value(ask, number, configuration)
            if value is not None and (best is None or value < best[0]):
                best = value, number, configuration
                if value == floor:
                    break
        return best

    @remembered
    def _value(self, ask: Ask, number: int, configuration: Configuration) -> Fraction | None:
        """The objective of a mapping; None where it does not fit, or has no such design."""
        problem = dict(enumerate(self._problems(ask))).get(number)
        return None if problem is None else problem.feasible_value(configuration)

    def front(
        self, run: CachedRun, objectives: tuple[Objective, ...], options: SolveOptions
    ) -> tuple[Choice, ...] | None:
        """Mappings of a run that none dominates; None if there may be others than those found in
        time.

        Parameters
        ----------
        run : LayerRun
            The layer, on figures of an accelerator.
        objectives : tuple of Objective
            What is minimised of a run.
        options : SolveOptions
            How far to search.
        """
        key = run.ask, tuple(objective.expression for objective in objectives)
        if key not in self._fronts:
            problems = problems_of(self.accelerator, run.ask)
            nondominated = pareto_front(problems, objectives, options, store=self.store)
            if not nondominated.complete:
                return None
            designs = [problem.design for problem in problems]
            self._fronts[key] = tuple(
                (designs.index(p.problem.design), p.configuration, p.values)
                for p in nondominated.points
            )
        return self._fronts[key]

    # -- answers -----------------------------------------------------------------------

    def learn(self, ask: Ask, target: Fraction | None, answer: LayerAnswer) -> None:
        """Keep what came of a search.

        What it met on its way is forgotten where it did not tell the optimum, and not stored where
        it was interrupted: later searches are to answer as if there had been none.

        Parameters
        ----------
        ask : Ask
            The layer, the figures that matter, and what is minimised.
        target : Fraction, optional
            The value that the search was to get below; None: its optimum was wanted.
        answer : LayerAnswer
            What the search says.
        """
        known, served = self._known.get(ask, UNKNOWN), answer.serves(target)
        if served and not answer.exact:
            answer = LayerAnswer(answer.bound)
        best = known if known.value < answer.value else answer
        answer = LayerAnswer(max(answer.bound, known.bound), best.solution)
        self._known[ask] = answer
        if self.store is not None and served:
            problems, bound = (
                self._problems(ask),
                None if answer.bound == inf else Fraction(answer.bound),
            )
            solution = answer.solution
            if solution is None:
                none = conclude(None, bound, complete=answer.bound == inf, method=self.method)
                solution = make_solution(problems[0], None, none)
            self.store.save(problems, solution, SolveOptions(), self.method, self._name(ask))

    def _lookup(self, ask: Ask) -> LayerAnswer:
        """The answer that is known, here or in the store."""
        if ask not in self._known:
            self._known[ask] = UNKNOWN
            stored = (
                None
                if self.store is None
                else self.store.load(self._problems(ask), self._name(ask))
            )
            if stored is not None:
                self._known[ask] = LayerAnswer(_bound(stored.answer), stored.answer.configured)
        return self._known[ask]

    def _name(self, ask: Ask) -> str:
        """The name that answers are kept under: of the model of the layer on figures of its own,
        and of the figures asked for."""
        base = self._fingerprint(replace(ask, figures=()))
        return digest([base, self.accelerator, ask.figures, self.method])

    @remembered
    def _fingerprint(self, ask: Ask) -> str:
        return fingerprint(problems_of(self.accelerator, ask))

    def _remember(self, ask: Ask, answer: LayerAnswer) -> None:
        """Keep a mapping for other accelerators, the last one first."""
        if answer.solution is not None and answer.solution.configuration is not None:
            designs = [problem.design for problem in self._problems(ask)]
            entry = designs.index(answer.solution.problem.design), answer.solution.configuration
            others = [known for known in self._mappings.get(ask.nest, ()) if known != entry]
            self._mappings[ask.nest] = [entry, *others][:REMEMBERED]


def total(shares: Sequence[Fraction], bounds: Sequence[Bound]) -> Bound:
    """Σ share · bound of what counts."""
    counted = [(share, bound) for share, bound in zip(shares, bounds, strict=True) if share]
    if any(bound == inf for _, bound in counted):
        return inf
    if any(bound == -inf for _, bound in counted):
        return -inf
    return sum((share * Fraction(bound) for share, bound in counted), Fraction(0))
