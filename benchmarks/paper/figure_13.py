"""Figure 13: throughput of each dataflow on every convolution of VGG16."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.paper.convolutions import (
    LayerThroughput,
    dataflow_text,
    mean_over_peak,
    peak,
    throughputs,
)
from benchmarks.paper.experiment import Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import BRAM18K, DSP
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.systolic.systolic_array import Edition

NETWORK = "vgg16"

#: The dataflows that the paper calls the best, in Ithaca's loops.
BEST = (("o", "r"), ("o", "c"))


def run(how: Run) -> Outcome:
    """Prove every layer's optimum under each dataflow, in full mode in both model editions."""
    editions = (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,)
    solved = {edition: throughputs(NETWORK, edition, how) for edition in editions}
    table = Table.of(
        {
            "edition": edition.value,
            "layer": each.layer,
            "runs": each.runs,
            "dataflow": dataflow_text(dataflow),
            "throughput (Gop/s)": round(value, 2),
            "throughput / best of the network": round(value / peak(layers), 4),
        }
        for edition, layers in solved.items()
        for each in layers
        for dataflow, value in each.by_dataflow.items()
    )
    y = "throughput / best of the network"
    chart = LineChart(
        "Each dataflow on the convolutions of VGG16",
        "layer",
        y,
        table.series(["dataflow"], ["layer"], y, edition="odyssey"),
    )
    settings = {
        "network": NETWORK,
        "permutation": "cout",
        "limits": {"dsp": float(DSP), "bram18k": float(BRAM18K)},
    }
    measured = _measured(solved[Edition.ODYSSEY])
    return Outcome(table, claims("figure-13", measured), chart, settings)


def _measured(
    layers: Sequence[LayerThroughput],
) -> dict[str, Number | tuple[Number, Number]]:
    after = [each for each in layers if each.layer != "conv1_1"]
    means = {dataflow: mean_over_peak(layers, dataflow) for dataflow in layers[0].by_dataflow}
    return {
        "layers": min(
            max(each.by_dataflow[dataflow] for dataflow in BEST) / max(each.by_dataflow.values())
            for each in after
        ),
        "first layer": next(
            max(each.by_dataflow[dataflow] for dataflow in BEST) / max(each.by_dataflow.values())
            for each in layers
            if each not in after
        ),
        "dimensions": (
            min(mean for dataflow, mean in means.items() if len(dataflow) == 2),
            max(mean for dataflow, mean in means.items() if len(dataflow) == 1),
        ),
    }
