"""Results in the output of a notebook's cell: a headline, key figures, a drawing.

Notebooks share one page among all outputs, so drawings come as images with styles of their own.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from xml.etree import ElementTree

from ithaca.exports.charts.page import STYLE
from ithaca.exports.charts.rendering import svg
from ithaca.exports.report.answer import Card, best_configuration, verdict
from ithaca.exports.report.blocks import ChartFigure
from ithaca.exports.report.page import family_sections
from ithaca.files.answer import Answer
from ithaca.solver.result import Result

_GROUND = "svg{background:var(--sheet);font-family:system-ui,sans-serif;font-size:13px}"


#: Columns of the tables that notebooks show; `Answer.to_dataframe` has all.
SHOWN = {"kernel", "count", "value", "lower_bound", "status", "dataflow", "permutation"} | {
    "latency",
    "dsp",
    "bram18k",
    "throughput",
}


def answer_cell(answer: Answer) -> str:
    """A study: its chart, if there is one of so many axes, and its table, as HTML; of one workload
    what is proven, key figures, and the array drawn."""
    if isinstance(answer, Result):
        return result_cell(answer)
    chart, table = getattr(answer, "picture", None), answer.to_dataframe()
    columns = [name for name in table if name in SHOWN or name.startswith("objectives.")]
    drawn = "" if chart is None else _image(svg(chart), f"{chart.title}: {chart.description}")
    text: str = table[columns or list(table)]._repr_html_()
    return cell(answer.headline) + drawn + text


def result_cell(result: Result) -> str:
    """The cell of a notebook for a result: its proof, its key figures, and a drawing of the
    array."""
    headline = result.headline
    best = best_configuration(result)
    if best is None:
        return cell(headline)
    own, proven = family_sections(best), verdict(result, result.certificate)
    figures = [
        block
        for section in own.drawing
        for block in section.blocks
        if isinstance(block, ChartFigure)
    ]
    drawings = [
        str(figure.markup).partition("</svg>")[0] + "</svg>" for figure in figures
    ]  # the one for broad pages
    return cell(headline, f"{proven.mark} {proven.text}.", best.cards, drawings)


def cell(
    headline: str, remark: str = "", figures: Sequence[Card] = (), drawings: Sequence[str] = ()
) -> str:
    """A headline, a remark, key figures and drawings (SVG).

    Parameters
    ----------
    headline : str
        What is known in a line.
    remark : str, optional
        What is proven.
    figures : sequence of Card, optional
        Key figures with their units.
    drawings : sequence of str, optional
        SVG, as in pages.
    """
    parts = [f"<strong>{escape(headline)}</strong>", f"<div>{escape(remark)}</div>"]
    pictures = "".join(
        f"<div><small>{escape(card.label)}</small><br><span "
        f'style="font-size:130%">{escape(card.value)}</span> '
        f"{escape(card.unit)}<br><small>{escape(card.note)}</small></div>"
        for card in figures
    )
    parts.append(
        f'<div style="display:flex;flex-wrap:wrap;gap:.4em 2em;margin:.6em 0">{pictures}</div>'
    )
    return "".join([*parts, *map(_drawing, drawings)])


def _drawing(svg: str) -> str:
    """A drawing as an image: with the style of pages, which then holds for it alone."""
    style = (
        STYLE + (files("ithaca.exports.report") / "style.css").read_text(encoding="utf-8") + _GROUND
    )
    head, _, rest = svg.removeprefix("<svg").partition(">")
    whole = f'<svg xmlns="http://www.w3.org/2000/svg"{head}><style>{style}</style>{rest}'
    drawn = ElementTree.fromstring(svg)
    return _image(whole, f"{drawn.findtext('title')}: {drawn.findtext('desc')}")


def _image(svg: str, description: str) -> str:
    """A picture (SVG) as an image, and words for those who do not see it."""
    return (
        f'<img alt="{escape(description)}" style="max-width:100%" '
        f'src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">'
    )
