"""Hardware quantities, and figures that follow from them, of accelerators and boxes of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod

from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.monotonicity import trends
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, exactly
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.remembered import remembered

#: Combinations of values over which a figure's range is found by trying all of them; beyond, by
#: interval arithmetic.
TRIED = 256


@dataclass(frozen=True, slots=True)
class HardwareQuantity:
    """A quantity that a designer may choose."""

    name: str
    """Its name."""
    values: tuple[int, ...]
    """What it may be, ascending, at least one."""
    labels: tuple[str, ...] = ()
    """Names of the values of a choice, which are then 1, 2, …."""
    unit: str = ""
    """Unit of the values."""

    def shown(self, value: int) -> str:
        """A value for people."""
        return self.labels[value - 1] if self.labels else str(value)


@dataclass(frozen=True, slots=True)
class Box:
    """Accelerators with each quantity between two of its values; rules may exclude some."""

    quantities: tuple[HardwareQuantity, ...]
    """The quantities of the space."""
    spans: tuple[tuple[int, int], ...]
    """First and last place of each."""

    @staticmethod
    def whole(quantities: tuple[HardwareQuantity, ...]) -> Box:
        """The box of all accelerators."""
        return Box(quantities, tuple((0, len(quantity.values) - 1) for quantity in quantities))

    def values(self, name: str) -> tuple[int, ...]:
        """The values that a quantity has in the box."""
        pairs = (
            (q, span) for q, span in zip(self.quantities, self.spans, strict=True) if q.name == name
        )
        quantity, (first, last) = next(pairs)
        return quantity.values[first : last + 1]

    @property
    def intervals(self) -> dict[str, Interval]:
        """From the least to the largest value of every quantity."""
        low, high = self.corner(high=False), self.corner(high=True)
        return {name: Interval(Fraction(low[name]), Fraction(high[name])) for name in low}

    @property
    def count(self) -> int:
        """Accelerators, whatever rules exclude."""
        return prod(last - first + 1 for first, last in self.spans)

    @property
    def point(self) -> Configuration | None:
        """The only accelerator; None if there are several."""
        if self.count > 1:
            return None
        return Configuration(
            {
                q.name: q.values[first]
                for q, (first, _) in zip(self.quantities, self.spans, strict=True)
            }
        )

    def combinations(self, names: Collection[str]) -> Iterator[dict[str, Fraction]] | None:
        """All that some quantities may be together; None if that is more than `TRIED`."""
        options = {name: self.values(name) for name in sorted(names)}
        if prod(map(len, options.values())) > TRIED:
            return None
        return (
            dict(zip(options, map(Fraction, each), strict=True))
            for each in product(*options.values())
        )

    def corner(self, *, high: bool) -> Configuration:
        """The accelerator with the largest, or the smallest, value of every quantity."""
        spans = zip(self.quantities, self.spans, strict=True)
        return Configuration({q.name: q.values[span[1 if high else 0]] for q, span in spans})

    def split(self, name: str) -> tuple[Box, Box]:
        """Two halves along a quantity that has several values."""
        place = [quantity.name for quantity in self.quantities].index(name)
        first, last = self.spans[place]
        middle = (first + last) // 2
        return self.along(place, (first, middle)), self.along(place, (middle + 1, last))

    def along(self, place: int, span: tuple[int, int]) -> Box:
        """It with another span of a quantity."""
        return Box(self.quantities, (*self.spans[:place], span, *self.spans[place + 1 :]))


@dataclass(frozen=True)
class Figure:
    """A number that follows from quantities: an expression, perhaps the key of a table."""

    expression: Expression
    """Over quantities and other figures."""
    table: tuple[tuple[Fraction, Fraction], ...] = ()
    """What values of the expression stand for; empty: for themselves."""
    others: tuple[tuple[str, Figure], ...] = ()
    """The other figures that the expression speaks of, by name."""

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The quantities that it follows from."""
        others = dict(self.others)
        return (self.expression.symbols - others.keys()).union(
            *(figure.symbols for figure in others.values())
        )

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """Its value for an accelerator. A `KeyError` if a table has no such entry."""
        known = exactly(values) | {n: figure.at(values) for n, figure in self.others}
        number = Fraction(self.expression.evaluate(known, FRACTION))
        return dict(self.table)[number] if self.table else number

    def range(self, box: Box) -> Interval:
        """Bounds over a box, the tightest ones where it depends on few quantities in both ways."""
        pairs = zip(box.quantities, box.spans, strict=True)
        own = [pair for pair in pairs if pair[0].name in self.symbols]
        return self._range(Box(tuple(q for q, _ in own), tuple(span for _, span in own)))

    @remembered
    def _range(self, box: Box) -> Interval:
        known = {} if self.table or self.others else moves(self.expression, box.quantities)
        if (
            options := box.combinations([name for name in self.symbols if not known.get(name)])
        ) is not None:
            ends = [box.corner(high=high) for high in (False, True)]
            least = {name: ends[move < 0][name] for name, move in known.items() if move}
            most = {name: ends[move > 0][name] for name, move in known.items() if move}
            ends_there = [
                (self.at({**values, **least}), self.at({**values, **most}) if most else None)
                for values in options
            ]
            return Interval(
                min(low for low, _ in ends_there),
                max(low if high is None else high for low, high in ends_there),
            )
        spans = box.intervals | {name: figure.range(box) for name, figure in self.others}
        reached = as_interval(self.expression.evaluate(spans, INTERVAL))
        if not self.table:
            return reached
        within = [value for key, value in self.table if key in reached]
        return Interval(min(within), max(within))


@lru_cache(256)
def moves(expression: Expression, quantities: tuple[HardwareQuantity, ...]) -> Mapping[str, int]:
    """1 or -1 for quantities with which an expression never falls or never rises, else 0."""
    directions = trends(expression, Box.whole(quantities).intervals)
    return {name: directions.get(Symbol(name), 0) for name in expression.symbols}
