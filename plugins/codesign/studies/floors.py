"""Bounds of boxes of hardware that take no search: where boxes can end, and where they are best
split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import inf

from ithaca.files.clock import StoppedError, finishing, late
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.region import Region
from ithaca.plugins.codesign.studies.boxes import HardwareBounds
from ithaca.plugins.codesign.studies.layer_cache import Bound, LayerCache, total
from ithaca.plugins.codesign.studies.narrowing import narrowed
from ithaca.plugins.codesign.studies.question import HUGE, CodesignQuestion
from ithaca.solver.best_first import BestFirst
from ithaca.studies.network.products import AXES, Factors

#: Figures whose bounds are kept at hand.
KEPT = 4096


class Floors:
    """Lower bounds of layers, and of the first objective over boxes, that take no search."""

    def __init__(self, question: CodesignQuestion, bank: LayerCache) -> None:
        self.question, self.bank = question, bank
        self._problems: list[Problem] = []
        self._known = lru_cache(KEPT)(self._layers)

    def layers(self, figures: Mapping[str, Fraction], objective: Objective) -> list[Bound]:
        """A bound of a run of each layer."""
        return self._known(tuple(figures.items()), objective)

    def _layers(
        self, figures: tuple[tuple[str, Fraction], ...], objective: Objective
    ) -> list[Bound]:
        at, works, bank = dict(figures), self.question.works, self.bank
        if not self._problems:
            pose = bank.accelerator.problems
            self._problems = [pose(work, at, objective)[0] for work in works]
        known: Sequence[Bound] | None = None
        if not late():
            with finishing(), suppress(StoppedError):
                known = bank.accelerator.floors(self._problems, at, objective)
        return list(known or [bank.floor(bank.run(work, at, objective)) for work in works])

    def at(self, box: Region, place: int) -> Sequence[Bound]:
        """A bound of a run of each layer over a box, as the amount of that number counts it."""
        question, space, amount = self.question, self.question.space, self.question.amounts[place]
        if all(len(box.values(name)) == 1 for name in question.enumerated):
            return self.layers(space.best(box), amount.of_layer(question.best_costs(place, box)))
        spans = {name: figure.range(box) for name, figure in space.figures.items()}
        costs = {
            name: space.named[name].range(box)
            for name in amount.expression.symbols & space.named.keys()
        }
        return [
            _low(amount.expression, costs, space.accelerator.roofs(work, spans))
            for work in question.works
        ]

    def over(self, box: Region, bounds: Sequence[Bound]) -> Bound:
        """A bound of an objective of runs over a box, of layers with these bounds already."""
        known = self.at(box, 0)
        return total(self.question.amounts[0].shares, [*map(max, known, bounds)])

    def sharpest(self, box: Region, bounds: Sequence[Bound], goal: Fraction) -> str | None:
        """The quantity along which the bounds of halves, up to a goal, rise most; of equals that of
        its ends. None if they rise along none.

        Parameters
        ----------
        box : Region
            The box; it has several values of a quantity.
        bounds : sequence of Bound
            A bound of each layer over it.
        goal : Fraction
            Rises beyond this count no more.
        """
        rises = {}
        for name, ends in box.ranges.items():
            if ends[0] < ends[1]:
                parts = box.split(name), [box.only({name: (end,)}) for end in ends]
                rises[name] = tuple(
                    sum(min(self.over(part, bounds), goal) for part in pair) for pair in parts
                )
        best = max(rises, key=rises.__getitem__)
        return best if rises[best] > (2 * self.over(box, bounds),) * 2 else None


def _low(
    expression: Expression, costs: Mapping[str, Interval], roofs: Mapping[str, Fraction]
) -> Bound:
    """The least of an expression whose metrics are not below roofs, or 0, on hardware of such
    costs; without any roof nothing is known of it."""
    metrics = expression.symbols - costs.keys()
    if not metrics & roofs.keys():
        return -inf
    reach = {name: Interval(roofs.get(name, Fraction(0)), HUGE) for name in metrics}
    span = bounds(expression, {**costs, **reach})
    return span.low if span is not None and 0 < span.low < inf else -inf


def least_product(
    question: CodesignQuestion, factors: Factors, bank: LayerCache, over: Callable[[], bool]
) -> Fraction:
    """A bound of a product of two sums over the whole space that takes no search of layers: the
    least, over boxes that it is divided into, of the product of both sums' bounds.

    Boxes are halved until it is above 0, or there is no time.

    Parameters
    ----------
    question : CodesignQuestion
        The question.
    factors : Factors
        The two sums.
    bank : LayerCache
        Layers that were solved.
    over : callable
        Whether the time is up.
    """
    hardware, sides = (
        HardwareBounds(question),
        [Floors(replace(question, objectives=(factors.weighted(w),)), bank) for w in AXES],
    )
    names = question.enumerated.union(*(side.question.enumerated for side in sides))
    parts: BestFirst[Fraction, tuple[Region, str | None]] = BestFirst()

    def enter(whole: Region) -> None:
        box = hardware.shrunk(whole, hardware.all)[0]
        if box is None:
            return
        mixed = next((name for name in sorted(names) if len(box.values(name)) > 1), None)
        unknown = [-inf] * len(question.works)
        known = [0 if mixed else max(side.over(box, unknown), 0) for side in sides]
        if inf not in known:
            parts.push(factors.value((Fraction(known[0]), Fraction(known[1]))), (box, mixed))

    enter(narrowed(question))
    while parts and not parts.least and not over():
        bound, (box, mixed) = parts.pop()
        if box.point is not None:
            return bound
        for half in box.split(mixed or hardware.widest(box)):
            enter(half)
    return parts.least if parts else Fraction(0)
