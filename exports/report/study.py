"""The report of a front or a what-if study: its picture, what it says, and every point."""

from __future__ import annotations

from typing import Any

from ithaca.exports.report.answer import Card, findings, verdict
from ithaca.exports.report.blocks import Section, chart_figure, view_blocks
from ithaca.exports.report.page import rendered
from ithaca.files.numbers import number
from ithaca.results.view import Table

#: The terms of what was asked whose names are those of options.
TERMS = {"dtype": "data type", "edition": "model edition", "objective": "minimised"}


def study_page(answer: Any) -> str:
    """A self-contained HTML page about a `Front`, a `Study` or a `CodesignStudy`."""
    tables = [block for block in answer.view if isinstance(block, Table)]
    blocks, columns = [*view_blocks(tables)], [name for table in tables for name in table.columns]
    names = {text.partition(" ")[0] for text in (answer.title, *columns)}
    if blocks and answer.picture is not None:
        blocks.insert(0, chart_figure("points-chart", answer.picture))
    return rendered(
        answer.title,
        [(TERMS.get(n, n), text) for n, text in answer.provenance.items() if n != "title"],
        verdict(answer),
        (Card("points", number(len(answer.points)), "", ""),),
        [
            *([Section("points", "The points", tuple(blocks))] if blocks else []),
            findings(answer.statements, names, "What it says"),
        ],
        answer.statements,
    )
