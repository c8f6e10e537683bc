"""Bar charts: bars with their names and figures above them."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from ithaca.exports.charts.axes import (
    ACROSS,
    USUAL,
    WIDTH,
    ChartAxis,
    Plot,
    box,
    fitting,
    framed,
    legend,
)
from ithaca.exports.charts.chart import BarChart
from ithaca.exports.charts.drawing import LINE
from ithaca.exports.charts.palette import ROLES, SERIES
from ithaca.files.numbers import number

#: Height of a bar with one line of words above it, and of all of them at most.
BAR_HEIGHT, MOST_HEIGHT = 38.0, 38_000.0


def bars(chart: BarChart, plot: Plot) -> None:
    """Draw a bar chart."""
    one_line = all(len(bar.name) + len(bar.note) + 2 <= ACROSS / USUAL for bar in chart.bars)
    words = 1.0 if one_line else 1.4  # how many times as high a row is
    row = min(BAR_HEIGHT * words, MOST_HEIGHT / max(len(chart.bars), 1))
    line = None if chart.line is None else chart.line[0]
    values = [line, *(v for bar in chart.bars for v in (bar.value, bar.mark))]
    low, high = (end([0.0, *(v for v in values if v is not None)]) for end in (min, max))
    low, high = chart.ends or (1.05 * low, 1.05 * high if high > low else low + 1)
    plot.foot += 0 if line is None else 1.2 * LINE
    also = chart.also if line is None else None
    x = ChartAxis(low, high, fitting(chart.x_label, ACROSS), also=also)
    y = ChartAxis(0, 1, named=(), grid=False)
    across, down = framed(plot, x, y, row * (len(chart.bars) + 0.15), "none")
    left, zero, top = across.start, across(0), down.end
    thick = 0.4 / words * row
    for at, bar in enumerate(chart.bars):
        head = top + (at + 0.63) * row
        colour, pale = ROLES[bar.role], bar.part is not None or bar.role == "rest"
        edge: dict[str, Any] = {"stroke": ROLES["main"] if bar.role == "rest" else colour}
        edge["stroke_width"] = 1
        if bar.value is not None:
            whole = box(zero, head, across(bar.value) - zero, thick)
            tip = f"{bar.name}: {bar.note}"
            plot.shape(whole, tip, fill=ROLES["rest"] if pale else colour, **edge)
            if bar.part is not None:
                plot.shape(box(zero, head, across(bar.part) - zero, thick), fill=colour, **edge)
        start = 0.0
        for name, part, fill in zip(chart.parts, bar.parts, cycle(SERIES), strict=False):
            piece = box(across(start), head, across(start + part) - across(start), thick)
            tip = f"{bar.name}, {name}: {number(part)} {chart.x_label}"
            plot.shape(piece, tip, fill=fill, stroke=fill)
            start += part
        for value, role, dash in ((bar.mark, "ink", "none"), (line, "limit", "5 3")):
            if value is not None:  # not across the words
                ends = ((across(value), head - 3), (across(value), head + thick + 3))
                plot.shape(ends, stroke=ROLES[role], stroke_width=2, stroke_dasharray=dash)
        name, note = (fitting(text, 0.9 * WIDTH) for text in (bar.name, bar.note))
        # on one line with the name where there is room for both
        plot.words((left + 4, head - 5 - (0 if one_line else 14)), name, anchor="start")
        plot.words((across.end, head - 5), note, anchor="end")
    plot.shape(((zero, top), (zero, down.start)), stroke=ROLES["soft"])
    if chart.line is not None:
        anchor = "end" if chart.line[0] > (low + high) / 2 else "start"
        plot.words((across(chart.line[0]), top - 4), chart.line[1], anchor=anchor)
    patch = box(0, 0, 24, 10)
    legend(
        plot,
        [(name, [(patch, {"fill": fill})]) for name, fill in zip(chart.parts, cycle(SERIES))],
    )
