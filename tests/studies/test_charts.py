"""Every kind of chart by both renderers, and as a part of a page."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from ithaca.exports.charts.chart import (
    AxisUnit,
    Bar,
    BarChart,
    HeatMap,
    LineChart,
    Series,
    other_unit,
)
from ithaca.exports.charts.files import save_plot
from ithaca.exports.charts.svg import inline_svg

STEPS = Series(
    "a $1$ & <b>", (1.0, 2.0, 40.0), (3.0, 5.0, 900.0), (None, 4.0, None), ("one", "two", "three")
)
BARS = (
    Bar("first", 3.0, "3 of 4", "answer", mark=2.0),
    Bar("none", None, "infeasible"),
    Bar("last", 1.0, "1 of 4"),
)
CELLS = np.array([[1.0, np.nan], [20.0, 300.0]])
ONE, TWO = np.array([1, 3]), np.array([2, 4])

LAYERS = tuple(f"layer{n // 6}.{n % 6}.conv" for n in range(60))
TAKES = tuple(range(60_000, 0, -1000))

CHARTS = {
    "layers": LineChart(
        "layers", "layer", "y", (Series("one", LAYERS, TAKES), Series("other", LAYERS, TAKES))
    ),
    "layer bars": BarChart(
        "bars",
        "cycles",
        tuple(Bar(n, v, f"{v}", part=v / 2) for n, v in zip(LAYERS, TAKES, strict=True)),
    ),
    "lines": LineChart(
        "lines",
        "x",
        "y",
        (STEPS,),
        all_x=(1.0, 2.0, 3.0, 40.0),
        missing=((3.0, "infeasible"),),
        log_y=True,
    ),
    "steps": LineChart("steps", "x", "y", (STEPS,), steps=True, log_x=True),
    "names": LineChart(
        "names",
        "x",
        "y",
        (Series("", ("i\nA", "j\nB"), (1.0, 2.0)),),
        all_x=("i\nA", "k\nC", "j\nB"),
    ),
    "points": LineChart(
        "points", "x", "y", (replace(STEPS, colours=(1.0, 2.0, 3.0)),), colour_label="z"
    ),
    "nothing": LineChart("nothing", "x", "y", ()),
    "bars": BarChart("bars", "cycles", BARS, line=(4.0, "limit"), ends=(0.0, 5.0)),
    "parts": BarChart(
        "parts", "cycles", tuple(replace(bar, parts=(1.0, 2.0)) for bar in BARS), parts=("a", "b")
    ),
    "long": BarChart(
        "long",
        "latency + " * 40,
        (Bar("i " * 40, 1.0, ""), Bar("short", 2.0, "k " * 40)),
        also=AxisUnit("ms", 0.1),
    ),
    "cells": HeatMap(
        "cells", "x", "y", "z", ONE, TWO, CELLS, (("0", ""), ("+5", "8×")), (1, 4), "it"
    ),
    "no cells": HeatMap("none", "x", "y", "z", ONE, TWO[:1], np.full((1, 2), np.nan)),
}


@pytest.mark.parametrize(
    ("kind", "ending"),
    [*((kind, "svg") for kind in CHARTS), *(("lines", end) for end in ("png", "pdf", "html"))],
)
def test_every_kind_is_written_to_every_kind_of_file(tmp_path, kind, ending):
    path = tmp_path / f"chart.{ending}"
    save_plot(CHARTS[kind], path)
    content = path.read_bytes()
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "html": b"<"}[ending]
    assert content.startswith(begins)
    if ending in ("svg", "html"):
        assert b"infeasible" in content or kind not in ("lines", "bars", "parts")


@pytest.mark.parametrize("kind", CHARTS)
def test_part_of_a_page(kind):
    text = inline_svg(CHARTS[kind], "name")
    drawing = ET.fromstring(text)
    assert text == inline_svg(CHARTS[kind], "name")
    named = [element.get("id") for element in drawing.iter() if "id" in element.attrib]
    assert len(named) == len(set(named))
    assert all(name is not None and name.startswith("name-") for name in named)
    assert "://" not in text
    assert not {"style", "metadata", "image"} & {element.tag for element in drawing.iter()}
    assert not any("style" in element.attrib for element in drawing.iter())
    for element in drawing.iter():
        for value in element.attrib.values():
            if "#name" in value:
                assert value.removeprefix("url(").strip("#)") in named


def test_words_stay_words():
    drawing = ET.fromstring(inline_svg(CHARTS["steps"], "name"))
    words = [element.text for element in drawing.iter("text")]
    assert STEPS.name in words
    assert drawing.findtext("title") == "steps"
    assert drawing.findtext("desc") == f"{STEPS.name}: from 3 at 1 to 900 at 40"
    tips = [
        element.findtext("title")
        for element in ET.fromstring(inline_svg(CHARTS["bars"], "name")).iter("path")
    ]
    assert [tip for tip in tips if tip] == ["first: 3 of 4", "last: 1 of 4"]


def test_bars_down_to_bounds_are_explained_where_there_are_some():
    for kind, said in (("lines", True), ("layers", False)):
        chart = CHARTS[kind]
        words = [element.text for element in ET.fromstring(inline_svg(chart, "name")).iter("text")]
        assert (chart.bars in words) is said


def test_a_chart_in_a_notebook_has_a_text_alternative():
    from ithaca.exports.report.cell import cell

    text = cell("headline", drawings=[inline_svg(CHARTS["bars"], "chart")])
    assert 'alt="bars: first: 3 of 4; none: infeasible; last: 1 of 4"' in text
    assert text.count("<img") == 1


@pytest.mark.parametrize("log_x", [False, True])
def test_ticks_are_the_values_as_far_as_they_do_not_touch(log_x):
    x = (500.0, 1000.0, 1010.0, 4000.0, 8000.0)
    drawing = ET.fromstring(
        inline_svg(LineChart("t", "x", "y", (Series("", x, x),), log_x=log_x), "name")
    )
    words = [text.text for text in drawing.iter("text")]
    assert "1,010" in words
    assert "1,000" not in words
    assert {"4,000", "8,000"} <= set(words)


def test_a_part_of_a_bar_is_strong_and_the_rest_pale():
    drawing = ET.fromstring(
        inline_svg(BarChart("bar", "cycles", (Bar("a", 8.0, "8", part=2.0),)), "name")
    )
    widths = {}
    for path in drawing.iter("path"):
        places = [float(word) for word in re.findall(r"[ML] ([\d.]+)", path.get("d", ""))]
        if path.get("fill", "").startswith(("var(--main", "var(--rest")):
            widths[path.get("fill", "")[6:10]] = max(places) - min(places)
    assert widths["main"] == pytest.approx(widths["rest"] / 4, rel=0.01)


def test_points_of_one_name_stand_side_by_side():
    drawing = ET.fromstring(inline_svg(CHARTS["layers"], "name"))
    places = [
        [
            np.array(re.findall(r"[\d.]+", mark.get("d", "")), float).reshape(-1, 2).mean(axis=0)
            for mark in group.iter("path")
            if mark.find("title") is not None
        ]
        for group in drawing.iter("g")
        if group.get("class", "").startswith("series-")
    ]
    one, other = places
    assert len(one) == len(other) == 60
    for (left, y), (right, same) in zip(one, other, strict=True):
        assert (right - left) * 544 / 365 > 3  # pixels, as wide as pages show it
        assert y == pytest.approx(same, abs=0.02)


def test_labels_cover_no_point_and_each_other():
    series = Series(
        "",
        (1.0, 1.02, 2.0, 2.001),
        (1.0, 1.02, 2.0, 2.0),
        labels=("first", "second", "third", "fourth"),
        form="points",
    )
    drawing = ET.fromstring(inline_svg(LineChart("near", "x", "y", (series,)), "name"))
    boxes = []
    for text in drawing.iter("text"):
        if text.text in series.labels:
            numbers = [
                float(n)
                for n in re.findall(
                    r"-?[\d.]+", text.get("transform", "") or f"{text.get('x')} {text.get('y')}"
                )
            ]
            boxes.append((text.text, numbers))
    assert [name for name, _ in boxes] == list(series.labels)
    assert len({tuple(place) for _, place in boxes}) == 4


def test_another_unit_stands_on_the_other_side():
    also = AxisUnit("ms at 300 MHz", 1 / 300_000)
    chart = LineChart(
        "y", "x", "latency (cycles)", (Series("", (1.0, 2.0), (300_000.0, 900_000.0)),), y_also=also
    )
    words = [element.text for element in ET.fromstring(inline_svg(chart, "name")).iter("text")]
    assert {"ms at 300 MHz", "latency (cycles)", "400 k", "1", "3"} <= set(words)
    assert "latency (cycles) 900,000 (3 ms at 300 MHz)" in chart.tips(chart.series[0])[1]
    assert other_unit("cycles", 300.0) == also
    assert other_unit("cycles") is None
    assert other_unit("pJ") == AxisUnit("µJ", 1e-6)


def test_expressions_are_shortened_and_said_in_full():
    long = "latency + " * 40 + "latency"
    drawing = ET.fromstring(
        inline_svg(BarChart("bars", long, (Bar(long, 1.0, long), Bar("short", 2.0, "2"))), "name")
    )
    words = [element.text or "" for element in drawing.iter("text")]
    assert "short" in words
    assert sum(word.endswith("…") for word in words) == 3
    assert all(len(word) < 100 for word in words)
    assert drawing.findtext("desc") == f"{long}: {long}; short: 2"
