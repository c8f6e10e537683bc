"""Roofline and energy: what units and bandwidth allow, and what the energy is spent on."""

from __future__ import annotations

from fractions import Fraction

from ithaca.exports.charts.chart import LineChart, Series
from ithaca.exports.report.answer import BestConfiguration
from ithaca.exports.report.blocks import Section, chart_figure, stacked
from ithaca.files.numbers import number, rounded
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.insight.roofs import Roofs
from ithaca.formulations.systolic.metrics import energies, most_bandwidth
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
