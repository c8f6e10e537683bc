"""Look-up tables and flip-flops of AutoSA's Tables 5 to 7, fitted as `ithaca calibrate` does."""

from __future__ import annotations

import numpy as np

from benchmarks.paper.experiment import Cell, Outcome, Run, Table, claims
from benchmarks.paper.published_arrays import PublishedArray, fastest, published_rows
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.logic import features
from ithaca.plugins.calibration.formulations.fitting import Numbers, errors

#: Look-up tables and flip-flops of the device.
TOTALS = {
    name: float(load_platform("rtl-open").resources[name.lower()].total) for name in ("LUT", "FF")
}

_SHARE = "of the device (%)"


def run(how: Run) -> Outcome:
    """Fit coefficients to five of six arrays, and try them on the sixth, each in turn."""
    rows = (*published_rows("table 5"), *published_rows("table 7"))
    arrays = [fastest(row, how) for row in rows]
    known = np.array([_features(array) for array in arrays])
    measured: dict[str, float] = {}
    records: list[dict[str, Cell]] = []
    for name, total in TOTALS.items():
        counts = np.array([row[name] * total / 100 for row in rows])
        wrong = errors(known, counts)
        measured[name] = 100 * float(abs(wrong).max())
        records += [
            {
                "row": row["row"],
                "resource": name,
                "published": row[name],
                _SHARE: round(float(row[name] * (1 + error)), 1),
                "error (%)": round(float(100 * error), 1),
            }
            for row, error in zip(rows, wrong, strict=True)
        ]
    table = Table.of(records)
    series = table.series(["resource"], ["row"], _SHARE)
    chart = LineChart("Arrays that were held out of the fit", "array", _SHARE, series)
    designs = {row["row"]: row for row in rows}
    return Outcome(table, claims("autosa-logic", measured), chart, {"designs": designs})


def _features(array: PublishedArray) -> Numbers:
    design = systolic(array.solution.problem)
    costs = design.costs(array.solution.configuration, FRACTION)
    return np.array([float(n) for n in features(costs)])
