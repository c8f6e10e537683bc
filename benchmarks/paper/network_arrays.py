"""Architectures for convolutional networks, the time between two inputs and of one, and
what they take."""

from __future__ import annotations

from benchmarks.paper.architectures import (
    Architecture,
    architecture_settings,
    architectures,
    by_network,
)
from benchmarks.paper.experiment import Cell, Claim, Outcome, Run, Table, claims
from benchmarks.paper.published_networks import MAC_UNITS
from ithaca.exports.charts.chart import LineChart


def run(how: Run) -> Outcome:
    """Solve the networks on every architecture."""
    found = list(architectures(how))
    table = Table.of(map(_row, found))
    chart = LineChart(
        "Cycles between two inputs by architecture",
        "architecture",
        "interval (cycles)",
        table.series(
            ["network"], ["architecture"], "interval (cycles)", low="lower bound (cycles)"
        ),
    )
    return Outcome(table, _claims(found), chart, architecture_settings(how))


def _row(of: Architecture) -> dict[str, Cell]:
    return {
        "network": of.network,
        "architecture": of.name,
        "arrays": len(of.result.arrays) or len(of.layers),
        "interval (cycles)": of.interval,
        "lower bound (cycles)": of.bound,
        "latency (cycles)": of.latency,
        "share of peak (%)": float(100 * of.result.network.operations / (MAC_UNITS * of.interval)),
        "DSP": of.resource("dsp"),
        "BRAM18K": of.resource("bram18k"),
        "layers by array": " | ".join(" ".join(array.layers) for array in of.result.arrays),
    }


def _claims(found: list[Architecture]) -> tuple[Claim, ...]:
    made: list[Claim] = []
    for net, one, free, several in by_network(found):
        best = min(several, key=lambda of: of.interval)
        measured = {
            "rate": (best.interval, one.interval),
            "latency": (best.latency, one.latency),
            "one array": (one.latency, free.latency),
            "proof": (one.interval, one.bound),
        }
        rate, most = float(one.interval / best.interval), float(one.interval / best.bound)
        made += claims("network-arrays", measured, net=net, best=best.name, rate=rate, most=most)
    return tuple(made)
