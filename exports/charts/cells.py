"""Heat maps: cells coloured by a quantity, with what it is."""

from __future__ import annotations

from dataclasses import replace
from json import dumps
from math import ceil, isfinite, log
from typing import Any

import numpy as np

from ithaca.exports.charts.axes import TOLD, short
from ithaca.exports.charts.chart import EMPTY, HeatMap
from ithaca.exports.charts.palette import HEAT, ROLES, heat, ink

#: Sizes of the text in a cell, the largest and the least that is written (pixels).
CELL_TEXT, LEAST_TEXT = 10.0, 6.0

#: Most cells that are written into, and that are drawn one by one.
MOST_TEXTS, MOST_CELLS = 2500, 60_000


def cell_parts(chart: HeatMap) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The layers of a heat map, and notes on its signs."""
    chart, notes = _coarse(chart)
    (low, high), values = chart.ends, chart.values.tolist()
    logarithmic = 0 < low < high
    columns = [str(x) for x in chart.x.tolist()]
    lines = [*chart.rows] or [str(y) for y in chart.y.tolist()]
    names = [*chart.row_names]
    data = [
        {"y": y, "row": row, "value": [v if isfinite(v) else None for v in line]}
        for y, row, line in zip(lines, names, values, strict=True)
    ]
    height = min(max(18.0 * len(lines), 190.0), 365.0)
    words = "format(datum.value, ',.12~r')"
    if chart.also is not None:
        other = f"format(datum.value * {chart.also.factor!r}, ',.4~r')"
        words += f" + ' (' + {other} + {dumps(f' {chart.also.label})')}"
    note = f"isValid(datum.value) ? {words} : {dumps(EMPTY)}"
    place = f"{dumps(chart.x_label)} + ' ' + datum.x + ', ' + datum.row"
    transform: list[dict[str, Any]] = [
        {"calculate": dumps(columns), "as": "x"},
        {"flatten": ["value", "x"]},
        {"calculate": f"{place} + ': ' + ({note})", "as": "tip"},
    ]
    x: dict[str, Any] = {"field": "x", "type": "nominal", "scale": {"domain": columns}}
    x["axis"] = {"title": chart.x_label, "labelAngle": 0, "labelOverlap": "greedy"}
    x["axis"] |= {"labelSeparation": 6, "labelBound": 4}
    if all(map(str.isdigit, columns)):
        x["axis"]["labelExpr"] = short("toNumber(datum.label)", 4)
    y: dict[str, Any] = {"field": "y", "type": "nominal", "scale": {"domain": lines[::-1]}}
    y["axis"] = {"title": chart.y_label or None, "labelOverlap": "greedy", "labelLimit": 154}
    colour = {
        "field": "value",
        "type": "quantitative",
        "scale": {
            "type": "log" if logarithmic else "linear",
            "domain": [low, high] if high > low else [low, low + 1],
            "range": [*(reversed(HEAT) if chart.most else HEAT)],
            "nice": False,
        },
        "legend": None
        if low == high
        else {
            "title": chart.label,
            "direction": "horizontal",
            "gradientLength": 240,
            "tickCount": 4,
            "labelExpr": f"datum.label ? {short('datum.value')} : ''",
            "labelOverlap": "greedy",
        },
    }
    layers: list[dict[str, Any]] = []
    empty = not all(isfinite(v) for line in values for v in line)
    if empty:
        ground = {"type": "rect", "color": ROLES["hatch-ground"], "stroke": ROLES["hatch"]}
        layers.append(
            {
                "transform": [{"filter": "!isValid(datum.value)"}],
                "mark": ground | {"strokeWidth": 0.4},
                "encoding": TOLD,
            }
        )
    layers.append(
        {
            "transform": [{"filter": "isValid(datum.value)"}],
            "mark": {"type": "rect"},
            "encoding": {"color": colour, **TOLD},
        }
    )
    if chart.texts and len(columns) * len(lines) <= MOST_TEXTS:
        layers.append(_texts(chart, columns, lines, height, logarithmic))
    if empty:
        notes.append(f"pale: {EMPTY}")
    if chart.marked is not None:
        marked = [{"x": str(chart.marked[0]), "y": str(chart.marked[1])}]
        for colour_, wide in (("#ffffff", 6), (ROLES["answer"], 3)):
            frame = {"type": "rect", "filled": False, "color": colour_, "strokeWidth": wide}
            layers.append({"data": {"values": marked}, "mark": frame})
        notes.append(f"framed: {chart.mark}")
    parts = {
        "height": height,
        "data": {"values": data},
        "transform": transform,
        "encoding": {"x": x, "y": y},
        "layer": layers,
    }
    return parts, tuple(notes)


def _coarse(chart: HeatMap) -> tuple[HeatMap, list[str]]:
    """The best of blocks of cells, with a note, where there are too many to be drawn."""
    most = (chart.values.shape[0] * chart.values.shape[1] / MOST_CELLS) ** 0.5
    side = ceil(most)
    if side <= 1:
        return chart, []
    worst = -np.inf if chart.most else np.inf
    known = np.where(np.isfinite(chart.values), chart.values, worst)
    best = np.maximum if chart.most else np.minimum
    for axis in (0, 1):
        known = best.reduceat(known, np.arange(0, known.shape[axis], side), axis=axis)
    made = replace(
        chart,
        x=chart.x[::side],
        y=chart.y[::side],
        values=np.where(np.isfinite(known), known, np.nan),
        texts=(),
        marked=None,
        rows=chart.rows[::side],
    )
    return made, [f"Each cell is the best of {side} × {side}, under the names of the first."]


def _texts(
    chart: HeatMap, columns: list[str], lines: list[str], height: float, logarithmic: bool
) -> dict[str, Any]:
    """Texts of cells, as large as they allow, black or white."""
    low, high = chart.ends

    def share(value: float) -> float:
        if not high > low:
            return 0.0
        if logarithmic:
            return log(value / low) / log(high / low)
        return (value - low) / (high - low)

    rows = [
        {"x": x, "y": y, "text": text, "ink": ink(heat(share(value), chart.most))}
        for y, texts, line in zip(lines, chart.texts, chart.values.tolist(), strict=True)
        for x, text, value in zip(columns, texts, line, strict=True)
        if text and isfinite(value)
    ]
    longest = max((len(row["text"]) for row in rows), default=1)
    room = f"0.9 * width / {len(columns) * 0.62 * longest}"
    size = f"min({CELL_TEXT}, {room}, {0.7 * height / len(lines)})"
    mark = {"type": "text", "fontSize": {"expr": size}}
    mark["opacity"] = {"expr": f"{size} >= {LEAST_TEXT} ? 1 : 0"}
    dark = {"test": "datum.ink === '#000000'", "value": "#000000"}
    words = {"condition": dark, "value": "#ffffff"}
    encoding = {"text": {"field": "text"}, "color": words}
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}
