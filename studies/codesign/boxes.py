"""What boxes of hardware cost, whatever runs on it, and the values at their ends that rules and
limits leave out."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import INTERVAL
from ithaca.formulations.hardware.quantities import Box
from ithaca.formulations.hardware.space import HardwareSpace, Rule
from ithaca.studies.codesign.question import Amount, Question

#: Rules and limits of the hardware alone.
Kept = Sequence[Amount | Rule]


class HardwareBounds:
    """Costs of boxes of a question's space, each computed once, and the rules and limits on the
    hardware."""

    def __init__(self, question: Question) -> None:
        self._space: HardwareSpace = question.space
        self._known: dict[tuple[str, tuple[tuple[int, int], ...]], Interval] = {}
        limits = [
            amount for amount in question.limited if not amount.shares and amount.bound is not None
        ]
        self.all: Kept = [*question.space.rules, *limits]

    def range(self, amount: Amount, box: Box) -> Interval:
        """Bounds of an amount of the hardware alone."""
        ranges = {name: self.cost(name, box) for name in amount.expression.symbols}
        try:
            return as_interval(amount.expression.evaluate(ranges, INTERVAL))
        except ZeroDivisionError:
            return Interval(-inf, inf)

    def cost(self, name: str, box: Box) -> Interval:
        """Bounds of a metric of the hardware over a box."""
        figure = self._space.costs[name]
        key = (
            name,
            tuple(
                s
                for q, s in zip(box.quantities, box.spans, strict=True)
                if q.name in figure.symbols
            ),
        )
        if key not in self._known:
            self._known[key] = figure.range(box)
        return self._known[key]

    def shrunk(self, box: Box, kept: Kept) -> tuple[Box | None, Kept]:
        """A box without the values at its ends that no accelerator may have, None if none is left;
        and what is in force there.

        Limits that every accelerator of a box keeps need not be looked at in its parts.
        """
        if not self.admissible(box, kept):
            return None, kept
        kept = [
            each
            for each in kept
            if isinstance(each, Rule) or self.range(each, box).high > each.bound
        ]
        spoken = set[str]().union(*map(self._symbols, kept))
        spans = list(box.spans)
        changed = True
        while changed:
            changed = False
            for place, (first, last) in enumerate(spans):
                if box.quantities[place].name not in spoken:
                    continue
                while first < last and not self.admissible(slab(box, spans, place, last), kept):
                    last -= 1
                while first < last and not self.admissible(slab(box, spans, place, first), kept):
                    first += 1
                if (first, last) != spans[place]:
                    spans[place], changed = (first, last), True
        shrunk = Box(box.quantities, tuple(spans))
        return (shrunk if shrunk == box or self.admissible(shrunk, kept) else None), kept

    def _symbols(self, kept: Amount | Rule) -> frozenset[str]:
        """The quantities that a rule or limit depends on."""
        if isinstance(kept, Rule):
            return kept.link.symbols
        return frozenset[str]().union(
            *(self._space.costs[name].symbols for name in kept.expression.symbols)
        )

    def admissible(self, box: Box, kept: Kept) -> bool:
        """Whether some accelerator of a box may keep rules and limits."""
        return all(
            each.may_hold(box)
            if isinstance(each, Rule)
            else self.range(each, box).low <= each.bound
            for each in kept
        )


def slab(box: Box, spans: Sequence[tuple[int, int]], place: int, at: int) -> Box:
    """The accelerators of a box that have one value of a quantity."""
    return Box(box.quantities, (*spans[:place], (at, at), *spans[place + 1 :]))
