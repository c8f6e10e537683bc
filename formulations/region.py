"""Parts of a space of listed quantities: some of the values of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import INTERVAL
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.space import Link, Quantity, Relation, Role

#: Combinations of values that are tried one by one; beyond, interval arithmetic bounds them.
TRIED = 256


def listed(
    name: str, values: Sequence[int], labels: tuple[str, ...] = (), unit: str = ""
) -> Quantity:
    """A quantity of the hardware that may have some ascending values, one at least.

    Parameters
    ----------
    name : str
        Its name.
    values : sequence of int
        The values.
    labels : tuple of str, optional
        Names of the values of a choice, which are then 1, 2, ….
    unit : str, optional
        Unit of the values.
    """
    whole = Quantity(name, 1, 1, role=Role.HARDWARE, labels=labels, unit=unit)
    return whole.among(*values)


@dataclass(frozen=True, slots=True)
class Region:
    """Points with some values of each quantity; rules may exclude some of them."""

    quantities: tuple[Quantity, ...]
    """The quantities, each with the values that it has here, in the range that it has in the
    space."""

    def values(self, name: str) -> tuple[int, ...]:
        """The values that a quantity has here."""
        return next(quantity.values for quantity in self.quantities if quantity.name == name)

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """The least and the largest value of every quantity."""
        return {q.name: (q.values[0], q.values[-1]) for q in self.quantities}

    @property
    def intervals(self) -> dict[str, Interval]:
        """The range of every quantity as an interval."""
        return {
            name: Interval(Fraction(low), Fraction(high))
            for name, (low, high) in self.ranges.items()
        }

    @property
    def count(self) -> int:
        """Points, whatever rules exclude."""
        return prod(len(quantity.values) for quantity in self.quantities)

    @property
    def point(self) -> Configuration | None:
        """The only point; None if there are several."""
        return None if self.count > 1 else self.corner(high=False)

    def corner(self, *, high: bool) -> Configuration:
        """The point with the largest, or the smallest, value of every quantity."""
        return Configuration({name: ends[high] for name, ends in self.ranges.items()})

    def combinations(self, names: Collection[str]) -> Iterator[dict[str, Fraction]] | None:
        """All combinations of values of some quantities; None if there are more than `TRIED`."""
        options = {name: self.values(name) for name in sorted(names)}
        if prod(map(len, options.values())) > TRIED:
            return None
        return (
            dict(zip(options, map(Fraction, each), strict=True))
            for each in product(*options.values())
        )

    def only(self, values: Mapping[str, Collection[int]]) -> Region:
        """The part where some quantities have some of their values, one at least."""
        return Region(
            tuple(
                replace(q, values=tuple(values[q.name])) if q.name in values else q
                for q in self.quantities
            )
        )

    def split(self, name: str) -> tuple[Region, Region]:
        """Two halves along a quantity that has several values."""
        values = self.values(name)
        half = (len(values) + 1) // 2
        return self.only({name: values[:half]}), self.only({name: values[half:]})

    def may_hold(self, link: Link) -> bool:
        """Whether some point may keep a rule; False is proven."""
        if (options := self.combinations(link.symbols)) is not None:
            return any(map(link.allows, options))
        try:
            left, right = (
                as_interval(side.evaluate(self.intervals, INTERVAL))
                for side in (link.left, link.right)
            )
        except ZeroDivisionError:
            return True
        if link.relation is Relation.AT_MOST:
            return bool(left.low <= right.high)
        return link.relation is Relation.DIVIDES or bool(
            left.low <= right.high and right.low <= left.high
        )
