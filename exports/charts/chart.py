"""The contents of charts, apart from how they are drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import zip_longest
from math import isfinite
from typing import Any

import numpy as np

from ithaca.files.messages import printable
from ithaca.files.numbers import number
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.design import Design
from ithaca.formulations.families import profile_of

#: A ratio of largest to smallest value from which an axis is logarithmic.
LOGARITHMIC = 30.0

Coordinate = str | float

#: What is said of a cell of a heat map without a value.
EMPTY = "nothing within the limits"

#: Names of columns, and rows: what a chart shows, in figures.
Figures = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True, slots=True)
class AxisUnit:
    """A second unit that an axis is read in."""

    label: str
    """Its name, such as ``ms at 300 MHz``."""
    factor: float
    """How many of them are one of the axis' own."""


@dataclass(frozen=True)
class Series:
    """Points that belong together."""

    name: str
    """For the legend; empty for none."""
    x: tuple[Coordinate, ...]
    y: tuple[float, ...]
    low: tuple[float | None, ...] = ()
    """Proven lower bound of each y; None where it is proven to be y, or unknown. Empty if that is
    so for all."""
    notes: tuple[str, ...] = ()
    """Remarks about each point; empty for none."""
    labels: tuple[str, ...] = ()
    """Texts beside each point, where there is room; empty for none."""
    colours: tuple[float, ...] = ()
    """A third quantity of each point, shown as its colour; empty for none. All series of a chart
    have it, or none."""
    role: str = ""
    """The colour's role (`palette.ROLES`); empty for the next one of series."""
    form: str = "both"
    """``line``, ``points`` or ``both``."""

    @property
    def bounds(self) -> list[tuple[Coordinate, float, float]]:
        """x, lower bound and y of the points that are not proven."""
        return [
            (x, low, y)
            for x, low, y in zip(self.x, self.low, self.y, strict=False)
            if low is not None
        ]


@dataclass(frozen=True)
class LineChart:
    """Series of points over a number, joined by lines, or over names."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    all_x: tuple[Coordinate, ...] = ()
    """All values of x in order, where there are some without points; empty for those of the
    series."""
    missing: tuple[tuple[Coordinate, str], ...] = ()
    """Where there is no value, and why."""
    bars: str = "not proven: the bar ends at the lower bound"
    """The meaning of bars down from points, where there are some."""
    steps: bool = False
    """Whether lines are stairs, as a front's."""
    colour_label: str = ""
    """The meaning of the points' colours; empty where they have none."""
    log_x: bool = False
    """Which axes are logarithmic."""
    log_y: bool = False
    x_also: AxisUnit | None = None
    """Other units of the axes; None for none."""
    y_also: AxisUnit | None = None
    ends: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Ends of both axes; None for those of what is shown, with a margin."""

    @property
    def x_values(self) -> tuple[Coordinate, ...]:
        """All values of x in order."""
        return self.all_x or tuple(dict.fromkeys(x for series in self.series for x in series.x))

    @property
    def numeric(self) -> bool:
        """Whether x is a number, not a name."""
        return not any(isinstance(x, str) for x in self.x_values)

    @property
    def description(self) -> str:
        """A description of the lines for readers who do not see the chart."""
        return "; ".join(
            f"{s.name or self.y_label}: from {number(s.y[0])} at {_coordinate(s.x[0])} to "
            f"{number(s.y[-1])} at {_coordinate(s.x[-1])}"
            for s in self.series
            if s.y
        )

    def tips(self, series: Series) -> list[str]:
        """The tips on the points of a series, one for each."""
        notes, also = series.notes or ("",) * len(series.y), self.y_also
        return [
            ", ".join(
                filter(
                    None,
                    (
                        series.name,
                        f"{self.x_label} {_coordinate(x)}",
                        f"{self.y_label} {number(y)}{_in(also, y)}",
                        note,
                    ),
                )
            )
            for x, y, note in zip(series.x, series.y, notes, strict=True)
        ]

    @property
    def figures(self) -> Figures:
        """The chart as a table of figures: columns, and a row for each point."""
        rows = [
            (
                _coordinate(x),
                number(y),
                s.name,
                "" if low is None else f"lower bound {number(low)}",
                note,
            )
            for s in self.series
            for x, y, low, note in zip_longest(s.x, s.y, s.low, s.notes)
        ]
        rows += [(_coordinate(x), "–", "", "", reason) for x, reason in self.missing]
        columns = (self.x_label, self.y_label, "series", "bound", "remark")
        kept = [at for at in range(5) if at < 2 or any(row[at] for row in rows)]
        return tuple(columns[at] for at in kept), tuple(
            tuple(row[at] or "" for at in kept) for row in rows
        )


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart, with its note and colours."""

    name: str
    """The thing that the bar stands for."""
    value: float | None
    """Its length; None where there is only a note."""
    note: str
    """Its value in words."""
    role: str = "main"
    """Its colour's role: ``main``, ``rest``, ``answer`` or ``limit`` (`palette.ROLES`)."""
    part: float | None = None
    """How much of it has that colour, the rest being pale; None for all."""
    mark: float | None = None
    """Where to put a mark, such as a lower bound."""
    parts: tuple[float, ...] = ()
    """Lengths of the bar's parts, in the order of the chart's `BarChart.parts`, each in a colour of
    its own; empty for a bar of one colour."""


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars with names and figures, from top to bottom."""

    title: str
    x_label: str
    bars: tuple[Bar, ...]
    line: tuple[float, str] | None = None
    """A line across all bars, and its name."""
    ends: tuple[float, float] | None = None
    """Ends of the axis; None for those of what is shown."""
    also: AxisUnit | None = None
    """Another unit of the axis; None for none."""
    parts: tuple[str, ...] = ()
    """The names of the bars' parts, for the legend."""

    @property
    def description(self) -> str:
        """A description of the bars for readers who do not see the chart."""
        return "; ".join(f"{bar.name}: {bar.note}" for bar in self.bars)

    @property
    def figures(self) -> Figures:
        """The chart as a table of figures: columns, and a row for each bar."""
        return ("", self.x_label, *self.parts), tuple(
            (bar.name, bar.note, *map(number, bar.parts)) for bar in self.bars
        )


@dataclass(frozen=True, eq=False)
class HeatMap:
    """A quantity over two factors, as coloured cells of equal size, since factors need not be
    equally spaced."""

    title: str
    """Texts; ``label`` names the quantity."""
    x_label: str
    y_label: str
    label: str
    x: Integers
    """Values of the two factors, ascending."""
    y: Integers
    values: Floats
    """The quantity, of shape (y, x); NaN where there is none."""
    texts: tuple[tuple[str, ...], ...] = ()
    """Texts in the cells, like ``values``; empty for none."""
    marked: tuple[int, int] | None = None
    """Factors of the cell to mark."""
    mark: str = ""
    most: bool = False
    """Whether the most is the best, not the least."""
    also: AxisUnit | None = None
    """Another unit of the quantity; None for none."""
    rows: tuple[str, ...] = ()
    """Names of the rows in the place of y; empty for its values."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """The names of the rows, the lowest first."""
        return self.rows or tuple(f"{self.y_label} {y}" for y in self.y.tolist())

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value."""
        known = self.values[np.isfinite(self.values)]
        return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)

    @property
    def description(self) -> str:
        """A description of the cells for readers who do not see the chart."""
        empty, (low, high) = int(np.isnan(self.values).sum()), self.ends
        text = (
            f"{self.x.size} by {self.y.size} cells, {empty} of them empty; "
            f"{self.label} from {number(low)} to {number(high)}"
        )
        if self.marked is not None:
            text += (
                f"; {self.mark} is at {self.x_label} {self.marked[0]}, "
                f"{self.y_label} {self.marked[1]}"
            )
        return text

    @property
    def figures(self) -> Figures:
        """The chart as a table of figures, a row for each row of cells; the greatest value of the
        vertical factor first, as in the picture."""
        rows = zip(
            reversed(self.rows or [*map(str, self.y.tolist())]),
            reversed(self.values.tolist()),
            strict=True,
        )
        columns = (f"{self.y_label} ↓ {self.x_label} →", *map(str, self.x.tolist()))
        return columns, tuple(
            (y, *(number(v) if isfinite(v) else EMPTY for v in row)) for y, row in rows
        )


Chart = LineChart | BarChart | HeatMap


def wide_spread(values: Iterable[float]) -> bool:
    """Whether an axis of these values is better logarithmic."""
    finite = [v for v in values if isfinite(v)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) >= LOGARITHMIC


def other_unit(unit: str, clock_mhz: float | None = None) -> AxisUnit | None:
    """The second unit of an axis of metrics, if there is one: ms for cycles, where the clock is
    known, and µJ for pJ."""
    if unit == "cycles" and clock_mhz:
        return AxisUnit(f"ms at {clock_mhz:g} MHz", 1 / (1000 * clock_mhz))
    return AxisUnit("µJ", 1e-6) if unit == "pJ" else None


def metric_unit(text: str, design: Design) -> AxisUnit | None:
    """A second unit for a metric of a design."""
    metric, clock = (
        design.vocabulary.get(text.strip()),
        profile_of(design).attributes.get("clock_mhz"),
    )
    return (
        None if metric is None else other_unit(metric.unit, None if clock is None else float(clock))
    )


def _in(unit: AxisUnit | None, value: float) -> str:
    return "" if unit is None else f" ({number(value * unit.factor)} {unit.label})"


def _coordinate(x: Coordinate) -> str:
    return x.replace("\n", " ") if isinstance(x, str) else number(x)


def printable_chart(chart: Chart) -> Chart:
    """The chart with control characters of its texts escaped: names in files may hold what no
    picture can."""
    escaped: Chart = _printable(chart)
    return escaped


def _printable(part: Any) -> Any:
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, tuple):
        return tuple(map(_printable, part))
    if is_dataclass(part) and not isinstance(part, type):
        return replace(
            part,
            **{
                field.name: _printable(getattr(part, field.name))
                for field in fields(part)
                if field.init
            },
        )
    return part
