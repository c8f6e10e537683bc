"""Table 6: dataflow [i] of the matrix product in its three permutations, and which modules take the
block RAM."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from benchmarks.paper.experiment import PUBLICATION, Cell, Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import (
    DESIGN,
    SIZE,
    Optimum,
    budget_settings,
    design_text,
    matrix_problem,
    prove,
)
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import by_part
from ithaca.formulations.systolic.systolic_array import Edition

#: The dataflow of all rows.
DATAFLOW = ("i",)

#: The published rows by permutation.
PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    row["permutation"]: row for row in PUBLICATION["table 6"]
}

#: What block RAM is split among: the I/O modules of the tensors, and the PEs.
HOLDERS = ("A", "B", "C", "PE")


def run(how: Run) -> Outcome:
    """Prove each permutation's optimum, in full mode in both model editions, and the best design
    that takes the published block RAM with the published PEs."""
    rows: list[dict[str, Cell]] = []
    optima: dict[tuple[Edition, str], Optimum] = {}
    same: dict[str, Optimum] = {}
    for permutation, row in PUBLISHED.items():
        how.step(f"permutation {permutation}: the published block RAM")
        same[permutation] = _same(row, permutation, how)
    for edition in (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,):
        for permutation in PUBLISHED:
            how.step(f"permutation {permutation}, {edition.value} model edition")
            problem = matrix_problem(dataflow=DATAFLOW, permutation=permutation, edition=edition)
            optima[edition, permutation] = prove(problem, how)
    least = same["B"].metrics["comp"] / 8
    for permutation, row in PUBLISHED.items():
        rows.append(_published(row))
        rows.append(_row(same[permutation], "published block RAM", same["C"].latency, least))
    for (edition, _), optimum in optima.items():
        first = optima[edition, "C"].latency
        rows.append(_row(optimum, f"proven, {edition.value}", first, least))
    table = Table.of(rows)
    series = table.series(["source"], ["permutation"], "latency / first")
    title = "Dataflow [i] of 1024³ in its three permutations"
    chart = LineChart(title, "permutation", "latency / first", series)
    measured = _measured(same, optima)
    return Outcome(table, claims("table-6", measured), chart, budget_settings(SIZE))


def _same(row: Mapping[str, Any], permutation: str, how: Run) -> Optimum:
    """The fastest design with the block RAM and the PEs of a published row, by its model."""
    units = 8 * round(103 * row["PEs"])
    limits = [
        Limit(f"{sign}{metric}", Fraction(f"{sign}{value}"))
        for metric, value in (("bram18k", row["BRAM18K"]), ("comp", units))
        for sign in ("", "-")
    ]
    return prove(
        matrix_problem("latency", *limits, dataflow=DATAFLOW, permutation=permutation), how
    )


def shares(optimum: Optimum) -> dict[str, Fraction]:
    """The share of the block RAM that each tensor's modules and the PEs take (%)."""
    design = systolic(optimum.problem)
    blocks = by_part(design.costs(optimum.configuration))["bram18k_by_module"]
    tensors = {module.name: group.tensor for group, module in design.array.modules}
    whole = sum(blocks.values())
    return {
        holder: 100
        * sum((n for name, n in blocks.items() if tensors.get(name, name) == holder), Fraction(0))
        / whole
        for holder in HOLDERS
    }


def _published(row: Mapping[str, Any]) -> dict[str, Cell]:
    return {
        "permutation": row["permutation"],
        "source": "published",
        "latency (cycles)": None,
        "latency / first": row["latency"],
        "PEs": None,
        "PEs / least": row["PEs"],
        "BRAM18K": row["BRAM18K"],
        **{f"{holder} (%)": row["shares"][holder] for holder in HOLDERS},
        DESIGN: None,
    }


def _row(optimum: Optimum, source: str, first: Fraction, least: Fraction) -> dict[str, Cell]:
    pes = optimum.metrics["comp"] / optimum.tiling.simd
    return {
        "permutation": systolic(optimum.problem).array.permutation,
        "source": source,
        "latency (cycles)": optimum.latency,
        "latency / first": round(float(optimum.latency / first), 3),
        "PEs": int(pes),
        "PEs / least": round(float(pes / least), 3),
        "BRAM18K": optimum.metrics["bram18k"],
        **{f"{holder} (%)": round(float(n), 1) for holder, n in shares(optimum).items()},
        DESIGN: design_text(optimum.tiling),
    }


def _measured(
    same: Mapping[str, Optimum], optima: Mapping[tuple[Edition, str], Optimum]
) -> dict[str, Number | tuple[Number, Number]]:
    proven = {p: optima[Edition.ODYSSEY, p] for p in PUBLISHED}
    split = max(
        abs(n - PUBLISHED[permutation]["shares"][holder])
        for permutation, optimum in same.items()
        for holder, n in shares(optimum).items()
    )
    off = max(
        abs(same[p].latency / same["C"].latency - Fraction(str(row["latency"])))
        for p, row in PUBLISHED.items()
    )
    units = [optimum.metrics["comp"] for optimum in proven.values()]
    measured: dict[str, Number | tuple[Number, Number]] = {
        "first": proven["C"].metrics["bram18k"],
        "split": split,
        "PEs": round(proven["C"].metrics["comp"] / min(units), 2),
        "latency": off,
        "order": (proven["C"].latency, min(proven[p].latency for p in "AB")),
        "not optimal": (same["B"].latency, proven["B"].latency),
    }
    if (Edition.EXACT, "C") in optima:
        exact = {p: optima[Edition.EXACT, p].latency for p in PUBLISHED}
        measured["exact"] = min(exact["A"], exact["B"]) / exact["C"]
    return measured
