"""Figures that follow from the quantities of accelerators, and regions of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.monotonicity import trends
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, exactly
from ithaca.formulations.region import Region
from ithaca.formulations.remembered import remembered


@dataclass(frozen=True)
class Figure:
    """A number that follows from quantities: an expression, perhaps the key of a table."""

    expression: Expression
    """Over quantities and other figures."""
    table: tuple[tuple[Fraction, Fraction], ...] = ()
    """The meaning of values of the expression; empty: they stand for themselves."""
    others: tuple[tuple[str, Figure], ...] = ()
    """The other figures that the expression speaks of, by name."""

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The quantities that the figure follows from."""
        others = dict(self.others)
        return (self.expression.symbols - others.keys()).union(
            *(figure.symbols for figure in others.values())
        )

    def at(self, values: Mapping[str, int | Fraction]) -> Fraction:
        """The figure's value for an accelerator. A `KeyError` if a table has no such entry."""
        known = exactly(values) | {n: figure.at(values) for n, figure in self.others}
        number = Fraction(self.expression.evaluate(known, FRACTION))
        return dict(self.table)[number] if self.table else number

    def range(self, region: Region) -> Interval:
        """Bounds over a region, the tightest where it depends on few quantities in both ways."""
        return self._range(Region(tuple(q for q in region.quantities if q.name in self.symbols)))

    @remembered
    def _range(self, region: Region) -> Interval:
        known = {} if self.table or self.others else moves(self.expression, region)
        if (
            options := region.combinations([name for name in self.symbols if not known.get(name)])
        ) is not None:
            ends = [region.corner(high=high) for high in (False, True)]
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
        spans = region.intervals | {name: figure.range(region) for name, figure in self.others}
        reached = as_interval(self.expression.evaluate(spans, INTERVAL))
        if not self.table:
            return reached
        within = [value for key, value in self.table if key in reached]
        return Interval(min(within), max(within))


def moves(expression: Expression, region: Region) -> Mapping[str, int]:
    """1 or -1 for quantities with which an expression never falls or never rises, whatever part of
    a space a region is, else 0."""
    return _moves(expression, tuple((q.name, q.low, q.high) for q in region.quantities))


@lru_cache(256)
def _moves(expression: Expression, spans: tuple[tuple[str, Any, Any], ...]) -> Mapping[str, int]:
    ranges = {name: Interval(Fraction(low), Fraction(high)) for name, low, high in spans}
    directions = trends(expression, ranges)
    return {name: directions.get(Symbol(name), 0) for name in expression.symbols}
