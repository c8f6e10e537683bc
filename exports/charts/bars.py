"""Bar charts: bars with their names and figures above them."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

from ithaca.exports.charts.axes import (
    ACROSS,
    ACROSS_TICKS,
    USUAL,
    WIDTH,
    Tips,
    fitting,
    legend,
    second_axis,
    ticks,
)
from ithaca.exports.charts.chart import BarChart
from ithaca.exports.charts.palette import ROLES, SERIES
from ithaca.files.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of a bar with one line of words above it, and of all of them at most (inches).
BAR_HEIGHT, MOST_HEIGHT = 0.4, 400.0


def bars(chart: BarChart, axes: Axes, tips: Tips) -> float:
    """Draw a bar chart: the height of its axes.

    Parameters
    ----------
    chart : BarChart
        What is shown.
    axes : Axes
        What it is drawn on.
    tips : Tips
        Filled: for each part, by its name in the SVG, the tooltips of its marks.
    """
    from matplotlib.patches import Patch

    rows = range(len(chart.bars))
    one_line = all(len(bar.name) + len(bar.note) + 2 <= ACROSS * USUAL for bar in chart.bars)
    words = 1.0 if one_line else 1.4  # how many times as high a row is
    low, high = -0.02, 0.38 / words
    axes.set_xlabel(fitting(chart.x_label, ACROSS))
    axes.set_ylim(len(chart.bars) - 0.5, -0.65)
    for row, bar in enumerate(chart.bars):
        colour, pale = ROLES[bar.role], bar.part is not None or bar.role == "rest"
        if bar.value is not None:
            outline = ROLES["main"] if bar.role == "rest" else colour
            edge: dict[str, Any] = {
                "align": "edge",
                "height": high - low,
                "edgecolor": outline,
                "linewidth": 0.8,
            }
            whole = axes.barh(row + low, bar.value, color=ROLES["rest"] if pale else colour, **edge)
            whole.patches[0].set_gid(f"bar-{row}")
            tips[f"bar-{row}"] = [f"{bar.name}: {bar.note}"]
            if bar.part is not None:
                axes.barh(row + low, bar.part, color=colour, **edge)
            start = 0.0
            for name, part, fill in zip(chart.parts, bar.parts, cycle(SERIES), strict=False):
                piece = axes.barh(row + low, part, left=start, **{**edge, "color": fill})
                piece.patches[0].set_gid(f"bar-{row} {name}")
                tips[f"bar-{row} {name}"] = [f"{bar.name}, {name}: {number(part)} {chart.x_label}"]
                start += part
        if bar.mark is not None:
            axes.plot(
                [bar.mark] * 2,
                [row + low - 0.09, row + high + 0.09],
                color=ROLES["ink"],
                linewidth=2,
            )
    if chart.ends is not None:
        axes.set_xlim(*chart.ends)
    if chart.line is not None:
        left, right = axes.get_xlim()
        side = "right" if chart.line[0] > (left + right) / 2 else "left"
        for row in rows:  # not across the words
            axes.plot(
                [chart.line[0]] * 2,
                [row + low - 0.04, row + high + 0.04],
                color=ROLES["limit"],
                linestyle="--",
                linewidth=1.2,
                clip_on=False,
            )
        across = axes.get_xaxis_transform()
        axes.text(chart.line[0], 1.0, chart.line[1], ha=side, transform=across, gid="above")
    axes.set_yticks([])
    beside = axes.get_yaxis_transform()
    for row, bar in zip(rows, chart.bars, strict=True):
        above = row + low - 0.1
        name, note = (fitting(text, 0.9 * WIDTH) for text in (bar.name, bar.note))
        # on one line with the name where there is room for both
        axes.text(0, above - (0 if one_line else 0.28), name, transform=beside, va="bottom")
        axes.text(1, above, note, transform=beside, va="bottom", ha="right")
    ticks(axes.xaxis, False, ACROSS_TICKS)
    if chart.line is None:
        second_axis(axes, "top", chart.also, False)
    axes.set_axisbelow(True)
    axes.grid(True, axis="x")
    axes.axvline(0, color=ROLES["soft"], linewidth=0.8)
    axes.spines[:].set_visible(False)
    legend(axes, [Patch(color=fill, label=name) for name, fill in zip(chart.parts, cycle(SERIES))])
    return min(BAR_HEIGHT * words, MOST_HEIGHT / max(len(chart.bars), 1)) * (len(chart.bars) + 0.15)
