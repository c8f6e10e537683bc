"""AutoSA's Table 6: the matrix product of three data types, within the published DSP blocks.

In the exact edition, whose sums are as wide as words and whose int8 products share a block, as they
do there.
"""

from __future__ import annotations

from benchmarks.paper.experiment import Outcome, Run, claims
from benchmarks.paper.published_arrays import THROUGHPUT, fastest, published_rows, records
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.systolic.systolic_array import Edition


def run(how: Run) -> Outcome:
    """Prove the fastest array of each data type, and that of the published fp32 array."""
    types = {row["row"]: row for row in published_rows("table 6")}
    arrays = {name: fastest(row, how, edition=Edition.EXACT) for name, row in types.items()}
    four = next(row for row in published_rows("table 5") if row["row"] == "design 4")
    published = fastest(four, how, edition=Edition.EXACT).solution.metrics["latency"]
    table = records(tuple(arrays.values()))
    series = table.series(["source"], ["row"], THROUGHPUT)
    measured = {
        "efficiency": arrays["fp32"].efficiency,
        "array": (published, arrays["fp32"].solution.metrics["latency"]),
        **{name: array.gain for name, array in arrays.items()},
    }
    chart = LineChart("Data types of the matrix product", "data type", THROUGHPUT, series)
    return Outcome(table, claims("autosa-table-6", measured), chart, {"types": types})
