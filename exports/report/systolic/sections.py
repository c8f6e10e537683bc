"""The report on a systolic array: its factors, where the cycles go, roofline and energy, and a
drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ithaca.exports.charts.chart import Bar, BarChart, LineChart, Series
from ithaca.exports.report.answer import BestConfiguration, FamilySections
from ithaca.exports.report.blocks import (
    Block,
    ChartFigure,
    Section,
    chart_figure,
    stacked,
)
from ithaca.exports.report.systolic.drawing import array_drawing
from ithaca.files.numbers import number, percent, rounded
from ithaca.files.registry import Registry
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.insight.cycles import PES
from ithaca.formulations.systolic.insight.facts import Facts, facts
from ithaca.formulations.systolic.insight.roofs import Roofs
from ithaca.formulations.systolic.metrics import energies, most_bandwidth
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.results.view import Table

#: What energy is spent on, by the names of activities, from the operation outwards.
KINDS = {
    "mac": "multiply-accumulates",
    "register": "registers",
    "hop": "steps between modules",
    "buffer": "on-chip buffers",
    "dram": "DRAM",
}


def roofline(best: BestConfiguration, roofs: Roofs) -> Section:
    """Performance against operational intensity."""
    text = (
        "The further to the right a design stands, the more it computes with a byte "
        "that is moved off chip. None is above "
        "the roofs: the bandwidth to the left, the MAC units to the right, at "
        f"{number(systolic(best.problem).technology.clock_mhz)} MHz. An operation is "
        "a multiplication or an addition of the "
        "nest; those on padding do not count."
    )
    chart = roofline_chart(best, roofs)
    table = Table("The figures of the roofline", *chart.figures, folded=True)
    return Section("roofline", "Roofline", (text, chart_figure("roofline-chart", chart), table))


def roofline_chart(best: BestConfiguration, roofs: Roofs) -> LineChart:
    """The roofs as lines, the designs of the result as points.

    Units are those that the limits on dsp and comp allow, else the answer's own.
    """
    design, (bandwidth, whose) = systolic(best.problem), _bandwidth(best.problem)
    units = (roofs.budget or roofs.array).units
    peak, own = _gops(design, units), _gops(design, roofs.array.units)
    ridge, most = peak / bandwidth, _per_byte(design, roofs.traffic.least_bytes)
    points = {
        solution.design: (
            _per_byte(design, solution.metrics["bandwidth"] * solution.metrics["time"] * 10**6),
            float(solution.metrics["throughput"]),
        )
        for solution in best.result.solutions
        if solution.configuration is not None
    }
    left = min(ridge, most, *(x for x, _ in points.values())) / 2
    right = max(ridge, most, *(x for x, _ in points.values())) * 2
    low = min(bandwidth * left, *(y for _, y in points.values())) / 1.5
    answer = points.pop(best.solution.design)
    series = [
        Series(whose, (left, ridge), (left * bandwidth, peak), role="limit", form="line"),
        Series(f"{units:,} MAC units", (ridge, right), (peak, peak), form="line"),
        Series(
            "each tensor moved once",
            (most, most),
            (low, min(peak, most * bandwidth)),
            role="soft",
            form="line",
        ),
    ]
    if own < peak:
        name = f"{roofs.array.units:,} MAC units of the answer"
        series.append(
            Series(name, (own / bandwidth, right), (own, own), role="answer", form="line")
        )
    if points:
        x, y = zip(*points.values(), strict=True)
        series.append(
            Series(
                "other designs",
                x,
                y,
                labels=tuple(points),
                notes=tuple(points),
                role="main",
                form="points",
            )
        )
    name = best.solution.design
    series.append(
        Series(
            f"the answer, {name}",
            answer[:1],
            answer[1:],
            labels=(name,),
            role="answer",
            form="points",
        )
    )
    title = f"{best.subject}: roofline of {units:,} MAC units and {whose}"
    return LineChart(
        title,
        "operations per byte off chip",
        "Gop/s",
        tuple(series),
        log_x=True,
        log_y=True,
        ends=((left, right), (low, 1.5 * peak)),
    )


def _gops(design: SystolicDesign, units: int) -> float:
    """The throughput of MAC units (Gop/s)."""
    return float(units * design.array.factors * design.technology.clock_mhz / 1000)


def _bandwidth(problem: Problem) -> tuple[float, str]:
    """GB/s, and whose: the limit on it, else what the ports of the model's DRAM modules move."""
    design = systolic(problem)
    limits = [float(limit.bound) for limit in problem.limits if limit.metric == "bandwidth"]
    if limits:
        return min(limits), f"{rounded(min(limits))} GB/s within the limit"
    ports = float(most_bandwidth(design.array, design.data, design.technology))
    return ports, f"{rounded(ports)} GB/s of the DRAM ports"


def _per_byte(design: SystolicDesign, moved: Fraction | int) -> float:
    """Operations of the nest over bytes."""
    return float(Fraction(design.nest.operations * design.array.factors) / moved)


def energy(costs: Costs) -> Section:
    """Energy of a run by what it is spent on."""
    spent = energies(costs)
    text = (
        "What a run does, counted by the cost model, times the energy of each "
        f"operation and of each word moved: {rounded(sum(spent.values()) / 10**6)} µJ "
        "in all. They are estimates from published figures, not measurements."
    )
    parts = {text: spent[kind] / 10**6 for kind, text in KINDS.items()}
    blocks = stacked("energy-chart", "Energy by component", "µJ", parts)
    return Section("energy", "Energy by component", (text, *blocks))


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
    of_run = None if checkpoint is None else RUNS.get(view.design.family)
    run = () if checkpoint is None or of_run is None else of_run(best, checkpoint)
    costs = (_latency(view), *run, roofline(best, view.facts.roofs), energy(view.costs))
    return FamilySections((), costs, (array_drawing(view.costs),))


def outline(best: BestConfiguration, name: str) -> tuple[Block, ...]:
    """The drawing alone, where a page shows several; of a name that is unique there."""
    return array_drawing(_view(best).costs, name).blocks
