"""Bar charts: bars with their names and figures above them."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from ithaca.exports.charts.axes import TEXT, TOLD, axis
from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.exports.charts.palette import ROLES, SERIES
from ithaca.files.numbers import number

#: Heights of a bar with a line of words above it or two, of the bar itself, and of what is left
#: below it (pixels).
ONE_LINE, TWO_LINES, THICK, BELOW = 42, 57, 15, 7

#: Most characters of a name and a note on one line.
MOST_WORDS = 42

Layer = dict[str, Any]


def bar_parts(chart: BarChart) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The layers of a bar chart, and notes on its signs."""
    one_line = all(len(bar.name) + len(bar.note) + 2 <= MOST_WORDS for bar in chart.bars)
    step = ONE_LINE if one_line else TWO_LINES
    x: Layer = {"type": "quantitative", "scale": _scale(chart)}
    x["axis"] = axis(chart.x_label, None if chart.line else chart.also)
    down = {"yOffset": (step - THICK) / 2 - BELOW}
    bar: Layer = {"type": "bar", "size": THICK, **down}
    across: Layer = {"type": "tick", "size": THICK + 6, "thickness": 2, **down}
    zero = {"datum": max(0.0, chart.ends[0]) if chart.ends else 0}
    layers = [
        _layer("value", bar, {"x2": zero, "stroke": _own("edge"), "color": _own("fill")}, x),
        _layer("part", bar, {"x2": zero, "color": _own("edge")}, x),
        _layer("mark", across | {"color": ROLES["ink"]}, {}, x),
    ]
    if chart.parts:
        layers.insert(2, _pieces(chart, bar, x))
    layers += _words(one_line, step)
    if chart.line is not None:
        layers += _limit(chart.line, x, across)
    count = len(chart.bars)
    places = {"domain": [*range(count)], "paddingInner": 0, "paddingOuter": 0}
    parts = {
        "height": step * max(count, 1),
        "data": {"values": [_row(at, bar) for at, bar in enumerate(chart.bars)]},
        "encoding": {"y": {"field": "bar", "type": "ordinal", "axis": None, "scale": places}},
        "layer": layers,
    }
    return parts, ()


def _row(at: int, bar: Bar) -> dict[str, Any]:
    """A bar as data: what is absent is left out."""
    pale = bar.part is not None or bar.role == "rest"
    lengths = {"value": bar.value, "part": bar.part, "mark": bar.mark}
    return {
        "bar": at,
        "name": bar.name,
        "note": bar.note,
        "fill": ROLES["rest" if pale else bar.role],
        "edge": ROLES["main" if bar.role == "rest" else bar.role],
        "tip": f"{bar.name}: {bar.note}",
        **{name: length for name, length in lengths.items() if length is not None},
    }


def _layer(field: str, mark: Layer, looks: Layer, x: Layer) -> Layer:
    """Marks at a field of the bars that have it."""
    encoding = {"x": x | {"field": field}, **looks, **TOLD}
    return {
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "mark": mark,
        "encoding": encoding,
    }


def _own(field: str) -> Layer:
    """Colours that the data state."""
    return {"field": field, "scale": None}


def _pieces(chart: BarChart, bar: Layer, x: Layer) -> Layer:
    """The bars' parts, one after the other, each in a colour of its own."""
    rows: list[dict[str, Any]] = []
    for at, each in enumerate(chart.bars):
        start = 0.0
        for name, part in zip(chart.parts, each.parts, strict=False):
            tip = f"{each.name}, {name}: {number(part)} {chart.x_label}"
            rows.append({"bar": at, "piece": name, "from": start, "to": start + part, "tip": tip})
            start += part
    fills = [fill for _, fill in zip(chart.parts, cycle(SERIES), strict=False)]
    scale = {"domain": [*chart.parts], "range": fills}
    names = {"field": "piece", "type": "nominal", "sort": [*chart.parts], "scale": scale}
    chosen = {"type": "point", "fields": ["piece"]}
    return {
        "data": {"values": rows},
        "params": [{"name": "shown", "select": chosen, "bind": "legend"}],
        "mark": bar,
        "encoding": {
            "x": x | {"field": "from"},
            "x2": {"field": "to"},
            "color": names | {"legend": {"columns": 1}},
            "opacity": {"condition": {"param": "shown", "value": 1}, "value": 0.15},
            **TOLD,
        },
    }


def _scale(chart: BarChart) -> dict[str, Any]:
    """The scale of the bars' lengths, from zero or below to what is longest."""
    line = None if chart.line is None else chart.line[0]
    sums = (sum(bar.parts) for bar in chart.bars)
    values = [line, *sums, *(v for bar in chart.bars for v in (bar.value, bar.mark))]
    low, high = (end([0.0, *(v for v in values if v is not None)]) for end in (min, max))
    ends = chart.ends or (1.05 * low, 1.05 * high if high > low else low + 1)
    return {"type": "linear", "domain": [*ends], "nice": False}


def _words(one_line: bool, step: int) -> list[Layer]:
    """Names on the left and notes on the right, above their bars."""
    foot = step / 2 - THICK - BELOW - 4
    text: Layer = {"type": "text", "baseline": "bottom", "fontSize": TEXT, "color": ROLES["ink"]}
    text["limit"] = {"expr": "width - 6"}
    name = {"align": "left", "dx": 3, "dy": foot if one_line else foot - 15}
    note = {"align": "right", "dx": -3, "dy": foot}
    return [
        {"mark": text | look, "encoding": {"x": {"value": place}, "text": {"field": field}}}
        for look, place, field in ((name, 0, "name"), (note, "width", "note"))
    ]


def _limit(line: tuple[float, str], x: Layer, across: Layer) -> list[Layer]:
    """A line across each bar, not across words, and its name above them."""
    place, name = line
    colour, (low, high) = {"color": ROLES["limit"]}, x["scale"]["domain"]
    text = {"type": "text", "align": "right" if 2 * place > low + high else "left", "dy": -3}
    at = {"x": x | {"field": "line"}, "y": {"value": 0}, "text": {"field": "name"}}
    return [
        {"mark": across | colour, "encoding": {"x": x | {"datum": place}}},
        {
            "data": {"values": [{"line": place, "name": name}]},
            "mark": text | {"fontSize": TEXT, "baseline": "bottom"} | colour,
            "encoding": at,
        },
    ]
