"""Rows of wide axes that a value leaves, made family by family.

Most rows of a wide axis come of few ways to cut its loop, each with all widths of ports and packs.
Rows that agree in their first quantities are a family: their columns lie in intervals, and where
the bound of these with the whole of the other axes is above the value, none of them is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import inf
from typing import Any

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.formulations.algebra.expression import Evaluation, Expression
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.monotonicity import bounds as bounds_of
from ithaca.formulations.algebra.monotonicity import rising
from ithaca.formulations.algebra.number_systems import INTERVAL, NumberSystem
from ithaca.formulations.problem import Problem, SymbolicProblem
from ithaca.formulations.space import Axis, Quantity, QuantityKind, Rows, Sieve
from ithaca.solver.row_bounds import Bounds, RowSource
from ithaca.solver.tables.column import Columns
from ithaca.solver.tables.frame import lower_problem, saturated
from ithaca.solver.tables.lean import Lean, lessened
from ithaca.solver.tables.sources import piece_sources
from ithaca.solver.tables.table import CandidateTable, Ends, Part, ends_of, joined, picked, pieces

#: Values of columns that are kept while the ends of all of them are looked for (32 MB).
MOST_KEPT = 1 << 22

#: Families bounded at once: their intervals stay in the cache.
PIECE = 1 << 13

#: Rows that are bounded together before each is, and how many they are on average where that pays.
BLOCK, FEW = 32, 8

#: Intervals of doubles, one for each entry of arrays.
SPANS = NumberSystem(
    "spans",
    lambda value: Interval(float(value), float(value)),
    INTERVAL.ceil_div,
    INTERVAL.maximum,
    INTERVAL.minimum,
    square=INTERVAL.square,
)

#: Makes tables of axes from bounds, axes, sources and a value.
Tables = Callable[
    [Bounds, Sequence[Axis], Sequence[RowSource], Fraction], list[CandidateTable] | None
]


@dataclass(frozen=True)
class Made:
    """Rows of an axis that a source makes."""

    ends: Ends
    """The smallest and the largest value of their columns."""
    pieces: Iterable[Part]
    """The rows, to be gone through once."""


def with_wide(
    bounds: Bounds,
    axes: Sequence[Axis],
    sources: Sequence[RowSource],
    whole: Sequence[CandidateTable | None],
    value: Fraction,
) -> list[CandidateTable] | None:
    """The tables of all axes, of wide ones the rows that a value leaves if the others are within
    their ends; None where an axis has none.

    Parameters
    ----------
    bounds : Bounds
        The bounds.
    axes : sequence of Axis
        The axes.
    sources : sequence of RowSource
        What makes the rows of each; those of wide axes are made twice where they are many, and
        never all kept.
    whole : sequence of CandidateTable or None
        All rows of each axis; None: it is wide.
    value : Fraction
        The largest value of the objective.
    """
    if not all(table is None or table.count for table in whole):
        return None
    wide = [number for number, table in enumerate(whole) if table is None]
    ends = [
        _around(bounds, axis) if t is None else t.ends for axis, t in zip(axes, whole, strict=True)
    ]
    made = dict[int, Made]()

    def order(number: int) -> tuple[bool, int]:
        """Axes of which nothing is known come first: it is of use to the others."""
        known = bool(np.isfinite(ends[number]).all())
        return known, max(high for _, high in axes[number].ranges.values())

    for number in sorted(wide, key=order):
        families = Families(bounds, axes, number, tuple(ends), value)
        made[number] = _made(families, sources[number])
        ends[number] = made[number].ends
        if (low := ends[number][0]).size and low.min() == inf:  # the others need not be made
            return None

    def part(number: int) -> CandidateTable:
        """The rows of a wide axis that are left in view of what is left of the others."""
        families = Families(bounds, axes, number, ends, value)
        parts = joined([*map(families.open_rows, made[number].pieces)])
        return CandidateTable(axes[number], families.columns.columns, *parts)

    return [part(number) if table is None else table for number, table in enumerate(whole)]


def sources_of_wide(
    bounds: Bounds, axes: Sequence[Axis], value: Fraction, tables_of: Tables
) -> list[RowSource] | None:
    """The sources of rows of axes, of wide ones those that some that waste nothing stand for; None
    where an axis has none that a value leaves.

    Parameters
    ----------
    bounds : Bounds
        Bounds that never fall as tiles of wide axes grow.
    axes : sequence of Axis
        The axes.
    value : Fraction
        The largest value of the objective.
    tables_of : callable
        Makes the tables of rows that sources give and a value leaves.
    """
    lean = bounds.lean(axes)
    few = tables_of(bounds, axes, [*map(rows_of, axes, lean)], value)
    if few is None:
        return None
    return [
        partial(_once if own is None else own.like, dict(table.rows))
        for own, table in zip(lean, few, strict=True)
    ]


def rows_of(axis: Axis, few: Lean | None) -> RowSource:
    """The source of the rows of an axis, or of few that stand for all."""
    return axis.rows if few is None else few.rows


def _once(rows: Rows, left: Sieve | None = None) -> Iterator[Rows]:
    yield rows


def rising_bounds(problem: Problem, axes: Sequence[Axis], checkpoint: Callable[[], None]) -> Bounds:
    """Bounds below those of a problem that never fall as tiles of wide axes grow.

    Parameters
    ----------
    problem : Problem
        The problem.
    axes : sequence of Axis
        Its axes.
    checkpoint : callable
        Called now and then; what it raises ends the work.
    """
    symbolic, ranges = problem.symbolic(), problem.intervals
    names = frozenset[str]().union(*map(lessened, axes))
    low = partial(rising, names=names, ranges=ranges)
    constraints = tuple(
        (e if saturated(e, bound, ranges) is not e else low(e), bound)
        for e, bound in symbolic.constraints
    )
    instead = SymbolicProblem(low(symbolic.objective), constraints, ())
    return Bounds(lower_problem(problem, poll, instead), checkpoint)


@dataclass(frozen=True)
class Families:
    """Families of rows of an axis, of which some are in no configuration of at most a value."""

    bounds: Bounds
    """The bounds."""
    axes: Sequence[Axis]
    """All axes."""
    number: int
    """The number of the axis."""
    ends: Sequence[Ends]
    """The smallest and the largest value of every axis' columns."""
    value: Fraction
    """The largest value of the objective."""

    @cached_property
    def columns(self) -> Columns:
        """The columns of the axis."""
        axis = self.axes[self.number]
        return Columns(self.bounds.columns(axis), axis)

    def left(self, rows: Rows) -> Rows:
        """Rows of the first quantities of the axis, without those of which no extension is left.

        Parameters
        ----------
        rows : Rows
            The rows, at least of one quantity.
        """
        axis, count = self.axes[self.number], next(iter(rows.values())).size
        later = axis.quantities[len(rows) :]
        if not count or any(self.columns.rounds):
            return rows
        rows = self._blocks(rows)
        # what follows from a row does not multiply it, and may rule it out
        if later[0].name in axis.definitions:
            return rows
        left = [
            self._open(later, part, {n: as_interval(v.astype(np.float64)) for n, v in part.items()})
            for part in pieces(rows, PIECE)
        ]
        return _only(rows, np.concatenate(left))

    def _blocks(self, rows: Rows) -> Rows:
        """Rows without blocks of neighbours, which differ in the last quantity alone, of which no
        extension is left; all of them where neighbours are few."""
        *others, last = rows.values()
        new = np.zeros(last.size, bool)
        new[:1] = True
        for column in others:
            new[1:] |= column[1:] != column[:-1]
        place = np.arange(last.size)
        starts = np.flatnonzero((place - np.maximum.accumulate(place * new)) % BLOCK == 0)
        if last.size < FEW * starts.size:
            return rows
        spans = {
            name: Interval(
                *(
                    end.reduceat(values, starts).astype(np.float64)
                    for end in (np.minimum, np.maximum)
                )
            )
            for name, values in rows.items()
        }
        open_ = self._open(self.axes[self.number].quantities[len(rows) :], {}, spans)
        return _only(rows, np.repeat(open_, np.diff(starts, append=last.size)))

    def _open(self, later: Sequence[Quantity], rows: Rows, spans: dict[str, Interval]) -> Mask:
        """A mask of what may have an extension that is left.

        Parameters
        ----------
        later : sequence of Quantity
            The quantities that are not fixed.
        rows : Rows
            The values of the others, where they are single ones.
        spans : dict of str to Interval
            What the others are between.
        """
        axis, count = self.axes[self.number], next(iter(spans.values())).low.size
        some = np.ones(count, bool)
        for quantity in later:
            spans[quantity.name], possible = _span(axis, quantity, rows, spans)
            some &= possible
        within = _within(self.columns, spans, count)
        return some & (self._bounded(within) | ~_certain(within))

    def open_rows(self, part: Part) -> Part:
        """Rows, out of some, that a configuration of at most the value may have."""
        rows, values = part
        left = self._bounded((values, values))
        return _only(rows, left), picked(values, left)

    def _bounded(self, spans: tuple[Floats, Floats]) -> Mask:
        """A mask of what may be left, by what its columns are between; all of it where nothing is
        known of another axis."""
        others = (own for number, own in enumerate(self.ends) if number != self.number)
        if not all(np.isfinite(end).all() for own in others for end in own):
            return np.ones(spans[0].shape[1], bool)
        columns = [self.bounds.columns(each) for each in self.axes]
        sources = piece_sources(self.bounds.lowered.bounds, columns, self.ends, self.number, spans)
        return self.bounds.open(sources, spans[0].shape[1], self.value)


def _span(
    axis: Axis, quantity: Quantity, rows: Rows, spans: dict[str, Interval]
) -> tuple[Interval, Mask | bool]:
    """The interval of a later quantity of some rows, and which of them it has a value for.

    Parameters
    ----------
    axis : Axis
        The axis.
    quantity : Quantity
        The quantity.
    rows : Rows
        The rows of quantities before it.
    spans : dict of str to Interval
        What all quantities before it are between.
    """
    name, high = quantity.name, quantity.high
    if name in axis.definitions:
        return as_interval(axis.definitions[name].evaluate(spans, SPANS)), True
    single = not isinstance(high, Expression) or high.symbols <= rows.keys()
    if quantity.kind is QuantityKind.POWER_OF_TWO and rows and single:
        links = [e for e in axis.links if name in e.symbols and e.symbols <= {*rows, name}]
        least, most = np.full((2, next(iter(rows.values())).size), [[inf], [-inf]])
        for option in axis.options(name):
            legal = quantity.allows(own := {**rows, name: option})
            for link in links:
                legal = link.holds(own) & legal
            least = np.where(legal, np.minimum(least, option), least)
            most = np.where(legal, np.maximum(most, option), most)
        possible = least <= most
        return Interval(np.where(possible, least, 1.0), np.where(possible, most, 1.0)), possible
    end = as_interval(high.evaluate(spans, SPANS)).high if isinstance(high, Expression) else high
    return Interval(float(quantity.low), np.maximum(end, float(quantity.low))), True


def _only(rows: Rows, keep: Mask) -> Rows:
    return rows if keep.all() else {name: values[keep] for name, values in rows.items()}


def _within(columns: Columns, spans: dict[str, Interval], count: int) -> tuple[Floats, Floats]:
    """Ends of columns for rows whose quantities have ends, right to a few units in the last place;
    shape (columns, rows) each. None of the columns rounds (`Columns.rounds`).

    What is known to be no less than 0 is so, whatever intervals lose: bounds rely on it, and the
    product of two ends below 0 would be no lower bound.

    Parameters
    ----------
    columns : Columns
        The columns.
    spans : dict of str to Interval
        What the quantities of every row are between.
    count : int
        The number of rows.
    """
    low, high = np.empty((2, len(columns.columns), count))
    at = Evaluation(spans, SPANS)
    for place, column in enumerate(columns.columns):
        try:
            own: Any = as_interval(at(column.expression))
        except ZeroDivisionError:
            own = Interval(-inf, inf)
        low[place] = own.low if column.signed else np.maximum(own.low, 0.0)
        high[place] = own.high
    return low, high


def _certain(spans: tuple[Floats, Floats]) -> Mask:
    """A mask of rows with ends that bounds may be computed from: products of infinite ones are no
    bounds."""
    return np.asarray(np.isfinite(spans).all(axis=(0, 1)))


def _around(bounds: Bounds, axis: Axis) -> Ends:
    """Ends of the columns of an axis, whatever its row is, right to a few units in the last place;
    infinite ends of all where one divides by what may be 0."""
    columns = bounds.columns(axis)
    ranges = {n: Interval(Fraction(low), Fraction(high)) for n, (low, high) in axis.ranges.items()}
    spans = [bounds_of(column.expression, ranges) for column in columns]
    known = [span for span in spans if span is not None]
    if len(known) < len(columns):
        ends = np.full(len(columns), inf)
        return -ends, ends
    lows = [
        float(span.low if column.signed else max(span.low, 0))
        for column, span in zip(columns, known, strict=True)
    ]
    return np.array(lows), np.array([float(span.high) for span in known])


def _made(families: Families, source: RowSource) -> Made:
    """The rows of an axis that a value leaves if the others are within their ends, kept if they are
    few."""
    columns, again = families.columns, partial(_pieces, families, source)
    low, high = np.full((2, len(columns.columns)), [[inf], [-inf]])
    kept, size = list[Part](), 0
    for rows, values in again():
        own = ends_of(values)
        low, high = np.minimum(low, own[0]), np.maximum(high, own[1])
        size += values.size
        kept = [*kept, (rows, values)] if size <= MOST_KEPT else []
    return Made((low, high), kept if size <= MOST_KEPT else again())


def _pieces(families: Families, source: RowSource) -> Iterator[Part]:
    """The rows that are left of those that a source makes, some at a time."""
    made = families.bounds.pieces(families.columns, partial(source, families.left))
    return map(families.open_rows, made)
