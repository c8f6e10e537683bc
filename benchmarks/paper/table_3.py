"""Table 3: what it costs to consider only factors that divide the extents."""

from __future__ import annotations

from fractions import Fraction

from benchmarks.paper.experiment import Cell, Number, Outcome, Run, Table, claims, loss
from benchmarks.paper.matrix_product import (
    BRAM18K,
    DATAFLOWS,
    DESIGN,
    DSP,
    SIZE,
    budget_settings,
    design_text,
    matrix_problem,
    metrics_of,
    prove,
    resources,
)
from benchmarks.paper.published_designs import BEST_LATENCY, DIVISOR_LATENCY, DIVISORS, TABLE
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.systolic_array import Edition

#: The paper's design.
PAPER_DATAFLOW = ("i", "j")


def run(how: Run) -> Outcome:
    """Prove the best design of divisors and the best of all; in full mode for every buildable
    dataflow and edition."""
    rows: list[dict[str, Cell]] = []
    best: dict[tuple[Edition, tuple[str, ...]], tuple[Fraction, Fraction]] = {}
    for edition in (Edition.EXACT, Edition.ODYSSEY) if how.full else (Edition.ODYSSEY,):
        for dataflow in DATAFLOWS if how.full else (PAPER_DATAFLOW,):
            name = ",".join(dataflow)
            how.step(f"{edition.value} model edition, dataflow {name}")
            every = matrix_problem(edition=edition, dataflow=dataflow)
            divisors = matrix_problem(
                edition=edition, dataflow=dataflow, space=SpaceOptions(divisors_only=True)
            )
            free, divided = prove(every, how), prove(divisors, how)
            fastest = free.value
            best[edition, dataflow] = fastest, divided.value
            shown = [("divisors", "proven", divided.metrics, divided.tiling)]
            if (edition, dataflow) == (Edition.ODYSSEY, PAPER_DATAFLOW):
                shown.append(("divisors", "published", metrics_of(every, DIVISORS), DIVISORS))
                shown.append(("all", "published", TABLE[-1].metrics, TABLE[-1].tiling))
            shown.append(("all", "proven", free.metrics, free.tiling))
            for factors, source, metrics, tiling in shown:
                rows.append(
                    {
                        "edition": edition.value,
                        "dataflow": name,
                        "factors": factors,
                        "source": source,
                        "latency (cycles)": metrics["latency"],
                        "loss (%)": float(loss(fastest, metrics["latency"]) * 100),
                        "throughput / published best": round(
                            float(BEST_LATENCY / metrics["latency"]), 3
                        ),
                        "DSP (%)": round(float(100 * metrics["dsp"] / DSP), 1),
                        "BRAM18K (%)": round(float(100 * metrics["bram18k"] / BRAM18K), 1),
                        **resources(metrics),
                        "off-chip (words)": metrics["off_chip_words"],
                        DESIGN: design_text(tiling),
                    }
                )
    fastest, divided_value = best[Edition.ODYSSEY, PAPER_DATAFLOW]
    paper = matrix_problem()
    lost = {
        dataflow: loss(*values) * 100
        for (edition, dataflow), values in best.items()
        if edition is Edition.ODYSSEY
    }
    mine = lost.pop(PAPER_DATAFLOW)
    measured: dict[str, Number | tuple[Number, Number]] = {
        "lost": mine,
        "at least": (mine, loss(BEST_LATENCY, DIVISOR_LATENCY) * 100),
        "divisors": (divided_value, paper.value(systolic(paper).configuration(DIVISORS))),
        "model": (TABLE[-1].metrics["latency"], BEST_LATENCY),
        "best": (fastest, BEST_LATENCY),
    }
    published = {"divisors": metrics_of(paper, DIVISORS), "all": TABLE[-1].metrics}
    for name, metrics in published.items():
        measured[f"{name} DSP"] = round(100 * metrics["dsp"] / DSP)
        measured[f"{name} BRAM18K"] = round(100 * metrics["bram18k"] / BRAM18K)
    slower, faster = (metrics["latency"] for metrics in published.values())
    measured["throughput"] = round(faster / slower, 2)
    if lost:
        measured["dataflows"] = mine, max(lost.values())
    table = Table.of(rows)
    series = table.series(["factors"], ["dataflow", "edition"], "latency (cycles)", source="proven")
    title = "Proven optima of 1024³, only divisors and all factors"
    chart = LineChart(title, "dataflow", "latency (cycles)", series)
    return Outcome(
        table,
        claims("table-3", measured, fewer=float(loss(fastest, BEST_LATENCY))),
        chart,
        budget_settings(SIZE) | {"permutation": "C"},
    )
