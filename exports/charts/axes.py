"""Axes of charts: their ticks, names and legends, with the room that these need (pixels)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

from ithaca.exports.charts.chart import AxisUnit, Chart
from ithaca.exports.charts.drawing import LINE, Drawing, plain
from ithaca.exports.charts.palette import HEAT, ROLES
from ithaca.exports.charts.scale import AxisScale, short

#: Width of every chart, and of about what its axes have of it.
WIDTH, ACROSS = 365.0, 298.0

#: Sizes of text, and of that in legends.
TEXT, SMALL = 12.0, 11.4

#: Width of a character: what it surely fits in, and about what it takes.
SURELY, USUAL = 8.0, 6.6

#: Ticks of an axis over the whole width at most.
ACROSS_TICKS = 4.0

Points = Sequence[tuple[float, float]]

#: The name of a thing in a legend, and what stands for it: shapes in a box of 24 to 10.
Entry = tuple[str, Sequence[tuple[Points, dict[str, Any]]]]


def box(left: float, top: float, width: float, height: float) -> Points:
    """The corners of a rectangle, the first one twice.

    Parameters
    ----------
    left, top : float
        Its upper left corner (pixels).
    width, height : float
        Its sides (pixels).
    """
    right, bottom = left + width, top + height
    return (left, top), (right, top), (right, bottom), (left, bottom), (left, top)


def room(text: str) -> float:
    """The width that a text takes at most."""
    return SURELY * max(map(len, text.split("\n")))


def fitting(text: str, width: float) -> str:
    """A text of a length that surely fits: names may be whole expressions."""
    most = int(width / SURELY)
    return text if len(text) <= most else f"{text[: most - 1]}…"


class Plot(Drawing):
    """A chart under construction, from top to bottom."""

    variables: ClassVar = {colour: f"var(--{role},{colour})" for role, colour in ROLES.items()}

    def __init__(self, chart: Chart, name: str, heading: str = "") -> None:
        super().__init__(name, "both", WIDTH, 0, chart.title, chart.description)
        self.root.set("stroke-linejoin", "round")
        self.root.set("font-family", "sans-serif")
        self.foot = 0.0
        """Below it, nothing is drawn yet."""
        for line in fill(heading, 38, replace_whitespace=False).split("\n") if heading else ():
            self.foot += 1.3 * LINE
            self.words((WIDTH / 2, self.foot), line, 1.15 * TEXT)

    def shape(
        self, points: Points, tip: str = "", inside: ET.Element | None = None, /, **look: Any
    ) -> None:
        """Add a line through points, or a filled shape.

        Parameters
        ----------
        points : sequence of tuple of float, float
            Its corners.
        tip : str, optional
            What to say about it.
        inside : ET.Element, optional
            The group that holds it.
        **look : object
            Attributes of SVG; by default it is not filled.
        """
        path = "M " + " L ".join(f"{plain(float(x))} {plain(float(y))}" for x, y in points)
        drawn = self.add("path", "", inside, d=path, **{"fill": "none"} | look)
        if tip:
            self.add("title", tip, drawn)

    def words(
        self,
        at: tuple[float, float],
        text: str,
        size: float = TEXT,
        anchor: str = "middle",
        turn: int = 0,
        **look: Any,
    ) -> None:
        """Add lines of text.

        Parameters
        ----------
        at : tuple of float, float
            The foot of the first line, where it begins, is centred or ends.
        text : str
            The lines.
        size : float, optional
            The size of the text.
        anchor : str, optional
            ``start``, ``middle`` or ``end``.
        turn : int, optional
            By how many degrees it is turned around its place.
        **look : object
            Attributes of SVG; by default it is ink.
        """
        x, y = at
        if turn:
            look["transform"] = f"rotate({turn} {plain(x)} {plain(y)})"
        look = {"font_size": size, "text_anchor": anchor, "fill": ROLES["ink"]} | look
        for row, line in enumerate(text.split("\n") if text else ()):
            self.add("text", line, x=x, y=y + row * LINE, **look)


@dataclass(frozen=True)
class ChartAxis:
    """One side of a chart: its range, label and ticks."""

    low: float
    high: float
    label: str = ""
    logarithmic: bool = False
    also: AxisUnit | None = None
    most: float = ACROSS_TICKS
    """About how many ticks there is room for."""
    named: Sequence[tuple[float, str]] | None = None
    """Its ticks; None for round values."""
    slanted: bool = False
    """Whether their names are."""
    grid: bool = True

    @cached_property
    def ticks(self) -> list[tuple[float, str]]:
        """Values with their names."""
        if self.named is not None:
            return list(self.named)
        round_ones = AxisScale(self.low, self.high, logarithmic=self.logarithmic).ticks(self.most)
        return [(value, short(value)) for value in round_ones]

    @cached_property
    def other(self) -> ChartAxis | None:
        """The axis in its other unit, if there is one."""
        if self.also is None:
            return None
        factor, most = self.also.factor, 6.0 if self.most > ACROSS_TICKS else 3.0
        ends = self.low * factor, self.high * factor
        return ChartAxis(*ends, self.also.label, self.logarithmic, most=most, grid=False)

    @property
    def room(self) -> float:
        """The width of the longest name of a tick."""
        return max((room(name) for _, name in self.ticks), default=0.0)


def framed(
    plot: Plot, x: ChartAxis, y: ChartAxis, height: float, edge: str = ROLES["soft"]
) -> tuple[AxisScale, AxisScale]:
    """Draw both axes, and where values stand on them.

    Parameters
    ----------
    plot : Plot
        The drawing; its foot is then below the axes.
    x, y : ChartAxis
        What stands along them.
    height : float
        Their height.
    edge : str, optional
        The colour of the frame and of ticks.
    """
    left = 10 + y.room + (1.7 * LINE if y.label else 0)
    right = 10 + (0 if y.other is None else y.other.room + 2 * LINE)
    if x.other is not None:  # what stands at an end reaches beyond it by half
        left, right = (max(side, x.other.room / 2) for side in (left, right))
        plot.foot += 2.8 * LINE
    if x.slanted:
        left, below = max(left, 0.77 * x.room), LINE + 0.65 * x.room
    else:
        left, right = (max(side, x.room / 2) for side in (left, right))
        below = LINE * max((name.count("\n") + 1 for _, name in x.ticks), default=0)
    top = plot.foot + 12
    bottom, end = top + height, WIDTH - right
    across = AxisScale(x.low, x.high, left, end, x.logarithmic)
    up = AxisScale(y.low, y.high, bottom, top, y.logarithmic)
    words: dict[str, Any] = {"size": SMALL, "fill": ROLES["soft"]}
    for axis, foot, away in _both(x, bottom, 1, top):
        place = AxisScale(axis.low, axis.high, left, end, axis.logarithmic)
        for value, name in axis.ticks:
            at = place(value)
            if axis.grid:
                plot.shape(((at, top), (at, bottom)), stroke=ROLES["rule"])
            plot.shape(((at, foot), (at, foot + 4 * away)), stroke=edge)
            down = (at, foot + (LINE if away > 0 else -8))
            turned: dict[str, Any] = {"anchor": "end", "turn": -40} if axis.slanted else {}
            plot.words(down, name, **words, **turned)
        label = foot + below + 1.2 * LINE if away > 0 else foot - 1.7 * LINE
        plot.words(((left + end) / 2, label), axis.label)
    for axis, foot, away in _both(y, left, -1, end):
        place = AxisScale(axis.low, axis.high, bottom, top, axis.logarithmic)
        for value, name in axis.ticks:
            at = place(value)
            if axis.grid:
                plot.shape(((left, at), (end, at)), stroke=ROLES["rule"])
            plot.shape(((foot, at), (foot + 4 * away, at)), stroke=edge)
            plot.words(
                (foot + 7 * away, at + 4), name, **words, anchor="start" if away > 0 else "end"
            )
        beside = foot + away * (axis.room + 0.9 * LINE) + 4
        plot.words((beside, (top + bottom) / 2), axis.label, turn=-90)
    plot.shape(box(left, top, end - left, height), stroke=edge)
    plot.foot = bottom + below + (1.5 * LINE if x.label else 0) + 4
    return across, up


def _both(
    axis: ChartAxis, foot: float, away: int, far: float
) -> list[tuple[ChartAxis, float, int]]:
    """An axis and the one in the other unit, each with its place, and the way out from there."""
    other = [] if axis.other is None else [(axis.other, far, -away)]
    return [(axis, foot, away), *other]


def key(
    plot: Plot,
    place: AxisScale,
    values: Iterable[float],
    label: str,
    also: AxisUnit | None = None,
    most: bool = False,
) -> None:
    """Draw what colours mean below all else, the ends in both units.

    Parameters
    ----------
    plot : Plot
        The drawing.
    place : AxisScale
        The horizontal one.
    values : iterable of float
        The values at both ends, and at the middle.
    label : str
        What the values are, with their unit.
    also : AxisUnit, optional
        Another unit of theirs.
    most : bool, optional
        Whether the most is the best.
    """
    left, wide, top = place.start, place.end - place.start, plot.foot + 8
    strip = plot.add("g", shape_rendering="crispEdges")
    each = wide / len(HEAT)
    for at, colour in enumerate(reversed(HEAT) if most else HEAT):
        plot.shape(box(left + at * each, top, each, 14), "", strip, fill=colour)
    look: dict[str, Any] = {"size": SMALL, "fill": ROLES["soft"]}
    for at, (value, anchor) in enumerate(zip(values, ("start", "middle", "end"), strict=True)):
        text = short(float(f"{value:.4g}"))
        if also is not None:
            text += f"\n{short(float(f'{value * also.factor:.3g}'))} {also.label.split()[0]}"
        plot.words(
            (left + wide * at / 2, top + 14 + LINE),
            text,
            **look,
            anchor=anchor,
        )
    plot.foot = top + 14 + LINE * (3.3 if also else 2.3)
    plot.words((left + wide / 2, plot.foot), fitting(label, ACROSS))


def legend(plot: Plot, entries: Sequence[Entry]) -> None:
    """Name things below the axes, side by side as far as they fit."""
    names = [fitting(name, (WIDTH - 40) * SURELY / USUAL) for name, _ in entries]
    columns = max(1, int(WIDTH / USUAL // (max(map(len, names), default=0) + 6)))
    for at, (name, (_, shapes)) in enumerate(zip(names, entries, strict=True)):
        if at % columns == 0:
            plot.foot += 1.2 * LINE
        left = 6 + at % columns * (WIDTH / columns)
        for points, look in shapes:
            plot.shape([(left + x, plot.foot - 9 + y) for x, y in points], **look)
        plot.words((left + 30, plot.foot), name, SMALL, "start")
