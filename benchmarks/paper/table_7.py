"""Table 7: dataflows [h,i] and [o,h] on the first two convolutions of VGG16.

The unit of the table is not printed, and follows: it is the cycles in which the L2 modules of [h,i]
drain CONV1. Every latency, PE latency and efficiency of the table is that of a design of the
published DSP blocks whose PEs take one more cycle for each finished sum (`sums_handed_on`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchmarks.paper.convolutions import (
    Dataflow,
    costs_of,
    dataflow_text,
    layer,
    layer_problem,
    proven,
    sums_handed_on,
)
from benchmarks.paper.experiment import PUBLICATION, Cell, Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import BRAM18K, DESIGN, DSP
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import Spans, fixed, systolic
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.solution import Solution

#: The published rows by layer and dataflow.
PUBLISHED: Mapping[tuple[str, Dataflow], Mapping[str, Any]] = {
    (row["layer"], tuple(row["dataflow"])): row for row in PUBLICATION["table 7"]
}

#: The two dataflows, in Ithaca's loops.
HI, OH = ("r", "i"), ("o", "r")

#: Block RAM where it is not to bind.
AMPLE = Limit("bram18k", Fraction(10**6))

EXACT, ODYSSEY = Edition.EXACT, Edition.ODYSSEY


@dataclass(frozen=True)
class Remade:
    """A published row remade: a design of its DSP blocks, with a cycle for each sum."""

    solution: Solution
    """The fastest design of so many DSP blocks, in whatever block RAM it takes."""
    pe: Fraction
    """Cycles of a PE, with those for sums."""
    fo: Fraction
    """Cycles of the slowest module on chip that drains the output."""
    latency: Fraction

    @property
    def efficiency(self) -> Fraction:
        """The layer's operations over what its MAC units do in the latency."""
        operations = systolic(self.solution.problem).nest.operations
        return operations / (self.solution.metrics["comp"] * self.latency)

    def figures(self, unit: Fraction) -> dict[str, Fraction]:
        """The figures of the table, rounded as there."""
        return {
            "latency": self.latency / unit,
            "PE": self.pe / unit,
            "fo": self.fo / unit,
            "efficiency": 100 * self.efficiency,
        }


def remade(name: str, dataflow: Dataflow, how: Run) -> Remade:
    """Remake a published row."""
    row = PUBLISHED[name, dataflow]
    solution = proven(
        layer_problem(
            layer(name),
            dataflow,
            EXACT,
            limits=(*_exactly(row["DSP"]), AMPLE),
            hardware=_packs(row),
        ),
        how,
    )
    costs = costs_of(solution)
    pe = costs.pe + sums_handed_on(solution)
    main = max(pe, *(cost.total for cost in costs.modules.values()))
    return Remade(solution, pe, drained(solution), costs.prologue + main + costs.epilogue)


def _exactly(dsp: int) -> tuple[Limit, Limit]:
    return Limit("dsp", Fraction(dsp)), Limit("-dsp", Fraction(-dsp))


def _packs(row: Mapping[str, Any]) -> Spans:
    return fixed({"pack.cout_1": row["pack"]}) if "pack" in row else ()


def run(how: Run) -> Outcome:
    """Remake the published rows, and prove the optimum of each layer and dataflow in both model
    editions; in full mode also what binds."""
    again: dict[tuple[str, Dataflow], Remade] = {}
    optima: dict[tuple[str, Dataflow, Edition], Solution] = {}
    for name, dataflow in PUBLISHED:
        how.step(f"{name}, {dataflow_text(dataflow)}")
        again[name, dataflow] = remade(name, dataflow, how)
        for edition in (EXACT, ODYSSEY):
            problem = layer_problem(layer(name), dataflow, edition)
            optima[name, dataflow, edition] = proven(problem, how)
    unit = again["CONV1", HI].fo
    table = Table.of(row for key in PUBLISHED for row in _rows(key, again[key], optima, unit))
    chart = LineChart(
        "Two dataflows on the first two layers of VGG16",
        "layer and dataflow",
        "latency (10^5 cycles)",
        table.series(["source"], ["layer", "dataflow"], "latency (10^5 cycles)"),
    )
    limits = {"dsp": float(DSP), "bram18k": float(BRAM18K)}
    settings = {"sizes": dict(PUBLICATION["convolutions"]), "limits": limits, "unit": int(unit)}
    measured = _measured(again, optima, unit, how)
    return Outcome(table, claims("table-7", measured), chart, settings)


def _rows(
    key: tuple[str, Dataflow],
    again: Remade,
    optima: Mapping[tuple[str, Dataflow, Edition], Solution],
    unit: Fraction,
) -> Iterator[dict[str, Cell]]:
    row, (name, dataflow) = PUBLISHED[key], key

    def cells(
        source: str, figures: Mapping[str, float | Fraction], **more: Cell
    ) -> dict[str, Cell]:
        return {
            "layer": name,
            "dataflow": dataflow_text(dataflow),
            "source": source,
            "latency (10^5 cycles)": round(float(figures["latency"] * unit / 10**5), 3),
            **{
                f"{what} / unit": round(float(figures[what]), 3) for what in ("latency", "PE", "fo")
            },
            "DSP efficiency (%)": round(float(figures["efficiency"]), 1),
            **more,
        }

    def design(solution: Solution) -> dict[str, Cell]:
        tiling = solution.tiling
        assert tiling is not None
        parts = {"t1": tiling.array_part, "t2": tiling.latency_hiding}
        text = "; ".join(
            f"{what} {','.join(f'{loop}={n}' for loop, n in factors.items())}"
            for what, factors in parts.items()
        )
        metrics = solution.metrics
        return {
            "DSP": metrics["dsp"],
            "BRAM18K": metrics["bram18k"],
            "T_I1": tiling.array_part["i"],
            DESIGN: f"{text}; SIMD {tiling.simd}",
        }

    yield cells("published", row, DSP=row["DSP"], BRAM18K=None, T_I1=row["T_I1"], **{DESIGN: None})
    yield cells(
        "published DSP, a cycle for each sum", again.figures(unit), **design(again.solution)
    )
    for edition in (EXACT, ODYSSEY):
        solution = optima[name, dataflow, edition]
        costs = costs_of(solution)
        own = Remade(solution, costs.pe, drained(solution), costs.latency)
        yield cells(f"proven, {edition.value}", own.figures(unit), **design(solution))


def _measured(
    again: Mapping[tuple[str, Dataflow], Remade],
    optima: Mapping[tuple[str, Dataflow, Edition], Solution],
    unit: Fraction,
    how: Run,
) -> dict[str, Number | tuple[Number, Number]]:
    off = {"latency": Fraction(0), "PE": Fraction(0), "fo": Fraction(0), "efficiency": Fraction(0)}
    for key, row in PUBLISHED.items():
        for what, figure in again[key].figures(unit).items():
            off[what] = max(off[what], abs(figure - Fraction(str(row[what]))))
    latency = {key: solution.metrics["latency"] for key, solution in optima.items()}
    how.step("what the published design of CONV2 takes")
    row = PUBLISHED["CONV2", HI]
    blocks = proven(
        layer_problem(
            layer("CONV2"),
            HI,
            EXACT,
            objective="bram18k",
            limits=(
                *_exactly(row["DSP"]),
                Limit("latency", again["CONV2", HI].solution.metrics["latency"]),
            ),
            hardware=_packs(row),
        ),
        how,
    )
    how.step("CONV1 without a limit on block RAM")
    ample = proven(layer_problem(layer("CONV1"), HI, EXACT, limits=(Limit("dsp", DSP), AMPLE)), how)
    return {
        "ratios": max(off[what] for what in ("latency", "PE", "fo")),
        "efficiency": off["efficiency"],
        "CONV1": (latency["CONV1", HI, EXACT], latency["CONV1", OH, EXACT]),
        "CONV2": (latency["CONV2", OH, EXACT], latency["CONV2", HI, EXACT]),
        "drain": (drained(optima["CONV1", OH, EXACT]), costs_of(optima["CONV1", OH, EXACT]).main),
        "CONV1 not optimal": (
            latency["CONV1", HI, EXACT],
            again["CONV1", HI].solution.metrics["latency"],
        ),
        "CONV1 block RAM": (ample.metrics["latency"], latency["CONV1", HI, EXACT]),
        "CONV2 block RAM": (blocks.metrics["bram18k"], BRAM18K),
        "CONV2 no slower": (
            costs_of(optima["CONV2", HI, EXACT]).main,
            costs_of(again["CONV2", HI].solution).main,
        ),
    }


def drained(solution: Solution) -> Fraction:
    """Cycles of the slowest module on chip that drains the output."""
    costs = costs_of(solution)
    return max(
        costs.modules[module.name].total
        for group, module in systolic(solution.problem).array.modules
        if group.tensor == "cout" and not module.dram
    )
