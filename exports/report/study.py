"""The report of a front or a what-if study: its picture, what it says, and every point."""

from __future__ import annotations

from typing import Any

from ithaca.exports.report.answer import Card, Verdict, findings
from ithaca.exports.report.blocks import Block, Section, Table, chart_figure
from ithaca.exports.report.page import rendered
from ithaca.files.numbers import number
from ithaca.solver.certificate import as_stated

#: What is proven of all points together, by status: sign, and words.
PROOFS = {
    "optimal": ("✓", "Proven optimal"),
    "feasible": ("≥", "Not all proven"),
    "infeasible": ("✕", "Infeasible where it says so"),
    "unknown": ("?", "Points are not known"),
}


def study_page(answer: Any) -> str:
    """A self-contained HTML page about a `Front`, a `Study` or a `CodesignStudy`."""
    rows, statements = answer.rows, answer.statements
    blocks: list[Block] = []
    texts = [answer.title, *(heading for row in rows[:1] for heading, _ in row)]
    names = {text.partition(" ")[0] for text in texts}
    if rows:
        headings = tuple(name for name, _ in rows[0])
        cells = tuple(tuple(text for _, text in row) for row in rows)
        text = frozenset(place for place, name in enumerate(headings) if name in answer.texts)
        blocks.append(Table("Every point", headings, cells, text))
        if answer.picture is not None:
            blocks.insert(0, chart_figure("points-chart", answer.picture))
    sign, meaning = PROOFS[answer.status]
    return rendered(
        answer.title,
        [(name, text) for name, text in answer.provenance.items() if name != "title"],
        Verdict(answer.status, sign, meaning, f"{answer.headline}{as_stated(answer)}."),
        (Card("points", number(len(rows)), "", ""),),
        [
            *([Section("points", "The points", tuple(blocks))] if blocks else []),
            findings(statements, names, "What it says"),
        ],
    )
