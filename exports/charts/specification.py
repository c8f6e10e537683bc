"""Charts as specifications of Vega-Lite: made once, for pages, notebooks, and files of all
kinds."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from ithaca.exports.charts.axes import AXIS_COLOURS, SMALL, TEXT
from ithaca.exports.charts.bars import bar_parts
from ithaca.exports.charts.cells import cell_parts
from ithaca.exports.charts.chart import BarChart, Chart, HeatMap, LineChart, printable_chart
from ithaca.exports.charts.lines import line_parts
from ithaca.exports.charts.palette import ROLES

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

#: Width of what is between the axes in files (pixels), and characters of a line above it there
#: and in pages, which may be phones'.
WIDTH, ACROSS, NARROW = 480, 72, 50

#: Characters of a line of a title, which is bold.
HEADING = 57

#: Font of files: texts are as wide where they are read as where they were placed.
FONT = "Arial, Helvetica, sans-serif"

#: What a part of a chart is made of: layers, with what they share.
Parts = dict[str, Any]


def specification(chart: Chart, alone: bool = True) -> Parts:
    """The specification of a chart.

    Parameters
    ----------
    chart : Chart
        What is shown.
    alone : bool, optional
        Whether it stands alone, under its title; else it is as wide as its place in a page, which
        has a caption.
    """
    chart = printable_chart(chart)
    match chart:
        case LineChart():
            parts, notes = line_parts(chart)
        case BarChart():
            parts, notes = bar_parts(chart)
        case HeatMap():
            parts, notes = cell_parts(chart)
    heading = _wrapped(chart.title, HEADING) if alone else []
    signs = [line for note in notes for line in _wrapped(note, ACROSS if alone else NARROW)]
    return {
        "$schema": SCHEMA,
        "description": f"{chart.title}: {chart.description}",
        "background": "#ffffff" if alone else "transparent",
        "width": WIDTH if alone else "container",
        "autosize": {"type": "pad"} if alone else {"type": "fit-x", "contains": "padding"},
        **_headed(heading, signs),
        **parts,
        "config": CONFIG | ({"font": FONT} if alone else {}),
    }


def _headed(heading: Sequence[str], signs: Sequence[str]) -> Parts:
    """The lines above a chart: its title, and the meaning of its signs."""
    if heading:
        return {"title": {"text": [*heading]} | ({"subtitle": [*signs]} if signs else {})}
    plain = {"fontWeight": "normal", "fontSize": SMALL, "color": ROLES["soft"]}
    return {"title": {"text": [*signs], **plain}} if signs else {}


def _wrapped(text: str, most: int) -> list[str]:
    return [line for part in text.split("\n") for line in fill(part, most).split("\n")]


#: The look of all charts.
CONFIG: Parts = {
    "font": "system-ui, sans-serif",
    "view": {"stroke": ROLES["rule"]},
    "axis": AXIS_COLOURS,
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": TEXT + 1,
        "color": ROLES["ink"],
        "subtitleColor": ROLES["soft"],
        "subtitleFontSize": SMALL,
    },
    "legend": {
        "orient": "bottom",
        "direction": "vertical",
        "title": None,
        "labelColor": ROLES["ink"],
        "labelFontSize": SMALL,
        "labelLimit": 290,
        "titleColor": ROLES["ink"],
        "titleFontSize": SMALL,
        "titleFontWeight": "normal",
        "titleLimit": 290,
        "symbolStrokeWidth": 2,
        "symbolBaseFillColor": ROLES["soft"],
        "symbolBaseStrokeColor": ROLES["soft"],
    },
}
