"""Accelerators that were found, and others compared with them: by bounds, by known mappings, by
mappings of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import inf

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Objective
from ithaca.formulations.region import Region
from ithaca.formulations.space import Quantity
from ithaca.plugins.codesign.studies.boxes import HardwareBounds, Kept
from ithaca.plugins.codesign.studies.floors import Floors
from ithaca.plugins.codesign.studies.incumbents import climb
from ithaca.plugins.codesign.studies.layer_cache import Ask, Bound, CachedRun, LayerCache, total
from ithaca.plugins.codesign.studies.narrowing import narrowed
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import HardwarePoint
from ithaca.solver.executor import Executor
from ithaca.solver.options import Budget, SolveOptions

#: Mappings of a layer that accelerators are judged by.
JUDGED = 1


@dataclass
class Candidates:
    """The accelerators found that no other one dominates, by ascending objectives, and what others
    might be."""

    question: CodesignQuestion
    bank: LayerCache
    hardware: HardwareBounds
    budget: Budget
    executor: Executor
    tell: Callable[[], None]
    points: list[HardwarePoint] = field(default_factory=list)
    above: Candidates | None = None
    """Others that are offered what these find."""
    any: bool = False
    """Whether a single one is enough."""

    @cached_property
    def whole(self) -> Region:
        """A box that holds a best accelerator of the space."""
        return narrowed(self.question)

    @cached_property
    def floors(self) -> Floors:
        """Bounds that take no search."""
        return Floors(self.question, self.bank)

    @property
    def free(self) -> tuple[Quantity, ...]:
        """The quantities that are not settled beforehand."""
        return tuple(
            q for q in self.question.space.quantities if len(self.whole.values(q.name)) > 1
        )

    @property
    def options(self) -> SolveOptions:
        """The options of layers' solves: to the end, in the time that is left."""
        return replace(self.budget.share(), gap=0.0)

    def keeps(self, point: Configuration) -> bool:
        """Whether an accelerator keeps rules and limits of the hardware."""
        alone = self.question.space.box.only({name: (value,) for name, value in point.items()})
        return self.hardware.admissible(alone, self.hardware.all)

    def _runs(self, point: Configuration) -> list[CachedRun]:
        """The layers on an accelerator, as the first amount of runs likes them."""
        figures, objective = self._of(point)
        return [self.bank.run(work, figures, objective) for work in self.question.works]

    def _of(self, point: Configuration) -> tuple[dict[str, Fraction], Objective]:
        """The figures of an accelerator, and its first amount of runs."""
        space = self.question.space
        amount = next(amount for amount in self.question.amounts if amount.shares)
        return space.at(point), amount.of_layer(space.known(point))

    def floor(self, point: Configuration, below: Bound = inf) -> Bound:
        """A bound of the first objective of an accelerator that takes no search; infinite where it
        breaks limits."""
        if not self.keeps(point):
            return inf
        amount = self.question.amounts[0]
        if not amount.shares:
            return amount.of_layer(self.question.space.known(point)).value({})
        return total(amount.shares, self.floors.layers(*self._of(point)))

    def judge(self, point: Configuration, below: Bound = inf) -> Bound:
        """The first objective of an accelerator with the last mappings known of its layers.

        Infinite where it breaks limits, or is known not to be below a value.
        """
        if self.floor(point) >= below:
            return inf
        amount = self.question.amounts[0]
        values = [self.bank.tried_value(run, most=JUDGED) for run in self._runs(point)]
        if amount.shares:
            return total(amount.shares, values)
        known = None if inf in values else self.known(point)
        return known.total(amount) if known is not None and self._within(known) else inf

    def solve(self, point: Configuration, below: Bound = inf) -> Bound:
        """Find the best mappings of an accelerator; infinite once its first objective is known not
        to be below a value."""
        amount, runs = self.question.amounts[0], self._runs(point)
        known = [*self.floors.layers(*self._of(point))]

        def cutoff(layer: int) -> Fraction | None:
            share = amount.shares[layer] if amount.shares else 0
            rest = total(amount.shares, [*known[:layer], 0, *known[layer + 1 :]]) if share else -inf
            return (
                (below - rest) / share
                if isinstance(rest, Fraction) and isinstance(below, Fraction)
                else None
            )

        if self.executor.width > 1:
            self.solve_together(
                [
                    (run.ask, run.target(cutoff(layer)))
                    for layer, run in enumerate(runs)
                    if self.bank.tried_value(run, known[layer]) != known[layer]
                ]
            )
        for layer, run in enumerate(runs):
            most, floor = cutoff(layer), known[layer]
            answer = self.bank.best(run, self.options, most, lambda progress: self.tell(), floor)
            if most is not None and answer.bound >= most:
                return inf
            known[layer] = answer.bound
        self.offer_known(point)
        return self.judge(point)

    def probe(self, box: Region, kept: Kept, *, first: bool = False) -> None:
        """Look for a good accelerator of a box: halve it, each time to the half that promises more,
        the cheaper of equals.

        If it is better than what was found, or nothing was, or this is the first time, a local
        search goes on from there.

        Parameters
        ----------
        box : Region
            The accelerators.
        kept : Kept
            Limits that are kept to.
        first : bool, optional
            Whether a local search goes on from it in any case.
        """
        while box.point is None:
            if self.budget.over:
                return
            parts = (
                self.hardware.shrunk(half, kept)[0] for half in box.split(self.hardware.widest(box))
            )
            halves = [half for half in parts if half is not None]
            if not halves:
                return
            box = min(halves, key=self._promise) if len(halves) > 1 else halves[0]
        if not self.question.space.allows(box.point):
            return
        before = list(self.points)
        if before or self.budget.options.time_limit is None:
            self.offer_known(box.point)
        else:  # climbing takes time, and there must be an answer
            self.solve(box.point)
        if first or not before or (self.points != before and len(self.question.objectives) == 1):
            best = box.point
            for judge, solve in ((self.floor, self.floor), (self.judge, self.solve)):
                best = climb(self.free, best, judge, solve, self._enough)

    def _enough(self) -> bool:
        return self.budget.over or (self.any and bool(self.points))

    def _promise(self, box: Region) -> tuple[Bound, ...]:
        """The objectives of known mappings on the best figures of a box, and then what no mapping
        is below."""
        question, values, floors = self.question, list[Bound](), list[Bound]()
        figures = question.space.best(box)
        for place, amount in enumerate(question.minimised):
            if not amount.shares:
                values.append(self.hardware.range(amount, box).low)
                continue
            objective = amount.of_layer(question.best_costs(place, box))
            runs = [self.bank.run(work, figures, objective) for work in question.works]
            least = self.floors.layers(figures, objective)
            known = map(self.bank.tried_value, runs, least)
            values.append(total(amount.shares, [*known]))
            floors.append(total(amount.shares, least))
        return (*values, *floors)

    def offer_known(self, point: Configuration) -> None:
        """Take an accelerator with the best mappings known of its layers, where they fit it."""
        known = self.known(point)
        if known is not None:
            self.offer(known)

    def known(self, point: Configuration) -> HardwarePoint | None:
        """An accelerator with the best mappings known of its layers; None where some fits none."""
        answers = [self.bank.tried(run).solution for run in self._runs(point)]
        layers = tuple(answer for answer in answers if answer is not None)
        cost = self.question.space.cost(point)
        return HardwarePoint(point, cost, (), layers) if len(layers) == len(answers) else None

    def offer(self, bare: HardwarePoint) -> None:
        """Keep an accelerator with a mapping of every layer if it keeps the limits, and none that
        is known is as good."""
        if self.above is not None:
            self.above.offer(bare)
        if not self._within(bare):
            return
        values = tuple(bare.total(amount) for amount in self.question.minimised)
        if any(
            all(f <= v for f, v in zip(known.values, values, strict=True)) for known in self.points
        ):
            return
        kept = [
            known
            for known in self.points
            if not all(v <= f for v, f in zip(values, known.values, strict=True))
        ]
        self.points = sorted([*kept, replace(bare, values=values)], key=lambda known: known.values)

    def _within(self, known: HardwarePoint) -> bool:
        """Whether an accelerator with its mappings keeps the limits."""
        limited = self.question.limited
        return all(known.total(a) <= a.bound for a in limited if a.bound is not None)

    def solve_together(self, wanted: Sequence[tuple[Ask, Fraction | None]]) -> None:
        """Let the workers find answers."""
        left = {
            ask: target for ask, target in reversed(wanted) if not self.bank.serves(ask, target)
        }
        asks = list(reversed(left))

        def share(unfinished: int) -> SolveOptions | None:
            return None if self.budget.over else self.options

        jobs = [self.bank.job(ask, left[ask]) for ask in asks]
        for number, answer in self.executor.results(
            jobs, share, lambda number, progress: self.tell()
        ):
            self.bank.learn(asks[number], left[asks[number]], answer)
