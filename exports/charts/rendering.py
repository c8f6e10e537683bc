"""Charts drawn to pictures by Vega-Lite: SVG, PNG and PDF."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from importlib.metadata import version
from typing import Any

from ithaca.exports.charts.chart import Chart, printable_chart
from ithaca.exports.charts.specification import specification
from ithaca.files.caches import cache_folder, keep_bytes, recalled_bytes

#: How many dots of a picture (PNG) a pixel of a chart is.
SHARPNESS = 2.5


@dataclass(frozen=True)
class Plot:
    """A chart that notebooks show: as Vega-Lite where they draw that, else as SVG."""

    chart: Chart

    def __repr__(self) -> str:
        return f"<Plot: {self.chart.title}>"

    @cached_property
    def specification(self) -> dict[str, Any]:
        """The specification of Vega-Lite."""
        return specification(self.chart)

    def _repr_mimebundle_(self, **options: object) -> dict[str, Any]:
        return {
            "application/vnd.vegalite.v6+json": self.specification,
            "image/svg+xml": svg(self.chart),
            "text/plain": f"{self.chart.title}: {self.chart.description}",
        }


def svg(chart: Chart) -> str:
    """A chart under its title as SVG, in the colours of pages by day, with words for those who do
    not see it."""
    drawn: str = _library().vegalite_to_svg(specification(chart))
    chart = printable_chart(chart)
    head, _, rest = drawn.partition(">")
    title, description = escape(chart.title), escape(chart.description)
    return f'{head} role="img"><title>{title}</title><desc>{description}</desc>{rest}'


def png(chart: Chart) -> bytes:
    """A chart under its title as PNG."""
    image: bytes = _library().vegalite_to_png(specification(chart), scale=SHARPNESS)
    return image


def pdf(chart: Chart) -> bytes:
    """A chart under its title as PDF."""
    page: bytes = _library().vegalite_to_pdf(specification(chart))
    return page


@cache
def script() -> str:
    """The library that draws charts in a page (JavaScript, 0.9 MB).

    It takes 2 CPU seconds to be put together, so it is kept in the user's cache.
    """
    folder, edition = cache_folder(), version("vl-convert-python")
    place = None if folder is None else folder / "charts" / f"{edition}.js"
    if (kept := recalled_bytes(place)) is not None:
        return kept.decode()
    text: str = _library().javascript_bundle()
    if place is not None:
        keep_bytes(place, text.encode())
    return text


def _library() -> Any:
    import vl_convert

    return vl_convert
