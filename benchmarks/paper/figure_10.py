"""Figure 10: the 18 designs of the matrix product, each at its proven optimum, in both model
editions.

The paper's own model, the odyssey model edition, loses the reduction loop of designs that copy
partial sums in and out; the exact model edition has it. So the design that the published model
prefers is evaluated by the exact model edition, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from benchmarks.paper.experiment import Cell, Claim, Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import (
    DATAFLOWS,
    DESIGN,
    PERMUTATIONS,
    SIZE,
    Optimum,
    budget_settings,
    design_text,
    matrix_problem,
    prove,
    resources,
)
from benchmarks.paper.methods_compared import BEST_DESIGN, Design, design_name
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling

#: Extent of quick mode, one of the released workloads too (mm64).
QUICK_SIZE = 64

#: Columns that are plotted.
X, Y, AGAIN = (
    ("dataflow", "permutation"),
    "latency (cycles)",
    "the same design, exact model edition (cycles)",
)

#: The paper's model edition and the one as derived.
EDITIONS = (Edition.EXACT, Edition.ODYSSEY)

#: The objectives of the released scripts, by name of the metric; those after the first are full
#: mode's.
OBJECTIVES = ("latency", "energy")


@dataclass(frozen=True)
class Best:
    """The proven optimum of a design."""

    optimum: Optimum
    exact_latency: Fraction
    """Cycles of its configuration by the exact model edition."""


def run(how: Run) -> Outcome:
    """Prove the optimum of every design in both model editions; in full mode at 1024³, and the
    least energy, too."""
    size = SIZE if how.full else QUICK_SIZE
    found: dict[tuple[str, Edition], dict[Design, Best]] = {}
    for objective in OBJECTIVES if how.full else OBJECTIVES[:1]:
        for edition in EDITIONS:
            found[objective, edition] = _designs(objective, edition, size, how)
    table = Table.of(
        _row(
            name, edition, objective, best, min(other.optimum.latency for other in designs.values())
        )
        for (objective, edition), designs in found.items()
        for name, best in designs.items()
    )
    series = (
        *table.series(["edition"], X, Y, notes=DESIGN, objective="latency"),
        *table.series(["objective"], X, AGAIN, objective="latency", edition="odyssey"),
    )
    names = (
        *(f"{edition.value} model edition" for edition in EDITIONS),
        "odyssey's optimum, exact model edition",
    )
    chart = LineChart(
        f"The 18 designs of {size}³, each at its proven optimum",
        "dataflow and permutation",
        Y,
        tuple(replace(one, name=name) for one, name in zip(series, names, strict=True)),
        log_y=True,
    )
    settings = budget_settings(size) | {
        "objectives": list(OBJECTIVES if how.full else OBJECTIVES[:1])
    }
    return Outcome(
        table,
        _claims({edition: found["latency", edition] for edition in EDITIONS}, how.full),
        chart,
        settings,
    )


def _designs(objective: str, edition: Edition, size: int, how: Run) -> dict[Design, Best]:
    found: dict[Design, Best] = {}
    for dataflow in DATAFLOWS:
        for permutation in PERMUTATIONS:
            how.step(
                f"least {objective} of {design_name((dataflow, permutation))}, {edition.value} model edition"
            )
            problem = matrix_problem(
                objective, size=size, dataflow=dataflow, permutation=permutation, edition=edition
            )
            optimum = prove(problem, how)
            exact = matrix_problem(
                size=size, dataflow=dataflow, permutation=permutation, edition=Edition.EXACT
            )
            found[dataflow, permutation] = Best(optimum, _exact_latency(optimum.tiling, exact))
    return found


def _exact_latency(tiling: Tiling, exact: Problem) -> Fraction:
    """Cycles of a configuration by the exact model edition.

    A drain that the published model merges away gets the pack of its flow group.
    """
    packs = {
        group.name: tiling.pack.get(group.name, tiling.pack.get(group.tensor, 1))
        for group in systolic(exact).array.packed_groups
    }
    return exact.value(systolic(exact).configuration(replace(tiling, pack=packs)))


def _row(
    name: Design, edition: Edition, objective: str, best: Best, least: Fraction
) -> dict[str, Cell]:
    optimum, (dataflow, permutation) = best.optimum, name
    metrics = optimum.metrics
    return {
        "dataflow": ",".join(dataflow),
        "permutation": permutation,
        "buildable": systolic(optimum.problem).array.buildable,
        "edition": edition.value,
        "objective": objective,
        Y: optimum.latency,
        "latency / best": float(optimum.latency / least),
        AGAIN: best.exact_latency,
        **resources(metrics),
        "off-chip (words)": metrics["off_chip_words"],
        "energy (pJ)": metrics["energy"],
        DESIGN: design_text(optimum.tiling),
    }


def _claims(found: dict[Edition, dict[Design, Best]], full: bool) -> tuple[Claim, ...]:
    published, exact = found[Edition.ODYSSEY], found[Edition.EXACT]

    def latency(designs: dict[Design, Best], name: Design) -> Fraction:
        return designs[name].optimum.value

    def least(designs: dict[Design, Best], dimensions: int) -> Fraction:
        return min(latency(designs, name) for name in designs if len(name[0]) == dimensions)

    others = [
        (latency(published, (d, p)), latency(published, (d, "C")))
        for d in DATAFLOWS
        for p in PERMUTATIONS
        if p != "C"
    ]
    carried = [best for (_, p), best in published.items() if p != "C"]
    stays = [
        best.exact_latency / best.optimum.value for (_, p), best in published.items() if p == "C"
    ]
    measured: dict[str, Number | tuple[Number, Number]] = {
        "two loops": (least(exact, 2), least(exact, 1)),
        "permutation": min(other / best for other, best in others),
        "understated": max(best.exact_latency / best.optimum.value for best in carried),
        "right": max(max(ratio, 1 / ratio) for ratio in stays),
    }
    taken = {
        dataflow: best.optimum.metrics["dsp"]
        for (dataflow, permutation), best in published.items()
        if permutation == "C"
    }
    fastest = min(exact, key=lambda name: latency(exact, name))
    if full:
        measured["fastest"] = latency(exact, BEST_DESIGN), latency(exact, fastest)
        measured["DSP"] = taken.pop(BEST_DESIGN[0]), max(taken.values())
    return claims("figure-10", measured, fastest=design_name(fastest))
