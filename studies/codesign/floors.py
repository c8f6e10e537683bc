"""Bounds of boxes of hardware that take no search: where boxes can end, and where they are best
split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import inf

from ithaca.formulations.hardware.quantities import Box
from ithaca.formulations.problem import Objective
from ithaca.solver.best_first import BestFirst
from ithaca.studies.codesign.boxes import HardwareBounds, slab, trimmed
from ithaca.studies.codesign.layer_cache import Bound, LayerCache, total
from ithaca.studies.codesign.narrowing import narrowed
from ithaca.studies.codesign.question import Question
from ithaca.studies.network.products import AXES, Factors

#: Figures whose bounds are kept at hand.
KEPT = 4096


class Floors:
    """Lower bounds of layers, and of the first objective over boxes, that take no search."""

    def __init__(self, question: Question, bank: LayerCache) -> None:
        self.question, self.bank = question, bank
        self._quick = bank.accelerator.floors(question.works)
        self._known = lru_cache(KEPT)(self._layers)

    def layers(self, figures: Mapping[str, Fraction], objective: Objective) -> list[Bound]:
        """A bound of a run of each layer."""
        return self._known(tuple(figures.items()), objective)

    def _layers(
        self, figures: tuple[tuple[str, Fraction], ...], objective: Objective
    ) -> list[Bound]:
        at, bank = dict(figures), self.bank
        known = None if self._quick is None else self._quick(at, objective)
        if known is not None:
            return list(known)
        return [bank.floor(bank.run(work, at, objective)) for work in self.question.works]

    def over(self, box: Box, bounds: Sequence[Bound]) -> Bound:
        """A bound of an objective of runs over a box, of layers with these bounds already."""
        question, amount = self.question, self.question.amounts[0]
        known = self.layers(question.space.best(box), amount.of_layer(question.best_costs(0, box)))
        return total(amount.shares, [*map(max, known, bounds)])

    def narrowed(self, box: Box, bounds: Sequence[Bound], goal: Fraction) -> Box:
        """A box without values at its ends with which nothing is below a goal.

        Parameters
        ----------
        box : Box
            The box.
        bounds : sequence of Bound
            A bound of each layer over it.
        goal : Fraction
            What the first objective is to be below.
        """
        names = [quantity.name for quantity in box.quantities]
        return trimmed(box, names, lambda part: self.over(part, bounds) >= goal)

    def seen(self, box: Box, bounds: Sequence[Bound]) -> list[str]:
        """The quantities between whose ends the bound of a box moves."""
        return [
            quantity.name
            for place, (quantity, ends) in enumerate(zip(box.quantities, box.spans, strict=True))
            if len({self.over(slab(box, box.spans, place, end), bounds) for end in ends}) > 1
        ]

    def sharpest(self, box: Box, bounds: Sequence[Bound], goal: Fraction) -> str | None:
        """The quantity along which the bounds of halves, up to a goal, rise most; None if they rise
        along none.

        Parameters
        ----------
        box : Box
            The box; it has several values of a quantity.
        bounds : sequence of Bound
            A bound of each layer over it.
        goal : Fraction
            Rises beyond this count no more.
        """
        rises = {}
        for quantity, (first, last) in zip(box.quantities, box.spans, strict=True):
            if first < last:
                rises[quantity.name] = sum(
                    min(self.over(half, bounds), goal) for half in box.split(quantity.name)
                )
        name = max(rises, key=rises.__getitem__)
        return name if rises[name] > 2 * self.over(box, bounds) else None


def least_product(
    question: Question, factors: Factors, bank: LayerCache, over: Callable[[], bool]
) -> Fraction:
    """A bound of a product of two sums over the whole space that takes no search of layers: the
    least, over boxes that it is divided into, of the product of both sums' bounds.

    Boxes are halved until it is above 0, or there is no time.
    """
    hardware, sides = (
        HardwareBounds(question),
        [Floors(replace(question, objectives=(factors.weighted(w),)), bank) for w in AXES],
    )
    names = question.enumerated.union(*(side.question.enumerated for side in sides))
    parts: BestFirst[Fraction, tuple[Box, str | None]] = BestFirst()

    def enter(whole: Box) -> None:
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
