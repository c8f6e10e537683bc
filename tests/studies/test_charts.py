"""Every kind of chart by both renderers, and as a part of a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from ithaca.studies.charts.chart import Bar, BarChart, Chart, HeatMap, LineChart, Series, Unit
from ithaca.studies.charts.files import save_plot
from ithaca.studies.charts.svg import inline_svg

STEPS = Series("a $1$ & <b>", (1.0, 2.0, 40.0), (3.0, 5.0, 900.0), (None, 4.0, None), ("one", "two", "three"))
BARS = (Bar("first", 3.0, "3 of 4", "answer", mark=2.0), Bar("none", None, "infeasible"), Bar("last", 1.0, "1 of 4"))
CELLS = np.array([[1.0, np.nan], [20.0, 300.0]])
ONE, TWO = np.array([1, 3]), np.array([2, 4])

CHARTS: dict[str, Chart] = {
    "lines": LineChart("lines", "x", "y", (STEPS,), all_x=(1.0, 2.0, 3.0, 40.0), missing=((3.0, "infeasible"),), log_y=True),
    "steps": LineChart("steps", "x", "y", (STEPS,), steps=True, log_x=True),
    "names": LineChart("names", "x", "y", (Series("", ("i\nA", "j\nB"), (1.0, 2.0)),), all_x=("i\nA", "k\nC", "j\nB")),
    "points": LineChart("points", "x", "y", (replace(STEPS, colours=(1.0, 2.0, 3.0)),), colour_label="z"),
    "nothing": LineChart("nothing", "x", "y", ()),
    "bars": BarChart("bars", "cycles", BARS, line=(4.0, "limit"), ends=(0.0, 5.0)),
    "parts": BarChart("parts", "cycles", BARS, stacked=True),
    "long": BarChart("long", "latency + " * 40, (Bar("i " * 40, 1.0, ""), Bar("short", 2.0, "k " * 40)), also=Unit("ms", 0.1)),
    "cells": HeatMap("cells", "x", "y", "z", ONE, TWO, CELLS, (("0", ""), ("+5", "8×")), (1, 4), "it"),
    "no cells": HeatMap("none", "x", "y", "z", ONE, TWO[:1], np.full((1, 2), np.nan)),
}


@pytest.mark.parametrize("kind", CHARTS)
@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_every_kind_is_written_to_every_kind_of_file(tmp_path: Path, kind: str, ending: str) -> None:
    path = tmp_path / f"chart.{ending}"
    save_plot(CHARTS[kind], path)
    content = path.read_bytes()
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "html": b"<"}[ending]
    assert content.startswith(begins)
    if ending in ("svg", "html"):
        assert b"infeasible" in content or kind not in ("lines", "bars", "parts")


@pytest.mark.parametrize("kind", CHARTS)
def test_part_of_a_page(kind: str) -> None:
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


def test_words_stay_words() -> None:
    drawing = ET.fromstring(inline_svg(CHARTS["steps"], "name"))
    words = [element.text for element in drawing.iter("text")]
    assert STEPS.name in words
    assert drawing.findtext("title") == "steps"
    assert drawing.findtext("desc") == f"{STEPS.name}: from 3 at 1 to 900 at 40"
    tips = [element.findtext("title") for element in ET.fromstring(inline_svg(CHARTS["bars"], "name")).iter("path")]
    assert [tip for tip in tips if tip] == ["first: 3 of 4", "last: 1 of 4"]


def test_parts_add_up() -> None:
    parts = BarChart("parts", "cycles", BARS, stacked=True)
    assert parts.starts == [0.0, 3.0, 3.0]
    assert replace(parts, stacked=False).starts == [0.0, 0.0, 0.0]


def test_expressions_are_shortened_and_said_in_full() -> None:
    long = "latency + " * 40 + "latency"
    drawing = ET.fromstring(inline_svg(BarChart("bars", long, (Bar(long, 1.0, long), Bar("short", 2.0, "2"))), "name"))
    words = [element.text or "" for element in drawing.iter("text")]
    assert "short" in words
    assert sum(word.endswith("…") for word in words) == 3
    assert all(len(word) < 100 for word in words)
    assert drawing.findtext("desc") == f"{long}: {long}; short: 2"
