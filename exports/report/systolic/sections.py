"""The report on a systolic array: its factors, where the cycles go, and a drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.exports.report.answer import BestConfiguration, FamilySections
from ithaca.exports.report.blocks import (
    Block,
    ChartFigure,
    Section,
    chart_figure,
    stacked,
)
from ithaca.exports.report.systolic.drawing import array_drawing
from ithaca.exports.report.systolic.physics import energy, roofline
from ithaca.files.numbers import number, percent
from ithaca.files.registry import Registry
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.insight.cycles import PES
from ithaca.formulations.systolic.insight.facts import Facts, facts
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.results.view import Table

_PARTS = {
    "useful": "the nest's own operations on all MAC units",
    "padding": "operations on padding",
    "partial_sums": "PEs load and store partial sums",
    "waiting": "PEs wait: transfers, or buffers that swap",
    "prologue": "prologue: filling the array with the first tile",
    "epilogue": "epilogue: draining the last tile",
}


#: Sections on a run, by family; a checkpoint may raise why there is none.
RUNS: Registry[Callable[[BestConfiguration, Callable[[], None]], tuple[Section, ...]]] = Registry(
    "run sections"
)


@dataclass(frozen=True)
class ArrayView:
    """A configuration of a systolic array with its exact costs."""

    best: BestConfiguration
    design: SystolicDesign
    tiling: Tiling
    costs: Costs
    facts: Facts
    """The facts known of the array."""

    @property
    def array(self) -> SystolicArray:
        """The array derived by the design."""
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


def _latency(view: ArrayView) -> Section:
    """The parts of the latency, and the cycles of the PEs and of every I/O module."""
    return Section("latency", "Latency by module", (*_parts(view), *_modules(view)))


def _parts(view: ArrayView) -> tuple[ChartFigure, Table]:
    cycles = view.facts.cycles
    title = f"The latency of {number(cycles.latency)} cycles in parts, one after the other"
    parts = {text: Fraction(getattr(cycles, name)) for name, text in _PARTS.items()}
    return stacked("parts", title, "cycles", parts)


def _modules(view: ArrayView) -> tuple[str, ChartFigure, Table]:
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
        text,
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
    of_run = RUNS.get(view.design.family)
    run = () if checkpoint is None or of_run is None else of_run(best, checkpoint)
    costs = (_latency(view), *run, roofline(best, view.facts.roofs), energy(view.costs))
    return FamilySections((), costs, (array_drawing(view.costs),))


def outline(best: BestConfiguration, name: str) -> tuple[Block, ...]:
    """The drawing alone, where a page shows several; of a name that is unique there."""
    return array_drawing(_view(best).costs, name).blocks
