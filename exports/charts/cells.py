"""Heat maps: cells coloured by a quantity, with what it is."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Sequence
from math import isfinite
from typing import Any
from zlib import compress, crc32

from ithaca.exports.charts.axes import (
    ACROSS,
    USUAL,
    ChartAxis,
    Entry,
    Plot,
    Points,
    box,
    fitting,
    framed,
    key,
    legend,
)
from ithaca.exports.charts.chart import EMPTY, HeatMap
from ithaca.exports.charts.palette import ROLES, heat, ink
from ithaca.exports.charts.scale import AxisScale

#: Sizes of the text in a cell, the largest and the least that is written.
CELL_TEXT, LEAST_TEXT = 10.0, 6.0

#: Most cells that are drawn one by one: more are one image.
CELLS = 2500


def cells(chart: HeatMap, plot: Plot) -> None:
    """Draw a heat map."""
    rows, columns = chart.values.shape
    height = min(max(18.0 * rows, 190.0), 365.0)
    names = [fitting(name, 154) for name in chart.rows] or [str(y) for y in chart.y.tolist()]
    wide = ACROSS - (96 if chart.rows else 0)
    most = min(30, wide / USUAL / (max(len(str(x)) for x in chart.x.tolist()) + 1))
    x, y = (
        ChartAxis(0, len(values), label, named=_middles(values, ticks), grid=False)
        for values, label, ticks in (
            ([str(x) for x in chart.x.tolist()], fitting(chart.x_label, ACROSS), most),
            (names, fitting(chart.y_label, height), 24),
        )
    )
    across, up = framed(plot, x, y, height)
    ends = box(across.start, up.end, across.end - across.start, height)
    for points, look in _hatched(ends):
        plot.shape(points, **look)
    low, high = chart.ends
    share = AxisScale(low, high, logarithmic=0 < low < high)
    colours = [
        [heat(share(v), chart.most) if isfinite(v) else "" for v in row]
        for row in chart.values.tolist()
    ]
    plot.shape(ends, classes="ground", fill="transparent")
    width, tall = (across.end - across.start) / columns, height / rows
    if rows * columns > CELLS:
        image = f"data:image/png;base64,{b64encode(_png(colours)).decode()}"
        look = {"preserveAspectRatio": "none", "image_rendering": "pixelated", "href": image}
        wide = across.end - across.start
        plot.add("image", x=across.start, y=up.end, width=wide, height=height, **look)
    else:
        group, tips = plot.add("g", shape_rendering="crispEdges"), iter(chart.tips)
        for at, line in enumerate(colours):
            for column, (colour, tip) in enumerate(zip(line, tips, strict=False)):
                if colour:
                    corners = box(across(column), up(at + 1), width, tall)
                    plot.shape(corners, tip, group, fill=colour)
    longest = max((len(text) for texts in chart.texts for text in texts), default=0)
    size = min(CELL_TEXT, 0.9 * width / (0.62 * max(longest, 1)), 0.7 * tall)
    for at, texts in enumerate(chart.texts if size >= LEAST_TEXT else ()):
        for column, text in enumerate(texts):
            if text:
                middle = across(column + 0.5), up(at + 0.5) + 0.35 * size
                plot.words(middle, text, size, fill=ink(colours[at][column]), classes="cell")
    entries: list[Entry] = []
    if not all(map(all, colours)):
        entries.append((EMPTY, _hatched(box(0, 0, 24, 10))))
    if chart.marked is not None:
        column, at = (
            values.tolist().index(value)
            for values, value in zip((chart.x, chart.y), chart.marked, strict=True)
        )
        frame: dict[str, Any] = {"stroke": ROLES["answer"], "stroke_width": 3.3}
        corners = box(across(column), up(at + 1), width, tall)
        plot.shape(corners, classes="answer", stroke="#ffffff", stroke_width=6.6)
        plot.shape(corners, classes="answer", **frame)
        entries.append((chart.mark, [(box(1, 0, 22, 10), frame)]))
    mean = (low * high) ** 0.5 if share.logarithmic else (low + high) / 2
    key(plot, across, (low, mean, high), chart.label, chart.also, chart.most)
    legend(plot, entries)


def _middles(names: Sequence[str], most: float) -> list[tuple[float, str]]:
    """A choice of so many names at most, each at the middle of its cell."""
    step = -(-len(names) // max(int(most), 1))
    return [(at + 0.5, names[at]) for at in range(0, len(names), step)]


def _hatched(corners: Points) -> list[tuple[Points, dict[str, Any]]]:
    """A hatched rectangle."""
    (left, top), _, (right, bottom), *_ = corners
    wide, tall = right - left, bottom - top
    lines = []
    for at in range(6 - int(tall), int(wide), 6):
        start, end = max(0, at), min(wide, at + tall)
        lines.append(((left + start, bottom - start + at), (left + end, bottom - end + at)))
    hatch: dict[str, Any] = {"stroke": ROLES["hatch"], "stroke_width": 1.2}
    return [(corners, {"fill": ROLES["hatch-ground"]}), *((line, hatch) for line in lines)]


def _png(colours: Sequence[Sequence[str]]) -> bytes:
    """Cells as an image, a pixel each, the last row at the top; clear without a colour (PNG)."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    pixels = b"".join(
        b"\0" + bytes.fromhex("".join(f"{c[1:]}ff" if c else "00000000" for c in row))
        for row in reversed(colours)
    )
    header = struct.pack(">IIBBBBB", len(colours[0]), len(colours), 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", compress(pixels)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, content) for kind, content in parts)
