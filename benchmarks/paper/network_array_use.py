"""The use that each layer makes of the arrays of an architecture."""

from __future__ import annotations

from benchmarks.paper.architectures import (
    Architecture,
    architecture_settings,
    architectures,
    by_network,
)
from benchmarks.paper.experiment import Cell, Claim, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.studies.network.result import LayerResult

EFFICIENCY = "DSP efficiency (%)"


def run(how: Run) -> Outcome:
    """Solve the networks on every architecture."""
    found = list(architectures(how))
    table = Table.of(row for of in found for row in _rows(of))
    networks = {of.network for of in found}
    title = "DSP efficiency by layer and architecture" + (
        f" ({found[0].network})" if len(networks) == 1 else ""
    )
    by, x = (
        (["architecture"], ["layer"])
        if len(networks) == 1
        else (["network", "architecture"], ["network", "layer"])
    )
    chart = LineChart(title, "layer", EFFICIENCY, table.series(by, x, EFFICIENCY))
    return Outcome(table, _claims(found), chart, architecture_settings(how))


def _efficiency(of: LayerResult) -> float:
    """DSP efficiency of a layer, which has a solution (%)."""
    assert of.efficiency is not None
    return float(100 * of.efficiency)


def _rows(of: Architecture) -> list[dict[str, Cell]]:
    return [
        {
            "network": of.network,
            "architecture": of.name,
            "layer": layer.name,
            "runs": layer.count,
            "array": result.array,
            "latency of a run (cycles)": solution.metrics["latency"],
            EFFICIENCY: _efficiency(result),
            "operations per off-chip word": float(
                2 * layer.nest.operations / solution.metrics["off_chip_words"]
            ),
            "DSP": solution.metrics["dsp"],
        }
        for result, (layer, solution) in zip(of.result.layers, of.layers, strict=True)
    ]


def _least(of: Architecture) -> float:
    return min(map(_efficiency, of.result.layers))


def _claims(found: list[Architecture]) -> tuple[Claim, ...]:
    made: list[Claim] = []
    for net, one, _, several in by_network(found):
        made += claims(
            "network-array-use", {"worst use": (max(map(_least, several)), _least(one))}, net=net
        )
    return tuple(made)
