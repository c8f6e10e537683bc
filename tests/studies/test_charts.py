"""Every kind of chart: what its specification states, and that it is drawn."""

import json
import re
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from ithaca.exports.charts import rendering
from ithaca.exports.charts.chart import (
    AxisUnit,
    Bar,
    BarChart,
    HeatMap,
    LineChart,
    Series,
)
from ithaca.exports.charts.files import save_plot
from ithaca.exports.charts.page import placed
from ithaca.exports.charts.palette import ROLES
from ithaca.exports.charts.rendering import Plot, svg
from ithaca.exports.charts.specification import specification

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
    begins = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!DOCTYPE"}[ending]
    assert content.startswith(begins)
    if ending in ("svg", "html"):
        assert b"infeasible" in content or kind not in ("lines", "bars", "parts")


def spec_of(kind):
    made = specification(CHARTS[kind])
    assert json.loads(json.dumps(made, allow_nan=False)) == made  # JSON, without NaN
    return made


def rows_of(made, *fields):
    return [tuple(row.get(field) for field in fields) for row in made["data"]["values"]]


def words_of(chart):
    """The words that are seen."""
    texts = ET.fromstring(svg(chart)).iter("{http://www.w3.org/2000/svg}text")
    return [
        part.text
        for text in texts
        if text.get("opacity") != "0"
        for part in text.iter()
        if part.text
    ]


@pytest.mark.parametrize("kind", ["layers", "lines", "steps", "names", "points"])
def test_lines_state_every_point_its_bound_and_its_words(kind):
    chart, stated = CHARTS[kind], rows_of(spec_of(kind), "x", "y", "low", "tip")
    expected = []
    for series in chart.series:
        lows = series.low or (None,) * len(series.y)
        expected += zip(series.x, series.y, lows, chart.tips(series), strict=True)
    assert stated == expected


@pytest.mark.parametrize("kind", ["layer bars", "bars", "parts", "long"])
def test_bars_state_their_lengths_and_nothing_that_is_absent(kind):
    chart, made = CHARTS[kind], spec_of(kind)
    fields = ("name", "note", "value", "part", "mark")
    assert rows_of(made, *fields) == [
        tuple(getattr(bar, field) for field in fields) for bar in chart.bars
    ]
    for row, bar in zip(made["data"]["values"], chart.bars, strict=True):
        assert ("value" in row) is (bar.value is not None)  # never a bar of no length
    pieces = [layer["data"]["values"] for layer in made["layer"] if "params" in layer]
    assert bool(pieces) is bool(chart.parts)
    for place, bar in enumerate(chart.bars if pieces else ()):
        own = [row for row in pieces[0] if row["bar"] == place]
        assert [row["to"] - row["from"] for row in own] == [*bar.parts]
        assert [row["piece"] for row in own] == [*chart.parts]
        assert own[0]["from"] == 0
        assert own[1]["from"] == own[0]["to"]


def test_cells_state_their_values_and_nothing_where_there_is_none():
    made = spec_of("cells")
    assert rows_of(made, "y", "value") == [("2", [1.0, None]), ("4", [20.0, 300.0])]
    drawn = svg(CHARTS["cells"])
    tips = {unescape(tip) for tip in re.findall(r'aria-label="(x \d[^"]*)"', drawn)}
    assert tips == {
        "x 1, y 2: 1",
        "x 3, y 2: nothing within the limits",
        "x 1, y 4: 20",
        "x 3, y 4: 300",
    }
    cells = made["layer"][2]["data"]["values"]
    assert [(row["x"], row["y"], row["text"]) for row in cells] == [
        ("1", "2", "0"), ("1", "4", "+5"), ("3", "4", "8×"),
    ]  # fmt: skip
    assert made["layer"][-1]["data"]["values"] == [{"x": "1", "y": "4"}]
    assert made["title"]["subtitle"] == ["pale: nothing within the limits", "framed: it"]


def test_very_many_cells_are_drawn_as_the_best_of_blocks():
    values = np.arange(300.0 * 300).reshape(300, 300) + 1
    values[0, 0] = np.nan
    many = HeatMap("many", "x", "y", "z", np.arange(300), np.arange(300), values)
    for most, corner in ((False, 2.0), (True, 302.0)):
        made = specification(replace(many, most=most))
        lines = [row["value"] for row in made["data"]["values"]]
        assert (len(lines), len(lines[0])) == (150, 150)
        assert lines[0][0] == corner
        assert "best of 2 × 2" in made["title"]["subtitle"][0]


@pytest.mark.parametrize("kind", CHARTS)
def test_a_chart_has_a_text_alternative_and_its_words_stay_words(kind):
    chart = CHARTS[kind]
    drawing = ET.fromstring(svg(chart))
    texts = [drawing.findtext(f"{{http://www.w3.org/2000/svg}}{tag}") for tag in ("title", "desc")]
    assert texts == [chart.title, chart.description]
    assert chart.title in words_of(chart)


def test_the_place_in_a_page_holds_the_same_data_and_colours_of_the_page():
    for kind, chart in CHARTS.items():
        text = str(placed(replace(chart, title="</script><b>"), "name"))
        assert text.count("</script>") == 1
        assert "<b>" not in text
        stated = json.loads(re.search(r'id="name-chart">(.*)</script>', text, re.DOTALL)[1])
        assert stated["data"] == json.loads(
            re.sub(
                "|".join(ROLES.values()), lambda m: in_page(m[0]), json.dumps(spec_of(kind)["data"])
            )
        )
        assert stated["width"] == "container"


def in_page(colour):
    role = next(name for name, known in ROLES.items() if known == colour)
    return f"var(--{role},{colour})"


def test_a_chart_in_a_notebook_is_vega_lite_and_svg():
    bundle = Plot(CHARTS["bars"])._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v6+json"] == specification(CHARTS["bars"])
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/plain"] == "bars: first: 3 of 4; none: infeasible; last: 1 of 4"


def test_the_library_for_charts_is_kept_and_nobody_else_slips_one_in(tmp_path, monkeypatch):
    made = []

    class Library:
        @staticmethod
        def javascript_bundle():
            made.append("bundle")
            return "const drawn = 1;"

    monkeypatch.setenv("ITHACA_CACHE", str(tmp_path))
    monkeypatch.setenv("ITHACA_KEY", str(tmp_path / "key"))
    monkeypatch.setattr(rendering, "_library", lambda: Library)
    texts = [rendering.script.__wrapped__() for _ in range(2)]
    assert texts == ["const drawn = 1;"] * 2
    assert made == ["bundle"]
    (kept,) = (tmp_path / "charts").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"drawn", b"stolen"))
    assert rendering.script.__wrapped__() == "const drawn = 1;"
    assert made == ["bundle"] * 2
