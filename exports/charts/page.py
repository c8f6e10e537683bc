"""Charts as pages of their own: the drawing, what to say about each mark, and its figures;
self-contained and offline."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from json import dumps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.exports.charts.cells import CELLS
from ithaca.exports.charts.chart import Chart, HeatMap, LineChart
from ithaca.exports.charts.svg import inline_svg
from ithaca.files.messages import printable

if TYPE_CHECKING:
    from jinja2 import Environment

#: Most cells of the table of figures: a page stays small.
MOST_FIGURES = 4000

#: Most cells that an image says something about, for the same reason.
MOST_CELLS = 60_000

#: The style sheet of all pages with charts.
STYLE = (files("ithaca.exports.charts") / "chart.css").read_text(encoding="utf-8")


def save_page(chart: Chart, path: Path) -> None:
    """Draw a chart to a page (HTML)."""
    path.write_text(chart_page(chart), encoding="utf-8")


def chart_page(chart: Chart) -> str:
    """A page that loads nothing; its script says what is under the pointer, enlarges, and hides
    series."""
    script = (files("ithaca.exports.charts") / "page.js").read_text(encoding="utf-8")
    columns, rows = chart.figures
    return (
        environment("ithaca.exports.charts")
        .get_template("page.html")
        .render(
            title=chart.title,
            description=chart.description,
            drawing=inline_svg(chart, "chart"),
            series=[series.name for series in chart.series] if isinstance(chart, LineChart) else [],
            columns=columns,
            rows=rows if len(columns) * len(rows) <= MOST_FIGURES else (),
            cells=_cells(chart)
            if isinstance(chart, HeatMap) and CELLS < chart.values.size <= MOST_CELLS
            else "",
            style=STYLE,
            style_hash=text_hash(STYLE),
            script=script,
            script_hash=text_hash(script),
        )
    )


def _cells(chart: HeatMap) -> str:
    """The cells of an image for the page's script: names, coordinates and values (JSON)."""
    values = [
        [float(f"{value:.4g}") if isfinite(value) else None for value in row]
        for row in chart.values.tolist()
    ]
    return dumps(
        {
            "names": [chart.x_label, chart.y_label],
            "x": chart.x.tolist(),
            "y": chart.y.tolist(),
            "values": values,
        }
    )


def text_hash(text: str) -> str:
    """The hash of a style's or script's text for a content security policy: SHA-256 in base 64, of
    the text between the tags."""
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def environment(package: str) -> Environment:
    """Templates of a package, into which names and expressions of users' files come: these are
    escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
