"""Where the latency comes from, and what is used of every limit."""

from __future__ import annotations

from fractions import Fraction

from ithaca.exports.report.blocks import Block, Figure, Paragraph, Section, Table, chart_figure
from ithaca.exports.report.configuration import BestConfiguration
from ithaca.formulations.shown_numbers import number, percent
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.studies.charts.chart import Bar, BarChart
from ithaca.studies.explanation.binding import PES

_PARTS = {
    "useful": "the nest's own operations on all MAC units",
    "padding": "operations on padding",
    "partial_sums": "PEs load and store partial sums",
    "waiting": "PEs wait: transfers, or buffers that swap",
    "prologue": "prologue: filling the array with the first tile",
    "epilogue": "epilogue: draining the last tile",
}


def latency(best: BestConfiguration) -> Section:
    """The parts of the latency, and the cycles of the PEs and of every I/O module."""
    return Section("latency", "Latency by module", (*_parts(best), *_modules(best)))


def _parts(best: BestConfiguration) -> tuple[Figure, Table]:
    cycles = best.facts.cycles
    figures = {name: (number(getattr(cycles, name)), percent(cycles.shares[name])) for name in _PARTS}
    bars = tuple(
        Bar(text, float(getattr(cycles, name)), "{} ({})".format(*figures[name]), name == "useful")
        for name, text in _PARTS.items()
        if getattr(cycles, name)
    )
    title = f"The latency of {number(cycles.latency)} cycles in parts, one after the other"
    rows = tuple((text, *figures[name]) for name, text in _PARTS.items())
    table = Table("The latency in parts (cycles)", ("part", "cycles", "share"), rows, folded=True)
    return chart_figure("parts", BarChart(title, "cycles", bars, stacked=True)), table


def _modules(best: BestConfiguration) -> tuple[Paragraph, Figure, Table]:
    costs, first = best.costs, best.facts.binding.first
    main = costs.main
    entries = [(PES, "processing elements", "", None, None, costs.pe)]
    for group, module in best.solution.array.modules:
        cost = costs.modules[module.name]
        what = " and ".join(part for part, has in (("buffer", module.buffer), ("DRAM access", module.dram)) if has)
        entries.append((module.name, what or "transfer", group.array, cost.transfer, cost.per_tile, cost.total))
    bars = tuple(
        Bar(name, float(total), f"{number(total)} ({percent(total / main)})", name == first.name) for name, *_, total in entries
    )
    text = (
        f"The PEs and all I/O modules work at the same time; the main phase lasts as long as the slowest. Here that is "
        f"{'the PEs' if first.name == PES else first.name}, at work in {number(first.cycles)} of its {number(main)} cycles. "
        "A buffer that feeds the PEs counts the time in which it waits for them."
    )
    line = (float(main), f"main phase: {number(main)} cycles")
    table = Table(
        "Cycles by module",
        ("module", "what it is", "tensor", "transfer per tile", "per tile", "total", "share of the main phase"),
        tuple(
            (name, what, tensor or "–", number(transfer), number(tile), number(total), percent(total / main))
            for name, what, tensor, transfer, tile, total in entries
        ),
        frozenset({0, 1, 2}),
        folded=True,
    )
    return Paragraph(text), chart_figure("modules", BarChart("Cycles at work in the main phase", "cycles", bars, line)), table


def resources(best: BestConfiguration) -> Section:
    """What is used of every limit, and what is left."""
    uses = best.facts.limits
    if not uses:
        return Section("resources", "Resources against limits", (Paragraph("No limits were given."),))
    bars, rows = [], []
    for use in uses:
        unit = METRICS[use.metric].unit if use.metric in METRICS else ""
        share = None if use.slack_share is None else 1 - use.slack_share
        used = "–" if share is None else _used(share)
        note = f"{used}: {number(use.used)} of {number(use.bound)} {unit}".rstrip()
        bars.append(Bar(use.metric, None if share is None else float(share) * 100, note, first=not use.slack))
        rows.append((use.metric, number(use.used), number(use.bound), unit or "–", number(use.slack), used))
    shares = [bar.value for bar in bars if bar.value is not None]
    blocks: list[Block] = []
    if shares:
        ends = (min(0.0, *shares), max(100.0, *shares))
        chart = BarChart("Use of every limit", "% of the limit", tuple(bars), (100.0, "limit"), ends)
        blocks.append(chart_figure("resources-chart", chart))
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
