"""AutoSA's Table 5: three arrays of the matrix product, of the published sizes."""

from __future__ import annotations

from benchmarks.paper.experiment import Outcome, Run, claims
from benchmarks.paper.published_arrays import THROUGHPUT, fastest, published_rows, records
from ithaca.exports.charts.chart import LineChart


def run(how: Run) -> Outcome:
    """Prove the fastest array of each size, and the least block RAM of designs 1 and 5."""
    designs = {row["row"]: row for row in published_rows("table 5")}
    arrays = {name: fastest(row, how) for name, row in designs.items()}
    least = [
        fastest(designs[name], how, "bram18k").share("bram18k") for name in ("design 1", "design 5")
    ]
    one, four, five = (arrays[f"design {number}"].throughput for number in (1, 4, 5))
    table = records(tuple(arrays.values()))
    series = table.series(["source"], ["row"], THROUGHPUT)
    measured = {
        "fastest": (four, max(one, five)),
        "dimensions": (five, one),
        "no less": min(array.gain for array in arrays.values()),
        "DSP": max(abs(array.share("dsp") - array.row["DSP"]) for array in arrays.values()),
        "block RAM": arrays["design 4"].share("bram18k"),
        "small block RAM": min(least),
    }
    chart = LineChart("Arrays of the published sizes", "array", THROUGHPUT, series)
    return Outcome(table, claims("autosa-table-5", measured), chart, {"designs": designs})
