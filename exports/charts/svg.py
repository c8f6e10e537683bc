"""Charts as SVG: parts of a page, in its colours and fonts, and files."""

from __future__ import annotations

import re

from ithaca.exports.charts.axes import WIDTH, Plot
from ithaca.exports.charts.bars import bars
from ithaca.exports.charts.cells import cells
from ithaca.exports.charts.chart import BarChart, Chart, HeatMap, LineChart, printable_chart
from ithaca.exports.charts.lines import lines


def inline_svg(chart: Chart, name: str) -> str:
    """A chart as an SVG element for a page: named and described, without scripts, links and styles
    of its own.

    The title is for those who do not see it: a page has captions. Identifiers start with the name,
    unique on the page. The style sheet (`chart.css`) gives it the width that the page has for it.
    """
    return str(drawn(printable_chart(chart), name).markup())


def svg_file(chart: Chart) -> str:
    """A chart as a file of its own, under its title, in the colours of pages by day."""
    chart = printable_chart(chart)
    plot = drawn(chart, "chart", chart.title)
    plot.root.set("xmlns", "http://www.w3.org/2000/svg")
    plot.root.set("style", "background: #ffffff")
    text = re.sub(r"var\(--[a-z-]+,(#\w+)\)", r"\1", plot.markup())
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def drawn(chart: Chart, name: str, heading: str = "") -> Plot:
    """A chart as a drawing.

    Parameters
    ----------
    chart : Chart
        What is shown.
    name : str
        What the drawing's identifiers start with.
    heading : str, optional
        The title above it.
    """
    plot = Plot(chart, name, heading)
    match chart:
        case LineChart():
            lines(chart, plot)
        case BarChart():
            bars(chart, plot)
        case HeatMap():
            cells(chart, plot)
    plot.resize(WIDTH, plot.foot + 8)
    return plot
