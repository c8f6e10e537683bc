"""Line charts: series over a number, or over names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any

from ithaca.exports.charts.axes import (
    ACROSS,
    ACROSS_TICKS,
    SMALL,
    Tips,
    exact_ticks,
    fitting,
    legend,
    name_places,
    second_axis,
    ticks,
)
from ithaca.exports.charts.chart import Coordinate, LineChart
from ithaca.exports.charts.key import key_of
from ithaca.exports.charts.palette import ROLES, SERIES, heat

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Height of the axes (inches).
HEIGHT = 2.9

_MARKERS, _LINES = "os^DvPX*<>", ("-", "--", "-.", ":")


def lines(chart: LineChart, axes: Axes, tips: Tips) -> tuple[float, Axes | None]:
    """Draw a line chart: the height of its axes, and the axes of its colour bar.

    Parameters
    ----------
    chart : LineChart
        What is shown.
    axes : Axes
        What it is drawn on.
    tips : Tips
        Filled: for each part, by its name in the SVG, the tooltips of its marks.
    """
    numeric, key = chart.numeric, None
    axes.set_xlabel(fitting(chart.x_label, ACROSS))
    axes.set_ylabel(fitting(chart.y_label, HEIGHT))
    axes.set_xscale("log" if chart.log_x else "linear")
    axes.set_yscale("log" if chart.log_y else "linear")
    place = _places(chart)
    known = [colour for series in chart.series for colour in series.colours]
    ends: dict[str, Any] = {"cmap": heat(), "vmin": min(known), "vmax": max(known)} if known else {}
    for at, series in enumerate(chart.series):
        colour = ROLES[series.role] if series.role else SERIES[at % len(SERIES)]
        aside = _aside(chart, at)
        x, part = [place[v] + aside for v in series.x], {"gid": f"series-{at}"}
        if series.form != "points" and numeric:
            line = _LINES[at // len(SERIES) % len(_LINES)]
            name = series.name if series.form == "line" else None
            style = "steps-post" if chart.steps else "default"
            axes.plot(x, series.y, line, color=colour, label=name, drawstyle=style, **part)  # type: ignore[arg-type]
        if series.form != "line":
            look: dict[str, Any] = {"c": series.colours, **ends} if known else {"color": colour}
            gid = f"series-{at} points"
            points = axes.scatter(
                x,
                series.y,
                s=22,
                marker=_MARKERS[at % len(_MARKERS)],
                label=series.name or None,
                zorder=3,
                gid=gid,
                **look,
            )
            tips[gid] = chart.tips(series)
            if known and at == len(chart.series) - 1:
                key = key_of(axes, points, chart.colour_label)
        for bound_x, low, y in series.bounds:
            column = [place[bound_x] + aside] * 2
            axes.plot(
                column,
                [low, y],
                color=colour,
                alpha=0.6,
                linewidth=3,
                **part,  # type: ignore[arg-type]
            )
    if any(series.bounds for series in chart.series):
        axes.plot([], [], color=ROLES["soft"], alpha=0.6, linewidth=3, label=chart.bars)
    bottom = axes.get_xaxis_transform()
    for x_value, _ in chart.missing:
        axes.plot(
            place[x_value], 0.02, marker="x", color=ROLES["ink"], transform=bottom, clip_on=False
        )
    for reason in _reasons(chart):
        axes.plot([], [], "x", color=ROLES["ink"], label=reason)
    if chart.ends is not None:
        axes.set_xlim(*chart.ends[0])
        axes.set_ylim(*chart.ends[1])
    ticks(axes.yaxis, chart.log_y, 6)
    second_axis(axes, "right", chart.y_also, chart.log_y)
    second_axis(axes, "top", chart.x_also, chart.log_x)
    if not numeric:
        name_places(axes, [str(x) for x in chart.x_values])
    elif (
        0 < len(chart.x_values) <= 12
        and not chart.steps
        and {series.form for series in chart.series} == {"both"}
    ):
        exact_ticks(axes, [float(x) for x in chart.x_values], chart.log_x)
    else:
        ticks(axes.xaxis, chart.log_x, ACROSS_TICKS)
    axes.grid(True)
    legend(axes, axes.get_legend_handles_labels()[0])
    return HEIGHT, key


def _places(chart: LineChart) -> dict[Coordinate, float]:
    """Where each x stands: names side by side, numbers where they are."""
    return {
        x: float(x) if chart.numeric and not isinstance(x, str) else at
        for at, x in enumerate(chart.x_values)
    }


def _aside(chart: LineChart, at: int) -> float:
    """How far a series' points stand beside their name, which no line orders: equal ones of one
    name are seen side by side."""
    if chart.numeric:
        return 0.0
    step = min(0.9 / max(len(chart.series), 1), 0.1 * len(chart.x_values) / ACROSS)
    return step * (at - (len(chart.series) - 1) / 2)


def _reasons(chart: LineChart) -> list[str]:
    """Why values are missing, briefly where there are many reasons."""
    reasons = list(dict.fromkeys(reason for _, reason in chart.missing))
    return (
        reasons if len(reasons) <= 3 else sorted({reason.rpartition(": ")[2] for reason in reasons})
    )


def label_points(chart: LineChart, axes: Axes) -> None:
    """Write labels beside points where there is room; without it, none.

    The axes must be in their place.
    """
    place = _places(chart)
    labels: list[tuple[float, Any, str]] = [
        (place[x] + _aside(chart, at), y, label)
        for at, series in enumerate(chart.series)
        for x, y, label in zip_longest(series.x, series.y, series.labels, fillvalue="")
        if series.labels
    ]
    if not labels:
        return
    axes.autoscale_view()
    scale, frame = 72 / axes.figure.dpi, axes.get_window_extent()
    marks: Sequence[Any] = [axes.transData.transform((x, y)) * scale for x, y, _ in labels]
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in marks]
    for (x, y, label), (at_x, at_y) in zip(labels, marks, strict=True):
        if not label:
            continue
        wide, high = 0.62 * SMALL * len(label), SMALL * 1.3
        for away, right, up in product((6, 14, 24, 36), (True, False), (True, False)):
            left, bottom = (
                at_x + (away if right else -away - wide),
                at_y + (away / 2 if up else -away / 2 - high),
            )
            box = (left, bottom, left + wide, bottom + high)
            inside = frame.x0 * scale <= box[0] and box[2] <= frame.x1 * scale
            inside &= frame.y0 * scale <= box[1] and box[3] <= frame.y1 * scale
            if inside and not any(
                box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken
            ):
                taken.append(box)
                side = {"ha": "left" if right else "right", "va": "bottom" if up else "top"}
                offset = (away if right else -away, away / 2 if up else -away / 2)
                axes.annotate(
                    label,
                    (x, y),
                    offset,
                    textcoords="offset points",
                    size=SMALL,
                    zorder=4,
                    **side,  # type: ignore[arg-type]
                )
                break
