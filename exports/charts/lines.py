"""Line charts: series over a number, or over names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import log
from typing import Any

from ithaca.exports.charts.axes import SMALL, TOLD, axis, scale
from ithaca.exports.charts.chart import Coordinate, LineChart
from ithaca.exports.charts.palette import HEAT, ROLES, SERIES

#: Height of the axes (pixels).
HEIGHT = 280

#: Marks and strokes of series.
SHAPES = ("circle", "diamond", "triangle-up", "square", "triangle-down", "cross", "triangle-right")
DASHES = ([1, 0], [6, 3], [6, 3, 1.5, 3], [1.5, 2])

#: Most values of an axis that are ticks themselves.
MOST_TICKS = 12

#: How near a label may be to another, as shares of the axes.
NEAR = (0.1, 0.06)

#: On phones, as shares of the axis: the width of a letter, the distance of a label from its point,
#: and the room beyond points where the axis ends by itself.
LETTER, APART, ROOM = 0.026, 0.033, 0.1


def line_parts(chart: LineChart) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The layers of a line chart, and notes on its signs."""
    numeric, keys = chart.numeric, _keys(chart)
    kept = _labelled(chart)
    rows = [
        _without_nothing(
            {
                "series": key,
                "order": at,
                "x": x,
                "y": y,
                "low": low,
                "tip": tip,
                "label": label if (key, at) in kept else None,
                "before": kept.get((key, at)) or None,
                "colour": colour,
                "line": numeric and series.form != "points",
                "dot": series.form != "line",
            }
        )
        for key, series in zip(keys, chart.series, strict=True)
        for at, (x, y, low, tip, label, colour) in enumerate(
            zip_longest(
                series.x, series.y, series.low, chart.tips(series), series.labels, series.colours
            )
        )
    ]
    heights = [v for s in chart.series for v in (*s.y, *(low for _, low, _ in s.bounds))]
    up: dict[str, Any] = {
        "field": "y",
        "type": "quantitative",
        "scale": scale(heights, chart.log_y, chart.ends and chart.ends[1]),
        "axis": axis(chart.y_label, chart.y_also, upright=True, numbers=heights),
    }
    encoding: dict[str, Any] = {"x": _across(chart), "y": up, **_looks(chart, keys)}
    if not numeric and len(keys) > 1:
        encoding["xOffset"] = {"field": "series", "sort": keys}
    layers: list[dict[str, Any]] = []
    if any(series.bounds for series in chart.series):
        mark = {"type": "rule", "strokeWidth": 4, "opacity": 0.6}
        ends = {"y": up | {"field": "low"}, "y2": {"field": "y"}}
        layers.append(
            {"transform": [_only("isValid(datum.low)")], "mark": mark, "encoding": ends | TOLD}
        )
    if numeric and any(series.form != "points" for series in chart.series):
        curve = "step-after" if chart.steps else "linear"
        order = {"order": {"field": "order", "type": "quantitative"}}
        named = {"tooltip": {"field": "series"}, "shape": None}
        mark = {"type": "line", "interpolate": curve, "clip": True}
        layers.append({"transform": [_only("datum.line")], "mark": mark, "encoding": order | named})
    mark = {"type": "point", "filled": True, "size": 55, "opacity": 1}
    layers.append({"transform": [_only("datum.dot")], "mark": mark, "encoding": TOLD})
    if kept:
        text: dict[str, Any] = {"type": "text", "dy": -6, "fontSize": SMALL}
        text["dx"] = {"expr": "datum.before ? -8 : 8"}
        text["align"] = {"expr": "datum.before ? 'right' : 'left'"}
        words = {"text": {"field": "label"}, "color": {"value": ROLES["ink"]}, "shape": None}
        layers.append(
            {"transform": [_only("isValid(datum.label)")], "mark": text, "encoding": words}
        )
    if chart.missing:
        layers.append(_crosses(chart))
    layers[0]["params"] = _params(chart, numeric)
    parts = {"height": HEIGHT, "data": {"values": rows}, "encoding": encoding, "layer": layers}
    bars = (chart.bars,) if any(series.bounds for series in chart.series) else ()
    return parts, (*bars, *(f"×: {reason}" for reason in _reasons(chart)))


def _keys(chart: LineChart) -> list[str]:
    """The names of series, made different; of those without one, spaces."""
    keys: list[str] = []
    for series in chart.series:
        key = series.name or " "
        while key in keys:
            key += " "
        keys.append(key)
    return keys


def _across(chart: LineChart) -> dict[str, Any]:
    """The horizontal place of points."""
    values = chart.x_values
    if not chart.numeric:
        split = {"title": chart.x_label, "labelExpr": "split(datum.label, '\\n')"}
        long = sum(len(str(x)) + 1 for x in values) > 60 and not any("\n" in str(x) for x in values)
        more = {"labelAngle": -40, "labelLimit": 130} if long else {"labelAngle": 0}
        domain = {"domain": [*values]}
        return {
            "field": "x",
            "type": "nominal",
            "scale": domain,
            "axis": split | more | {"grid": True, "labelOverlap": True},
        }
    numbers = [float(x) for x in values]
    labels = any(label for series in chart.series for label in series.labels)
    made: dict[str, Any] = {
        "field": "x",
        "type": "quantitative",
        "scale": scale(numbers, chart.log_x, chart.ends and chart.ends[0], 26 if labels else 12),
    }
    exact = {series.form for series in chart.series} == {"both"} and not chart.steps
    ticks: dict[str, Any] = {}
    if exact and len(numbers) <= MOST_TICKS and chart.x_also is None:
        ticks = {
            "values": numbers,
            "labelOverlap": "greedy",
            "labelExpr": "format(datum.value, ',')",
        }
    return made | {"axis": axis(chart.x_label, chart.x_also, numbers=numbers, **ticks)}


def _looks(chart: LineChart, keys: Sequence[str]) -> dict[str, Any]:
    """The colour, the mark and the stroke of each series; a third quantity as colour."""
    named = [key for key, series in zip(keys, chart.series, strict=True) if series.name]
    legend = {"values": named} if named else None
    colours = [
        ROLES[series.role] if series.role else SERIES[at % len(SERIES)]
        for at, series in enumerate(chart.series)
    ]
    shapes = [SHAPES[at % len(SHAPES)] for at in range(len(keys))]
    by_series = {"field": "series", "type": "nominal", "legend": legend}
    looks: dict[str, Any] = {
        "shape": by_series | {"scale": {"domain": [*keys], "range": shapes}},
        "color": by_series | {"scale": {"domain": [*keys], "range": colours}},
    }
    if chart.colour_label:
        looks["color"] = {
            "field": "colour",
            "type": "quantitative",
            "scale": {"range": [*HEAT], "zero": False, "nice": False},
            "legend": {
                "title": chart.colour_label,
                "direction": "horizontal",
                "orient": "top",
            },
        }
    if len(keys) > len(SERIES):
        dashes = [DASHES[at // len(SERIES) % len(DASHES)] for at in range(len(keys))]
        looks["strokeDash"] = by_series | {"scale": {"domain": [*keys], "range": dashes}}
    if len(named) > 1:
        looks["opacity"] = {"condition": {"param": "shown", "value": 1}, "value": 0.08}
    return looks


def _params(chart: LineChart, numeric: bool) -> list[dict[str, Any]]:
    """Parameters that readers change: the part that is seen, and series by their names below."""
    sides = ["x", "y"] if numeric else ["y"]
    select = {"type": "interval", "encodings": sides, "zoom": "wheel![event.shiftKey]"}
    params: list[dict[str, Any]] = [{"name": "part", "select": select, "bind": "scales"}]
    if sum(bool(series.name) for series in chart.series) > 1:
        names = {"type": "point", "fields": ["series"]}
        params.append({"name": "shown", "select": names, "bind": "legend"})
    return params


def _crosses(chart: LineChart) -> dict[str, Any]:
    """Crosses at the foot where there is no value."""
    rows = [{"x": x, "tip": f"{x}: {reason}"} for x, reason in chart.missing]
    mark = {"type": "point", "shape": "cross", "angle": 45, "size": 90, "filled": True}
    encoding = {
        "y": {"value": {"expr": "height - 8"}},
        "color": {"value": ROLES["ink"]},
        "shape": {"value": "cross"},
        "opacity": {"value": 1},
        **TOLD,
    }
    if not chart.numeric and len(chart.series) > 1:
        encoding["xOffset"] = {"value": 0}
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _reasons(chart: LineChart) -> list[str]:
    """Reasons why values are missing, briefly where there are many."""
    reasons = list(dict.fromkeys(reason for _, reason in chart.missing))
    return (
        reasons if len(reasons) <= 3 else sorted({reason.rpartition(": ")[2] for reason in reasons})
    )


def _labelled(chart: LineChart) -> dict[tuple[str, int], bool]:
    """The points whose labels have room: none is near one that is kept before, of a later series or
    of its own; and whether the label stands before the point, as it would end outside on phones."""
    places = [
        (key, at, x, y, label)
        for key, series in reversed([*zip(_keys(chart), chart.series, strict=True)])
        for at, (x, y, label) in enumerate(zip(series.x, series.y, series.labels, strict=False))
        if label
    ]
    ends = chart.ends or ((), ())
    shares = [
        _shares([_order(chart, x) for _, _, x, *_ in places], ends[0], chart.log_x),
        _shares([y for *_, y, _ in places], ends[1], chart.log_y),
    ]
    taken: list[tuple[float, float]] = []
    kept: dict[tuple[str, int], bool] = {}
    room = 0 if chart.ends else ROOM
    for (key, at, _, _, label), *place in zip(places, *shares, strict=True):
        if not any(abs(place[0] - x) < NEAR[0] and abs(place[1] - y) < NEAR[1] for x, y in taken):
            taken.append((place[0], place[1]))
            kept[key, at] = place[0] + APART + LETTER * len(label) > 1 + room
    return kept


def _order(chart: LineChart, x: Coordinate) -> float:
    return float(x) if chart.numeric else float(chart.x_values.index(x))


def _shares(values: Sequence[float], ends: Sequence[float], logarithmic: bool) -> list[float]:
    """Places between the ends of an axis, from 0 to 1; by default its least value and largest."""
    both = [*values, *ends]
    if logarithmic and min(both, default=0) > 0:
        both = [*map(log, both)]
    low, high = min(both, default=0), max(both, default=1)
    return [(value - low) / (high - low or 1) for value in both[: len(values)]]


def _only(condition: str) -> dict[str, str]:
    return {"filter": condition}


def _without_nothing(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
