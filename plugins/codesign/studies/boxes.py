"""Boxes of hardware: their costs, whatever runs on it, the values at their ends that rules and
limits leave out, and where they are best halved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from math import inf, log

from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import INTERVAL
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.formulations.region import Region
from ithaca.formulations.space import Link
from ithaca.plugins.codesign.formulations.space import HardwareSpace
from ithaca.plugins.codesign.studies.layer_cache import Bound
from ithaca.plugins.codesign.studies.question import Amount, CodesignQuestion

#: Rules and limits of the hardware alone.
Kept = Sequence[Amount | Link]


class HardwareBounds:
    """Costs of boxes of a question's space, and the rules and limits on the hardware."""

    def __init__(self, question: CodesignQuestion) -> None:
        self._space: HardwareSpace = question.space
        self._amounts, self._minimised = question.amounts, question.minimised
        #: Names of the hardware alone that are minimised or limited.
        self._counted = sorted(
            {
                name
                for amount in question.amounts
                for name in amount.expression.symbols & question.space.named.keys()
            }
        )
        limits = [
            amount for amount in question.limited if not amount.shares and amount.bound is not None
        ]
        self.all: Kept = [*question.space.rules, *limits]

    def range(self, amount: Amount, box: Region) -> Interval:
        """Bounds of an amount of the hardware alone."""
        named = self._space.named
        ranges = {name: named[name].range(box) for name in amount.expression.symbols}
        try:
            return as_interval(amount.expression.evaluate(ranges, INTERVAL))
        except ZeroDivisionError:
            return Interval(-inf, inf)

    def inherited(
        self, bounds: Sequence[Sequence[Bound]], box: Region, kept: Kept
    ) -> list[list[Bound]]:
        """Bounds of all amounts over a part of a box: amounts of runs, and limits that all its
        accelerators keep, are not asked anew.

        Parameters
        ----------
        bounds : sequence of sequence of Bound
            Bounds over the whole box, by amount and layer.
        box : Region
            The part.
        kept : Kept
            Rules and limits that some accelerator of the part may break.
        """
        known = [list(each) for each in bounds]
        for place, amount in enumerate(self._amounts):
            if not amount.shares and (amount in self._minimised or amount in kept):
                known[place] = [self.range(amount, box).low]
        return known

    def shrunk(self, box: Region, kept: Kept) -> tuple[Region | None, Kept]:
        """A box without the values at its ends that no accelerator may have, None if none is left;
        and what is in force there.

        Limits that every accelerator of a box keeps need not be looked at in its parts.
        """
        if not self.admissible(box, kept):
            return None, kept
        kept = [
            each
            for each in kept
            if isinstance(each, Link) or self.range(each, box).high > each.bound
        ]
        spoken = set[str]().union(*map(self._symbols, kept))
        shrunk = trimmed(box, spoken, lambda part: not self.admissible(part, kept))
        return (shrunk if shrunk == box or self.admissible(shrunk, kept) else None), kept

    def _symbols(self, kept: Amount | Link) -> frozenset[str]:
        """The quantities that a rule or limit depends on."""
        if isinstance(kept, Link):
            return kept.symbols
        return frozenset[str]().union(
            *(self._space.named[name].symbols for name in kept.expression.symbols)
        )

    def admissible(self, box: Region, kept: Kept) -> bool:
        """Whether some accelerator of a box may keep rules and limits."""
        return all(
            box.may_hold(each)
            if isinstance(each, Link)
            else self.range(each, box).low <= each.bound
            for each in kept
        )

    def widest(self, box: Region) -> str:
        """The quantity along which the best figures and least costs of the halves differ most from
        those of a box."""
        space = self._space
        counted = [
            name for name in space.figures if space.accelerator.trends[name] is not Trend.IDLE
        ]

        def key(part: Region) -> list[Fraction]:
            best = space.best(part)
            return [
                *(best[name] for name in counted),
                *(space.named[name].range(part).low for name in self._counted),
            ]

        whole, most, chosen = key(box), -1.0, ""
        for quantity in box.quantities:
            if len(quantity.values) > 1:
                moved = sum(
                    _apart(a, b)
                    for half in box.split(quantity.name)
                    for a, b in zip(key(half), whole, strict=True)
                )
                if moved > most:
                    most, chosen = moved, quantity.name
        return chosen


def trimmed(box: Region, names: Collection[str], hopeless: Callable[[Region], bool]) -> Region:
    """A box without the values at the ends of some quantities with which it is hopeless.

    Parameters
    ----------
    box : Region
        The box.
    names : collection of str
        The quantities whose ends may go.
    hopeless : callable
        Whether no accelerator of a part of the box is of interest.
    """
    changed = True
    while changed:
        whole = box
        for name in [q.name for q in box.quantities if q.name in names]:
            for end in (-1, 0):
                while len(values := box.values(name)) > 1:
                    if not hopeless(box.only({name: (values[end],)})):
                        break
                    box = box.only({name: values[:-1] if end else values[1:]})
        changed = box != whole
    return box


def _apart(a: Fraction, b: Fraction) -> float:
    """The distance between two figures."""
    return abs(log(a / b)) if a > 0 and b > 0 else float(a != b)
