"""HASCO's Figure 11: the convolutions of ResNet50 in calls of GEMM, cut along their own loops and as
the matrices that a library unfolds them into."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

from benchmarks.paper.experiment import Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.hardware.accelerator import Work
from ithaca.formulations.problem import read_objective
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import Solution, best_solution
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest, footprints

#: 16 × 16 PEs and 256 KB, as published; words off chip take the bus.
MACHINE = HierarchyAccelerator(
    find_architecture("hasco-gemm"), "intrinsic", MappingOptions(off_chip=True)
)

DIRECT, MATRIX, UNFOLDING = "cut directly (cycles)", "as a matrix (cycles)", "unfolding (cycles)"
RATIO = "library over direct"


def least(nest: LoopNest, how: Run) -> Solution:
    """The proven fastest of all matches of a nest."""
    objective = read_objective("latency", "objective", list(MACHINE.metrics))
    problems = MACHINE.problems(Work(nest.name, nest), {}, objective)
    best = best_solution(solve_designs(problems, how.search))
    how.check()
    assert best is not None
    assert best.settled
    return best


def run(how: Run) -> Outcome:
    """Prove both of every convolution, and take for the unfolding what its words take of the bus."""
    rows: list[dict[str, Any]] = []
    for work in find_workloads(["resnet50"]):
        if work.nest.name != "conv2d":
            continue
        how.step(work.name)
        sizes = work.nest.sizes
        inside, pixels = prod(sizes[loop] for loop in "ipq"), sizes["r"] * sizes["c"]
        matrix = workload("mm", {"i": sizes["o"], "j": pixels, "k": inside})
        direct, flat = least(work.nest, how), least(matrix, how)
        design: Any = flat.problem.design
        words = inside * pixels + footprints(work.nest)[work.nest.inputs[0].tensor]
        shown: dict[str, Cell] = {"layer": work.name, "times": work.count}
        shown |= {DIRECT: direct.value, MATRIX: flat.value, UNFOLDING: words / design.work.bus}
        rows.append(shown)
    for row in rows:
        row[RATIO] = float((row[MATRIX] + row[UNFOLDING]) / row[DIRECT])
    table = Table.of(rows)
    count = sum(row["times"] for row in rows)
    measured: Measured = {
        "layers": Fraction(count),
        "twice": Fraction(sum(row["times"] for row in rows if row[RATIO] > 2)),
        "mean": sum(row["times"] * row[RATIO] for row in rows) / count,
        "matrix": max(Fraction(row[MATRIX] / row[DIRECT]) for row in rows),
    }
    chart = LineChart(
        "ResNet50's convolutions as matrices", "layer", RATIO, table.series([], ["layer"], RATIO)
    )
    return Outcome(table, claims("hasco-figure-11", measured), chart, {"off_chip": "bus"})
