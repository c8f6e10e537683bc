"""What the report shows of a systolic array: its factors, where the cycles go, and a drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.exports.report.answer import BestConfiguration, Card, FamilySections
from ithaca.exports.report.blocks import (
    Block,
    ChartFigure,
    Paragraph,
    Section,
    Table,
    chart_figure,
    stacked,
)
from ithaca.exports.report.families.systolic_drawing import array_drawing
from ithaca.exports.report.families.systolic_physics import energy, roofline
from ithaca.exports.report.families.systolic_timeline import timeline_sections
from ithaca.files.numbers import number, percent, rounded
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.insight.cycles import PES
from ithaca.formulations.systolic.insight.facts import Facts, facts
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling

_PARTS = {
    "useful": "the nest's own operations on all MAC units",
    "padding": "operations on padding",
    "partial_sums": "PEs load and store partial sums",
    "waiting": "PEs wait: transfers, or buffers that swap",
    "prologue": "prologue: filling the array with the first tile",
    "epilogue": "epilogue: draining the last tile",
}


@dataclass(frozen=True)
class ArrayView:
    """A configuration of a systolic array with its exact costs."""

    best: BestConfiguration
    design: SystolicDesign
    tiling: Tiling
    costs: Costs
    facts: Facts
    """What is known of it."""

    @property
    def array(self) -> SystolicArray:
        """The derived array."""
        return self.design.array


def _view(best: BestConfiguration) -> ArrayView:
    """Evaluate a configuration for its sections."""
    design = systolic(best.problem)
    costs = design.costs(best.configuration)
    return ArrayView(
        best,
        design,
        design.tiling(best.configuration),
        costs,
        facts(design.nest, costs, best.problem.limits),
    )


def _cards(view: ArrayView) -> tuple[Card, ...]:
    """What one asks after the objective."""
    metrics, known = view.best.solution.metrics, view.facts
    figures = []
    if view.best.objective != "latency":
        figures.append(Card("latency", number(metrics["latency"]), "cycles", ""))
    clock = number(view.design.technology.clock_mhz)
    figures.append(
        Card(
            "throughput",
            number(round(float(metrics["throughput"]), 1)),
            "Gop/s",
            f"{rounded(metrics['time'])} ms at {clock} MHz",
        )
    )
    units = number(metrics["comp"])
    useful = percent(known.cycles.shares["useful"])
    figures.append(
        Card(
            "useful work",
            useful,
            "of the cycles",
            f"the nest's own operations on {units} MAC units",
        )
    )
    words = number(metrics["off_chip_words"])
    moved = number(
        round(float(known.roofs.traffic.moved_words / known.roofs.traffic.least_words), 2)
    )
    rate = f"{rounded(metrics['bandwidth'])} GB/s"
    figures.append(
        Card("off-chip traffic", words, "words", f"{moved} times the least possible; {rate}")
    )
    spent, power = rounded(metrics["energy"] / 10**6), rounded(metrics["power"] / 1000)
    figures.append(Card("energy", spent, "µJ", f"{power} W, by published figures per operation"))
    return tuple(figures)


def _factors(view: ArrayView) -> list[Block]:
    """The configuration in tables."""
    array = view.array
    blocks: list[Block] = [
        Paragraph(
            f"Design {array.name}: the loops {' and '.join(array.dataflow)} are "
            "mapped to space, and the tiles are ordered "
            f"so that {array.permutation} is reused innermost ({' → '.join(array.order)})."
        )
    ]
    if array.reservation:
        blocks.append(Paragraph(f"The design is {array.reservation}."))
    blocks += [_loops(view), _packs(view)]
    return blocks


def _loops(view: ArrayView) -> Table:
    array, values = view.array, view.costs.point.values
    rows: list[tuple[str, ...]] = []
    for padding in view.facts.padding.loops:
        loop = padding.loop
        what = "space" if loop in array.dataflow else "time"
        if loop == array.simd_loop:
            what += ", SIMD"
        rows.append(
            (
                loop,
                what,
                number(padding.extent),
                number(view.tiling.array_part[loop]),
                number(view.tiling.t2(array, loop)),
                number(padding.lanes) if loop in array.dataflow else "–",
                number(values[quantities.tiles(loop).name]),
                number(padding.padded) + ("" if padding.padded == padding.extent else " (padded)"),
            )
        )
    rows += [
        (loop, "inside the PE", number(view.design.nest.sizes[loop]), *["–"] * 5)
        for loop in array.untiled
    ]
    columns = (
        "loop",
        "mapped to",
        "extent",
        "t1 array part",
        "t2 or SIMD",
        "lanes",
        "tiles",
        "iterations run",
    )
    return Table("Tile factors by loop", columns, tuple(rows), frozenset({0, 1}))


def _packs(view: ArrayView) -> Table:
    packs = view.tiling.module_packs(view.array)
    rows = tuple((name, number(words)) for name, words in packs.items())
    return Table("Data packing by buffer module", ("module", "words"), rows)


def _latency(view: ArrayView) -> Section:
    """The parts of the latency, and the cycles of the PEs and of every I/O module."""
    return Section("latency", "Latency by module", (*_parts(view), *_modules(view)))


def _parts(view: ArrayView) -> tuple[ChartFigure, Table]:
    cycles = view.facts.cycles
    title = f"The latency of {number(cycles.latency)} cycles in parts, one after the other"
    parts = {text: Fraction(getattr(cycles, name)) for name, text in _PARTS.items()}
    return stacked("parts", title, "cycles", parts)


def _modules(view: ArrayView) -> tuple[Paragraph, ChartFigure, Table]:
    costs, bound = view.costs, view.facts.binding
    first, main = bound.first, bound.main
    entries = [(PES, "processing elements", "", None, None, costs.pe)]
    for group, module in view.array.modules:
        cost = costs.modules[module.name]
        what = " and ".join(
            part for part, has in (("buffer", module.buffer), ("DRAM access", module.dram)) if has
        )
        entries.append(
            (
                module.name,
                what or "transfer",
                group.tensor,
                cost.transfer,
                cost.per_tile,
                cost.total,
            )
        )
    bars = tuple(
        Bar(
            name,
            float(total),
            f"{number(total)} ({percent(total / main)})",
            "limit" if name == first.name else "main",
        )
        for name, *_, total in entries
    )
    text = (
        f"The PEs and all I/O modules work at the same time; the {bound.phase} lasts "
        "at least as long as the slowest. That is "
        f"{'the PEs' if first.name == PES else first.name}, at work in "
        f"{number(first.cycles)} of its {number(main)} cycles. "
        "A buffer that feeds the PEs counts the time in which it waits for them."
    )
    line = (float(main), f"{bound.phase}: {number(main)} cycles")
    table = Table(
        "Cycles by module",
        (
            "module",
            "what it is",
            "tensor",
            "transfer per tile",
            "per tile",
            "total",
            f"share of the {bound.phase}",
        ),
        tuple(
            (
                name,
                what,
                tensor or "–",
                number(transfer),
                number(tile),
                number(total),
                percent(total / main),
            )
            for name, what, tensor, transfer, tile, total in entries
        ),
        frozenset({0, 1, 2}),
        folded=True,
    )
    return (
        Paragraph(text),
        chart_figure(
            "modules", BarChart(f"Cycles at work in the {bound.phase}", "cycles", bars, line)
        ),
        table,
    )


def sections(
    best: BestConfiguration, checkpoint: Callable[[], None] | None = None
) -> FamilySections:
    """Everything a report shows of a systolic array; with a run of it, if there is a checkpoint."""
    view = _view(best)
    run = () if checkpoint is None else timeline_sections(best, checkpoint)
    costs = (_latency(view), *run, roofline(best, view.facts.roofs), energy(view.costs))
    return FamilySections(_cards(view), tuple(_factors(view)), costs, (array_drawing(view.costs),))


def outline(best: BestConfiguration, name: str) -> tuple[Block, ...]:
    """Its factors and the drawing alone, where a page shows several; of a name that is unique
    there."""
    view = _view(best)
    return (*_factors(view), *array_drawing(view.costs, name).blocks)
