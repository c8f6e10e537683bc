"""Figure 15: what only factors that divide the extents show of the 18 designs, and what all factors
show."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from benchmarks.paper.experiment import Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import (
    DATAFLOWS,
    DESIGN,
    DSP,
    PERMUTATIONS,
    SIZE,
    Optimum,
    budget_settings,
    design_text,
    matrix_problem,
    prove,
    resources,
)
from benchmarks.paper.methods_compared import Design
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.systolic_array import Edition

DIVISORS, ALL = "divisors", "all"

#: Columns that are plotted.
X, Y = ("dataflow", "permutation"), "throughput / best of all factors"


def run(how: Run) -> Outcome:
    """Prove every design's optimum of divisors and, with permutation C, of all factors; in full mode
    in both model editions, with all factors in every permutation."""
    editions = (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,)
    solved = {edition: _optima(edition, how) for edition in editions}
    table = Table.of(
        {
            "edition": edition.value,
            "factors": factors,
            "dataflow": ",".join(dataflow),
            "permutation": permutation,
            "latency (cycles)": optimum.latency,
            Y: round(float(_least(optima, ALL) / optimum.latency), 4),
            "DSP (%)": round(float(100 * optimum.metrics["dsp"] / DSP), 1),
            **resources(optimum.metrics),
            DESIGN: design_text(optimum.tiling),
        }
        for edition, optima in solved.items()
        for (factors, (dataflow, permutation)), optimum in optima.items()
    )
    series = table.series(["factors"], X, Y, notes=DESIGN, edition="odyssey")
    chart = LineChart(
        "Designs of 1024³ with only divisors, and with all factors",
        "dataflow and permutation",
        Y,
        tuple(replace(one, name=f"{one.name} factors") for one in series),
    )
    measured = _measured(solved[Edition.ODYSSEY])
    return Outcome(table, claims("figure-15", measured), chart, budget_settings(SIZE))


def _optima(edition: Edition, how: Run) -> dict[tuple[str, Design], Optimum]:
    """The proven optima by factors and design."""
    optima = {}
    for factors, only in ((DIVISORS, True), (ALL, False)):
        for dataflow in DATAFLOWS:
            for permutation in PERMUTATIONS if only or how.full else ("C",):
                how.step(f"{factors}: {','.join(dataflow)} {permutation}, {edition.value}")
                problem = matrix_problem(
                    dataflow=dataflow,
                    permutation=permutation,
                    edition=edition,
                    space=SpaceOptions(divisors_only=only),
                )
                optima[factors, (dataflow, permutation)] = prove(problem, how)
    return optima


def _least(optima: dict[tuple[str, Design], Optimum], factors: str) -> Fraction:
    return min(optimum.latency for (of, _), optimum in optima.items() if of == factors)


def _measured(
    optima: dict[tuple[str, Design], Optimum],
) -> dict[str, Number | tuple[Number, Number]]:
    def spread(factors: str) -> Fraction:
        """The slowest of the three two-dimensional dataflows over the fastest."""
        latencies = [
            min(
                optima[factors, (dataflow, p)].latency
                for p in PERMUTATIONS
                if (factors, (dataflow, p)) in optima
            )
            for dataflow in DATAFLOWS
            if len(dataflow) == 2
        ]
        return max(latencies) / min(latencies)

    best = min(
        (optimum for (factors, _), optimum in optima.items() if factors == DIVISORS),
        key=lambda optimum: optimum.latency,
    )
    most = max(o.metrics["dsp"] for (factors, _), o in optima.items() if factors == DIVISORS)
    one = min(
        o.latency
        for (factors, (dataflow, _)), o in optima.items()
        if factors == DIVISORS and len(dataflow) == 1
    )
    return {
        "DSP": round(100 * best.metrics["dsp"] / DSP),
        "most DSP": round(100 * most / DSP),
        "two dimensions": spread(DIVISORS),
        "all factors": spread(ALL),
        "one dimension": one / _least(optima, DIVISORS),
        "loss": 100 * (1 - _least(optima, ALL) / _least(optima, DIVISORS)),
    }
