"""Resources against limits."""

from __future__ import annotations

from fractions import Fraction

from ithaca.exports.report.bars import Bar, bar_chart
from ithaca.exports.report.blocks import Block, Figure, Paragraph, Section, Table
from ithaca.exports.report.subject import Subject
from ithaca.formulations.shown_numbers import number, percent
from ithaca.formulations.systolic.metrics import METRICS


def resources(known: Subject) -> Section:
    """What is used of every limit, and what is left."""
    uses = known.facts.limits
    if not uses:
        return Section("resources", "Resources against limits", (Paragraph("No limits were given."),))
    bars, rows = [], []
    for use in uses:
        unit = METRICS[use.metric].unit if use.metric in METRICS else ""
        share = None if use.slack_share is None else 1 - use.slack_share
        used = "–" if share is None else _used(share)
        tight = "fill-first" if not use.slack else "fill-main"
        note = f"{used}: {number(use.used)} of {number(use.bound)} {unit}".rstrip()
        bars.append(Bar(use.metric, None if share is None else float(share) * 100, note, tight))
        rows.append((use.metric, number(use.used), number(use.bound), unit or "–", number(use.slack), used))
    shares = [bar.value for bar in bars if bar.value is not None]
    blocks: list[Block] = []
    if shares:
        title = "Use of every limit"
        said = "; ".join(f"{bar.name} {bar.note}" for bar in bars)
        axis = (min(0.0, *shares), max(100.0, *shares))
        chart = bar_chart("resources", title, said, bars, "% of the limit", line=(100.0, "limit"), axis=axis)
        blocks.append(Figure(chart, title))
    columns = ("limit", "used", "bound", "unit", "left", "used of it")
    blocks.append(Table("Limits, the one with the least left first", columns, tuple(rows), frozenset({0, 3})))
    return Section("resources", "Resources against limits", tuple(blocks))


def _used(share: Fraction) -> str:
    """A share in per cent; 100 only where nothing is left."""
    return (
        "more than 99.99 %"
        if 0.9999 < share < 1
        else f"{float(share):.2%}".replace("%", " %")
        if 0.999 < share < 1
        else percent(share)
    )
