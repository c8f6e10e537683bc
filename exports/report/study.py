"""The report of a front or a what-if study: its picture, what it says, and every point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ithaca.exports.report.answer import Card, card, findings, verdict
from ithaca.exports.report.blocks import Section, chart_figure, view_blocks
from ithaca.exports.report.page import rendered
from ithaca.files.numbers import number
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.results.view import Table
from ithaca.results.wording import headed
from ithaca.studies.points import GridAnswer

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
        _cards(answer, columns),
        [
            *([Section("points", "The points", tuple(blocks))] if blocks else []),
            findings(answer.statements, names, "What it says"),
        ],
        answer.statements,
    )


def _cards(answer: Any, columns: Sequence[str]) -> tuple[Card, ...]:
    """The least value of each objective of a front; the least and the largest of a study."""
    if isinstance(answer, GridAnswer):
        what = answer.objective
        known = [
            as_asked(what, cell.value)[1]
            for cell in answer.cells.values()
            if cell.value is not None
        ]
        ends = [("least", min), ("largest", max)] if known and what != "objective" else []
        values = [(word, name_asked(what), end(known)) for word, end in ends]
    else:
        rows = zip(*(point.values for point in answer.points), strict=True)
        values = [
            (
                "least" if name_asked(o.text) == o.text else "largest",
                *as_asked(o.text, min(row)),
            )
            for o, row in zip(answer.objectives, rows, strict=False)
        ]
    figures = (
        card(f"{word} {name}", value, _unit_in(columns, name)) for word, name, value in values
    )
    return (*figures, Card("points", number(len(answer.points)), "", ""))


def _unit_in(columns: Sequence[str], name: str) -> str:
    """The unit that the heading of a quantity states."""
    start = headed(name, "\0").partition("\0")[0]
    return next((each[len(start) : -1] for each in columns if each.startswith(start)), "")
