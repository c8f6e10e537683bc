"""Charts in pages: their places, the scripts that draw them, and pages of a chart alone;
self-contained and offline."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from json import dumps
from typing import TYPE_CHECKING

from markupsafe import Markup

from ithaca.exports.charts.chart import Chart
from ithaca.exports.charts.palette import ROLES
from ithaca.exports.charts.rendering import script
from ithaca.exports.charts.specification import specification
from ithaca.files.messages import printable

if TYPE_CHECKING:
    from jinja2 import Environment

#: Most cells of the table of figures: a page stays small.
MOST_FIGURES = 4000

#: The style sheet of all pages with charts.
STYLE = (files("ithaca.exports.charts") / "chart.css").read_text(encoding="utf-8")


def placed(chart: Chart, name: str) -> Markup:
    """The place of a chart in a page, of a name that is unique there: the page's script draws it,
    in the page's colours and as wide as it may be."""
    made = specification(chart, alone=False)
    text = dumps(made, ensure_ascii=False, separators=(",", ":"))
    for role, colour in ROLES.items():
        text = text.replace(f'"{colour}"', f'"var(--{role},{colour})"')
    text = text.replace("<", "\\u003c")  # nothing ends the element
    return Markup(
        '<div class="plot" id="{}" role="figure" tabindex="0" aria-label="{}"></div>'
        '<script type="application/json" id="{}-chart">{}</script>'
    ).format(name, made["description"], name, Markup(text))


def scripts(charts: bool) -> list[str]:
    """The scripts of a page: what sorts tables, and what draws charts if there are some."""
    place = files("ithaca.exports.charts")
    own = ["tables.js", *(["charts.js"] if charts else [])]
    texts = [(place / name).read_text(encoding="utf-8") for name in own]
    return [*([script()] if charts else []), *texts]


def chart_page(chart: Chart) -> str:
    """A page that loads nothing; its scripts say what is under the pointer, enlarge, and hide
    series."""
    columns, rows = chart.figures
    run = scripts(True)
    return (
        environment("ithaca.exports.charts")
        .get_template("page.html")
        .render(
            title=chart.title,
            drawing=placed(chart, "chart"),
            columns=columns,
            rows=rows if len(columns) * len(rows) <= MOST_FIGURES else (),
            style=STYLE,
            style_hash=text_hash(STYLE),
            scripts=run,
            script_hashes=[*map(text_hash, run)],
        )
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
