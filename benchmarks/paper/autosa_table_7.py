"""AutoSA's Table 7: arrays of a convolution, MTTKRP and TTMc, of the published sizes."""

from __future__ import annotations

from benchmarks.paper.experiment import Outcome, Run, claims
from benchmarks.paper.published_arrays import THROUGHPUT, fastest, published_rows, records
from ithaca.exports.charts.chart import LineChart


def run(how: Run) -> Outcome:
    """Prove the fastest array of each size within the published block RAM."""
    kernels = {row["row"]: row for row in published_rows("table 7")}
    arrays = [fastest(row, how) for row in kernels.values()]
    table = records(arrays)
    series = table.series(["source"], ["row"], THROUGHPUT)
    measured = {
        "no less": min(array.gain for array in arrays),
        "efficiency": sum(array.efficiency for array in arrays) / len(arrays),
        "DSP": max(abs(array.share("dsp") - array.row["DSP"]) for array in arrays),
    }
    chart = LineChart("Arrays of the published sizes", "kernel", THROUGHPUT, series)
    return Outcome(table, claims("autosa-table-7", measured), chart, {"kernels": kernels})
