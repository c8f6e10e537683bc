"""Timeloop's mapper, as recorded, against proven optima of the same problems under the same
model."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from benchmarks.paper.experiment import PUBLICATION, Cell, Number, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.library import workload

#: The problems of the runs: kernel and extents.
PROBLEMS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "gemm": ("mm", {"i": 512, "j": 3072, "k": 768}),
    "resnet18_l1": ("conv2d", {"o": 64, "r": 56, "c": 56, "i": 64, "p": 3, "q": 3}),
}

RATIO = "times the proven optimum"


def run(how: Run) -> Outcome:
    """Prove the least of each metric, with tilings that divide the extents, as the mapper has; in
    full mode padded, too."""
    recorded = PUBLICATION["timeloop mapper"]
    rows: list[dict[str, Cell]] = []
    best: dict[tuple[str, str], Fraction] = {}
    proven: dict[tuple[str, str, bool], Fraction] = {}
    for machine, problem, metric, algorithm, value in recorded:
        case = f"{machine}, {problem}"
        for divisors_only in (True, False) if how.full else (True,):
            if (case, metric, divisors_only) not in proven:
                how.step(f"{case}, {metric}{'' if divisors_only else ', padded'}")
                proven[case, metric, divisors_only] = _proven(
                    machine, problem, metric, how, divisors_only=divisors_only
                )
                found = proven[case, metric, divisors_only]
                space = "proven" if divisors_only else "proven, padded"
                ratio = found / proven[case, metric, True]
                rows.append(
                    {
                        "problem": case,
                        "objective": metric,
                        "found by": space,
                        "value": found,
                        RATIO: float(ratio),
                    }
                )
        value = Fraction(str(value))
        ratio = value / proven[case, metric, True]
        best[case, metric] = min(value, best.get((case, metric), value))
        rows.append(
            {
                "problem": case,
                "objective": metric,
                "found by": algorithm,
                "value": value,
                RATIO: float(ratio),
            }
        )
    ratios = {key: value / proven[(*key, True)] for key, value in best.items()}
    measured: dict[str, Number | tuple[Number, Number]] = {
        "never better": min(ratios.values()),
        "edp": max(ratio for (_, metric), ratio in ratios.items() if metric == "edp"),
        "energy": max(ratio for (_, metric), ratio in ratios.items() if metric == "energy"),
        "cycles": max(ratio for (_, metric), ratio in ratios.items() if metric == "latency"),
    }
    if how.full:
        measured["padding"] = min(
            value / proven[case, metric, True]
            for (case, metric, exact), value in proven.items()
            if not exact
        )
    table = Table.of(rows)
    series = table.series(["found by"], ["problem", "objective"], RATIO)
    chart = LineChart(
        "What Timeloop's mapper found over the proven optimum", "problem", RATIO, series
    )
    return Outcome(
        table,
        claims("timeloop-mapper", measured),
        chart,
        {"seconds of the mapper": 120, "threads of the mapper": 2},
    )


def _proven(machine: str, problem: str, metric: str, how: Run, *, divisors_only: bool) -> Fraction:
    kernel, sizes = PROBLEMS[problem]
    nest = workload(kernel, sizes)
    design = SpatialDesign(
        nest, fitted(find_architecture(machine), nest), MappingOptions(divisors_only=divisors_only)
    )
    objective = Objective(
        metric, parse_expression(metric, where="objective", allowed=design.vocabulary)
    )
    solution = solve_staged(Problem(design, (), objective), how.search)
    how.check()
    assert solution.value is not None
    assert solution.settled
    return solution.value
