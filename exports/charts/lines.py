"""Line charts: series over a number, or over names."""

from __future__ import annotations

from itertools import pairwise, product, zip_longest
from math import cos, pi, sin
from typing import Any

from ithaca.exports.charts.axes import (
    ACROSS,
    SMALL,
    ChartAxis,
    Entry,
    Plot,
    Points,
    fitting,
    framed,
    key,
    legend,
    room,
)
from ithaca.exports.charts.chart import LineChart
from ithaca.exports.charts.palette import ROLES, SERIES, heat
from ithaca.exports.charts.scale import AxisScale, spread

#: Height of the axes.
HEIGHT = 278.0

#: Marks of series: how many corners, and by how many half steps between these they are turned.
_MARKS = ((16, 0), (4, 1), (3, 0), (4, 0), (3, 1), (5, 0), (6, 0))
_DASHES = ("none", "6 3", "6 3 1.5 3", "1.5 2")

#: What a line down to a lower bound looks like.
_BOUND: dict[str, Any] = {"opacity": 0.6, "stroke_width": 4}


def lines(chart: LineChart, plot: Plot) -> None:
    """Draw a line chart."""
    numeric, names = chart.numeric, [str(x) for x in chart.x_values]
    heights = [v for s in chart.series for v in (*s.y, *(low for _, low, _ in s.bounds))]
    ends = chart.ends or (
        spread(map(float, chart.x_values), chart.log_x) if numeric else (-0.5, len(names) - 0.5),
        spread(heights, chart.log_y),
    )
    slanted = not numeric and sum(room(name) + 8 for name in names) > ACROSS
    x = ChartAxis(
        *ends[0],
        fitting(chart.x_label, ACROSS),
        chart.log_x,
        chart.x_also,
        named=_exact(chart) if numeric else _named(names, slanted),
        slanted=slanted,
    )
    y = ChartAxis(*ends[1], fitting(chart.y_label, HEIGHT), chart.log_y, chart.y_also, 6)
    across, up = framed(plot, x, y, HEIGHT)
    known = [colour for series in chart.series for colour in series.colours]
    share = AxisScale(min(known), max(known)) if known else AxisScale(0, 1)
    entries: list[Entry] = []
    marks: list[tuple[float, float, str]] = []
    for at, series in enumerate(chart.series):
        colour = ROLES[series.role] if series.role else SERIES[at % len(SERIES)]
        group, handles = (
            plot.add("g", classes=f"series-{at}"),
            list[tuple[Points, dict[str, Any]]](),
        )
        places = _placed(chart, at, across, up)
        if series.form != "points" and numeric:
            dash = _DASHES[at // len(SERIES) % len(_DASHES)]
            line = {"stroke": colour, "stroke_width": 2, "stroke_dasharray": dash}
            stairs = [(other[0], one[1]) for one, other in pairwise(places)]
            corners = [p for pair in zip_longest(places, stairs) for p in pair if p]
            if places:
                plot.shape(corners if chart.steps else places, "", group, **line)
            handles.append((((0, 5), (24, 5)), line))
        for bound_x, low, high in series.bounds:
            middle, _ = places[series.x.index(bound_x)]
            down = ((middle, up(low)), (middle, up(high)))
            plot.shape(down, "", group, stroke=colour, **_BOUND)
        if series.form != "line":
            tips, fills = chart.tips(series), [heat(share(colour)) for colour in series.colours]
            for (left, top), tip, fill, label in zip_longest(places, tips, fills, series.labels):
                plot.shape(_mark(at, left, top), tip, group, fill=fill or colour)
                marks.append((left, top, label or ""))
            handles.append((_mark(at, 12, 5), {"fill": fills[-1] if fills else colour}))
        if series.name:
            entries.append((series.name, handles))
    if any(series.bounds for series in chart.series):
        entries.append((chart.bars, [(((0, 5), (24, 5)), {"stroke": ROLES["soft"], **_BOUND})]))
    cross: dict[str, Any] = {"stroke": ROLES["ink"], "stroke_width": 1.4}
    for value, _ in chart.missing:
        place = across(float(value) if numeric else chart.x_values.index(value))
        for stroke in _cross(place, up.start - 6):
            plot.shape(stroke, **cross)
    entries += [(reason, [(s, cross) for s in _cross(12, 5)]) for reason in _reasons(chart)]
    _label(plot, marks, across, up)
    if known:
        key(plot, across, (share.low, (share.low + share.high) / 2, share.high), chart.colour_label)
    legend(plot, entries)


def _named(names: list[str], slanted: bool) -> list[tuple[float, str]]:
    """Names side by side; where they are slanted, these need room, too: of very many, some are
    written."""
    step = -(-len(names) // 28) or 1
    texts = [fitting(name, 134) if slanted and "\n" not in name else name for name in names]
    return [(float(at), texts[at]) for at in range(0, len(names), step)]


def _exact(chart: LineChart) -> list[tuple[float, str]] | None:
    """The values themselves, if they are few; without those whose names would touch that of a
    greater one."""
    values = sorted(map(float, chart.x_values), reverse=True)
    both = {series.form for series in chart.series} == {"both"}
    if not 0 < len(values) <= 12 or chart.steps or not both:
        return None
    place = AxisScale(values[-1], values[0], 0.0, 0.9 * ACROSS, chart.log_x)
    kept: list[tuple[float, str]] = []
    for value in values:
        name = f"{value:,g}"
        if not kept or place(kept[-1][0]) - place(value) > room(f"{name} "):
            kept.append((value, name))
    return kept


def _placed(
    chart: LineChart, at: int, across: AxisScale, up: AxisScale
) -> list[tuple[float, float]]:
    """The places of the points of a series.

    Beside their name, which no line orders, so that equal ones of one name are seen side by side.
    """
    aside, order = 0.0, {x: place for place, x in enumerate(chart.x_values)}
    if not chart.numeric:
        step = min(0.9 / max(len(chart.series), 1), 0.03 * len(order))
        aside = step * (at - (len(chart.series) - 1) / 2)
    series = chart.series[at]
    return [
        (across((float(x) if chart.numeric else order[x]) + aside), up(y))
        for x, y in zip(series.x, series.y, strict=True)
    ]


def _mark(at: int, x: float, y: float) -> Points:
    """The corners of the mark of a series, around a point."""
    corners, turn = _MARKS[at % len(_MARKS)]
    angles = [(2 * corner + turn) * pi / corners for corner in range(corners)]
    return [(x + 3.7 * sin(angle), y - 3.7 * cos(angle)) for angle in angles]


def _cross(x: float, y: float) -> list[Points]:
    """The two strokes of a cross."""
    return [((x - 4, y - 4 * side), (x + 4, y + 4 * side)) for side in (1, -1)]


def _reasons(chart: LineChart) -> list[str]:
    """Reasons why values are missing, briefly where there are many."""
    reasons = list(dict.fromkeys(reason for _, reason in chart.missing))
    return (
        reasons if len(reasons) <= 3 else sorted({reason.rpartition(": ")[2] for reason in reasons})
    )


def _label(
    plot: Plot, marks: list[tuple[float, float, str]], across: AxisScale, up: AxisScale
) -> None:
    """Write labels beside points where there is room; without it, none."""
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y, _ in marks]
    for x, y, label in marks:
        wide, high = 0.62 * SMALL * len(label), SMALL * 1.3
        for away, right, above in product((8, 19, 32, 48), (True, False), (True, False)):
            left = x + (away if right else -away - wide)
            top = y + (-away / 2 - high if above else away / 2)
            box = (left, top, left + wide, top + high)
            inside = across.start <= left and box[2] <= across.end
            inside &= up.end <= top and box[3] <= up.start
            if (
                label
                and inside
                and not any(
                    box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3]
                    for t in taken
                )
            ):
                taken.append(box)
                anchor = "start" if right else "end"
                plot.words((x + (away if right else -away), top + SMALL), label, SMALL, anchor)
                break
