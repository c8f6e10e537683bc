"""Figure 15: how well each layer uses the arrays of an architecture."""

from __future__ import annotations

from ithaca.experiments.architectures import FREE, ONE, Architecture, architecture_settings, architectures
from ithaca.experiments.claim import NOT_AT_HAND, Claim
from ithaca.experiments.experiment import Cell, Experiment, Mode, Outcome, Run, Table
from ithaca.experiments.table_6 import INFERENCE
from ithaca.studies.charts.chart import LineChart, Series
from ithaca.studies.network.result import LayerResult
from ithaca.workloads.networks.network import Layer

COLUMNS = (
    "network",
    "architecture",
    "layer",
    "runs",
    "array",
    "latency of a run (cycles)",
    "DSP efficiency (%)",
    "operations per off-chip word",
    "DSP",
)


def run(how: Run) -> Outcome:
    """Solve the networks on every architecture."""
    found = list(architectures(how))
    rows = tuple(row for of in found for row in _rows(of))
    return Outcome(Table(COLUMNS, rows), _claims(found), _chart(found), architecture_settings(how))


def _efficiency(of: LayerResult) -> float:
    """DSP efficiency of a layer, which has a solution (%)."""
    assert of.efficiency is not None
    return float(100 * of.efficiency)


def _rows(of: Architecture) -> list[tuple[Cell, ...]]:
    return [
        (
            of.network,
            of.name,
            layer.name,
            layer.count,
            result.array,
            solution.metrics["latency"],
            _efficiency(result),
            float(2 * layer.nest.operations / solution.metrics["off_chip_words"]),
            solution.metrics["dsp"],
        )
        for result, (layer, solution) in zip(of.result.layers, of.layers, strict=True)
    ]


def _least(of: Architecture) -> float:
    return min(map(_efficiency, of.result.layers))


def _claims(found: list[Architecture]) -> tuple[Claim, ...]:
    claims = []
    for net in dict.fromkeys(of.network for of in found):
        mine = {of.name: of for of in found if of.network == net}
        pipelines = [of for name, of in mine.items() if name not in (ONE, FREE)]
        claims.append(
            Claim(
                f"{net}: the worst use of a layer's array is better with several arrays than with one",
                NOT_AT_HAND,
                "least DSP efficiency of a layer on several arrays, against one array (%)",
                max(map(_least, pipelines)),
                ">",
                _least(mine[ONE]),
            )
        )
    return tuple(claims)


def _chart(found: list[Architecture]) -> LineChart:
    first = found[0].network
    networks = len({of.network for of in found})
    series = []
    for of in found:
        x = tuple(_label(of, result.layer, networks) for result in of.result.layers)
        y = tuple(map(_efficiency, of.result.layers))
        name = of.name if networks == 1 else f"{of.network}: {of.name}"
        series.append(Series(name, x, y))
    title = "DSP efficiency by layer and architecture" + (f" ({first})" if networks == 1 else "")
    return LineChart(title, "layer", "DSP efficiency (%)", tuple(series))


def _label(of: Architecture, layer: Layer, networks: int) -> str:
    return layer.name if networks == 1 else f"{of.network[0]}:{layer.name}"


EXPERIMENT = Experiment(
    "figure-15",
    "how well each layer uses the arrays of an architecture",
    NOT_AT_HAND,
    f"{INFERENCE}; that the figure shows layers was inferred from analyze.py, which plots the DSP efficiency of each layer",
    run,
    clock=frozenset({Mode.FULL}),
    budgeted=True,
)
