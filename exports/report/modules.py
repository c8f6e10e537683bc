"""Where the latency comes from: its parts, and how long each module works."""

from __future__ import annotations

from ithaca.exports.report.bars import Bar, bar_chart
from ithaca.exports.report.blocks import Figure, Paragraph, Section, Table
from ithaca.exports.report.stack import Part, stacked_bar
from ithaca.exports.report.subject import Subject
from ithaca.formulations.shown_numbers import number, percent
from ithaca.studies.explanation.binding import PES

_PARTS = {
    "useful": "the nest's own operations on all MAC units",
    "padding": "operations on padding",
    "partial_sums": "PEs load and store partial sums",
    "waiting": "PEs wait: transfers, or buffers that swap",
    "prologue": "prologue: filling the array with the first tile",
    "epilogue": "epilogue: draining the last tile",
}


def modules(known: Subject) -> Section:
    """The parts of the latency, and the cycles of the PEs and of every I/O module."""
    return Section("latency", "Latency by module", (*_parts(known), *_modules(known)))


def _parts(known: Subject) -> tuple[Figure, Table]:
    cycles = known.facts.cycles
    shown = [(name, text) for name, text in _PARTS.items() if getattr(cycles, name)]
    parts = [
        Part(text, float(cycles.shares[name]), f"{number(getattr(cycles, name))} ({percent(cycles.shares[name])})")
        for name, text in shown
    ]
    title = f"The latency of {number(cycles.latency)} cycles in parts"
    said = "; ".join(f"{part.name}: {part.figures}" for part in parts)
    table = Table(
        "The latency in parts (cycles)",
        ("part", "cycles", "share"),
        tuple((text, number(getattr(cycles, name)), percent(cycles.shares[name])) for name, text in _PARTS.items()),
        folded=True,
    )
    return Figure(stacked_bar("parts", title, said, parts), title), table


def _modules(known: Subject) -> tuple[Paragraph, Figure, Table]:
    costs, first = known.costs, known.facts.binding.first
    main = costs.main
    entries = [(PES, "processing elements", "", None, None, costs.pe)]
    for group, module in known.solution.array.modules:
        cost = costs.modules[module.name]
        what = " and ".join(part for part, has in (("buffer", module.buffer), ("DRAM access", module.dram)) if has)
        entries.append((module.name, what or "transfer", group.array, cost.transfer, cost.per_tile, cost.total))
    bars = [
        Bar(
            name,
            float(total),
            f"{number(total)} ({percent(total / main)})",
            "fill-first" if name == first.name else "fill-main",
        )
        for name, _, _, _, _, total in entries
    ]
    text = (
        f"The PEs and all I/O modules work at the same time; the main phase lasts as long as the slowest. Here that is "
        f"{'the PEs' if first.name == PES else first.name}, at work in {number(first.cycles)} of its {number(main)} cycles. "
        "A buffer that feeds the PEs counts the time in which it waits for them."
    )
    title = "Cycles at work in the main phase"
    said = "; ".join(f"{bar.name} {bar.note}" for bar in bars)
    line = (float(main), f"main phase: {number(main)} cycles")
    table = Table(
        "Cycles by module",
        ("module", "what it is", "array", "transfer per tile", "per tile", "total", "share of the main phase"),
        tuple(
            (name, what, array or "–", number(transfer), number(tile), number(total), percent(total / main))
            for name, what, array, transfer, tile, total in entries
        ),
        frozenset({0, 1, 2}),
        folded=True,
    )
    return Paragraph(text), Figure(bar_chart("modules", title, said, bars, "cycles", line=line), title), table
