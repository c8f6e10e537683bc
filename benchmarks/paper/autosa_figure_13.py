"""AutoSA's Figure 13: what its techniques gain, one after the other, on four published arrays.

An array starts with array partitioning alone, and then hides the latency of its accumulators, has
SIMD lanes in each PE, and doubles its buffers. Its rows and columns are the published ones, its
tiles those proven the fastest at each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from benchmarks.paper.experiment import Cell, Outcome, Run, Table, claims
from benchmarks.paper.published_arrays import fastest, published_rows
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.buffering import choosable, single_buffered
from ithaca.formulations.systolic.design import Spans, SystolicDesign, fixed, systolic
from ithaca.formulations.systolic.systolic_array import Edition, GroupRole, IOGroup, SystolicArray
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest

#: The column of what a step gains over array partitioning alone.
GAIN = "throughput over array partitioning"

#: The column of what double buffers gain, over an array of the same tiles.
SAME = "of this by double buffers, at the same tiles"


@dataclass(frozen=True)
class Step:
    """The techniques that an array has."""

    name: str
    """The one that it has, and the step before has not."""
    hidden: bool
    """Whether PEs hide the latency of their accumulators; else each waits for its last sum."""
    simd: bool
    """Whether PEs have the published SIMD lanes; else one."""
    doubled: bool
    """Whether buffers are doubled; else they are filled and emptied while PEs wait."""

    def design(
        self, nest: LoopNest, array: SystolicArray, data: DataType, *, hardware: Spans
    ) -> SystolicDesign:
        """The design of an array with these techniques, and no others."""
        values = {name: low for name, (low, _) in hardware}
        if not self.simd:
            values[quantities.t2(array.simd_loop).name] = 1
        if not self.hidden:
            values |= {quantities.t2(loop).name: 1 for loop in array.latency_hiding_loops}
            array = _slowed(array, data.accumulator_factor)
            data = replace(data, accumulator_factor=0)
        if not self.doubled:
            array = _single(array)
        return SystolicDesign(nest, array, data, hardware=fixed(values))


#: In the order of the paper's Section 5 (computation) and 6 (communication).
STEPS = (
    Step("array partitioning", hidden=False, simd=False, doubled=False),
    Step("latency hiding", hidden=True, simd=False, doubled=False),
    Step("SIMD", hidden=True, simd=True, doubled=False),
    Step("double buffers", hidden=True, simd=True, doubled=True),
)


def run(how: Run) -> Outcome:
    """Prove the fastest tiles of each array at each step, and take the double buffers away from
    the last."""
    product = next(row for row in published_rows("table 5") if row["row"] == "design 4")
    rows = [{**product, "row": "matrix product"}, *published_rows("table 7")]
    records: list[dict[str, Cell]] = []
    computing, doubled, kept = [], [], []
    for row in rows:
        arrays = [fastest(row, how, edition=Edition.EXACT, technique=step.design) for step in STEPS]
        cycles = [array.solution.metrics["latency"] for array in arrays]
        computing.append(cycles[0] / cycles[-2])
        doubled.append(cycles[-2] / cycles[-1])
        kept.append(_undoubled(arrays[-1].solution) / cycles[-1])
        for step, array, taken in zip(STEPS, arrays, cycles, strict=True):
            records.append(
                {
                    "array": str(row["row"]),
                    "technique": step.name,
                    "latency (cycles)": taken,
                    GAIN: round(float(cycles[0] / taken), 2),
                    SAME: round(float(kept[-1]), 2) if step is STEPS[-1] else None,
                    "BRAM (%)": round(float(array.share("bram18k")), 1),
                    "design": array.solution.problem.design.name,
                }
            )
    table = Table.of(records)
    measured = {
        "computation": sum(computing) / len(rows),
        "double buffers": abs(sum(kept) / len(rows) - Fraction(3, 2)),
        "TTMc": (kept[-1], min(kept[:-1])),
        "own tiles": (sum(doubled), sum(kept)),
    }
    series = table.series(["array"], ["technique"], GAIN)
    chart = LineChart("Techniques, one after the other", "technique", GAIN, series)
    return Outcome(table, claims("autosa-figure-13", measured), chart, {"arrays": len(rows)})


def _undoubled(solution: Solution) -> Fraction:
    """Cycles of a solution whose buffers are not doubled."""
    design, configuration = systolic(solution.problem), solution.configuration
    assert configuration is not None
    latency: Fraction = replace(design, array=_single(design.array)).costs(configuration).latency
    return latency


def _single(array: SystolicArray) -> SystolicArray:
    """The array without double buffers."""
    return single_buffered(array, choosable(array))


def _slowed(array: SystolicArray, cycles: int) -> SystolicArray:
    """The array whose PEs take so many cycles for an iteration, at whose pace buffers are read."""

    def fed(group: IOGroup) -> IOGroup:
        if group.role is not GroupRole.READ:
            return group
        modules = (replace(module, intra=module.intra * cycles) for module in group.modules)
        return replace(group, modules=tuple(modules))

    groups = tuple(fed(group) for group in array.groups)
    return replace(array, groups=groups, pe=replace(array.pe, trips=array.pe.trips * cycles))
