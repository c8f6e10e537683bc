"""HASCO's Figure 7: four intrinsics on forty workloads, every pair with its proven best mapping."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from benchmarks.paper.experiment import PUBLICATION, Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.hardware.accelerator import Work
from ithaca.formulations.problem import read_objective
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import best_solution
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest

#: 8 × 8 PEs and 256 KB with each of the intrinsics: dataflows of the architecture, from 1.
MACHINE = HierarchyAccelerator(find_architecture("hasco-units"), "intrinsic")
UNITS = ("gemm", "gemv", "dot", "conv2d", "conv2d-14")

SPEED, REDUNDANT, IDLE = "MACs a cycle", "redundant work", "idle loops"


def measure(nest: LoopNest, unit: int, how: Run) -> dict[str, Cell]:
    """A workload, or its stages, each by the best of its matches."""
    objective = read_objective("latency", "objective", list(MACHINE.metrics))
    operations, cycles, computes, idle = 0, Fraction(0), Fraction(0), 0
    for work in MACHINE.stages(Work(nest.name, nest)):
        figures = {"tensorized.dataflow": Fraction(unit)}
        problems = MACHINE.problems(work, figures, objective)
        best = best_solution(solve_designs(problems, how.search))
        how.check()
        assert best is not None
        assert best.settled
        design: Any = best.problem.design
        operations += work.nest.operations
        cycles += best.metrics["latency"]
        computes += best.metrics["computes"]
        idle += len(design.work.sizes) - len(design.binding)
    speed = float(operations / cycles)
    return {"cycles": cycles, SPEED: speed, REDUNDANT: 1 - operations / computes, IDLE: idle}


def run(how: Run) -> Outcome:
    """Prove the best mapping of every pair."""
    rows: list[dict[str, Any]] = []
    for kernel, listed in PUBLICATION["hasco workloads"].items():
        for number, sizes in enumerate(listed, 1):
            how.step(f"{kernel} {number}")
            nest = workload(kernel, sizes)
            for unit, name in enumerate(UNITS, 1):
                row = {"workload": kernel, "number": number, "intrinsic": name}
                rows.append(row | measure(nest, unit, how))
    table = Table.of(rows)
    cells = {(r["workload"], r["number"], r["intrinsic"]): r for r in rows}

    def wins(name: str, kernel: str, numbers: range | tuple[int, ...] = range(1, 11)) -> int:
        """The number of a kernel's workloads that an intrinsic runs faster than any other."""
        others = set(UNITS) - {name, "conv2d" if name == UNITS[-1] else UNITS[-1]}
        return sum(
            all(cells[kernel, n, name][SPEED] > cells[kernel, n, o][SPEED] for o in others)
            for n in numbers
        )

    whole = [key for key, row in cells.items() if not row[IDLE]]
    measured: Measured = {
        "matrices": wins("gemm", "mm") + wins("gemm", "ttm"),
        "convolutions": wins("conv2d-14", "conv2d"),
        "calls of the release": wins("conv2d", "conv2d"),
        "general": sum(name == "dot" for *_, name in whole),
        "slow": max(
            cells[key][SPEED] / cells[*key[:2], "gemv"][SPEED] for key in whole if key[2] == "dot"
        ),
        "stages": sum((kernel, name) == ("mttkrp", "gemm") for kernel, _, name in whole),
        "mttkrp": wins("gemv", "mttkrp"),
        "5 × 5": cells["conv2d", 1, "conv2d-14"][REDUNDANT],
        "7 × 7": cells["conv2d", 5, "conv2d-14"][REDUNDANT],
        "windows": wins("gemm", "conv2d", (1, 5, 8)),
    }
    series = table.series(["intrinsic"], ["workload", "number"], SPEED)
    chart = LineChart("Intrinsics of 64 PEs on 40 workloads", "workload", SPEED, series)
    return Outcome(table, claims("hasco-figure-7", measured), chart, {"banks": 8})
