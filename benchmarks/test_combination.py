"""The gain of the exact search from geometric programs.

Run with ``pytest benchmarks/test_combination.py --benchmark-only -s``. For each problem: how far
the root bounds of intervals and of geometric programs (one per SIMD factor) are from the proven
optimum, then boxes and seconds to the proof of the exact search alone, of the search with the
programs' bound and seeds from the start, and of the default.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.geometric.solver.search import GpSearch
from ithaca.solver.auto import solve_auto
from ithaca.solver.combination import bound_and_seed
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from ithaca.workloads.library import workload


@dataclass(frozen=True)
class Case:
    """One design of one nest."""

    kernel: str
    sizes: tuple[int, ...]
    dataflow: str
    objective: str = "latency"
    platform: str = "u250"

    def problem(self) -> Problem:
        """The case as a problem of the exact model edition."""
        loops = {"mm": "ijk", "conv2d": "orcipq"}[self.kernel]
        nest = workload(self.kernel, dict(zip(loops, self.sizes, strict=True)))
        array = derive(nest, tuple(self.dataflow), nest.output.tensor, Edition.EXACT)
        resources = load_platform(self.platform).resources
        limits = tuple(Limit(name, resources[name].limit) for name in ("dsp", "bram18k"))
        return Problem(
            SystolicDesign(nest, array, data_type("fp32")), limits, parse_objective(self.objective)
        )


CASES = (
    Case("mm", (1024, 1024, 1024), "ij"),
    Case("mm", (1024, 1024, 1024), "ij", "edp"),
    Case("mm", (4096, 4096, 4096), "ij"),
    Case("mm", (513, 2048, 96), "k", platform="vu9p"),
    Case("conv2d", (64, 224, 224, 3, 3, 3), "or"),
    Case("conv2d", (256, 56, 56, 256, 3, 3), "o"),
    Case("conv2d", (256, 56, 56, 256, 3, 3), "or"),
    Case("conv2d", (144, 56, 56, 24, 1, 1), "or"),
)


@dataclass(frozen=True)
class Run:
    """The value and effort of one way to solve a problem."""

    value: Fraction | None
    boxes: int
    seconds: float


def timed(solve: Callable[[], tuple[Fraction | None, int]]) -> Run:
    """Run once."""
    began = time.perf_counter()
    value, boxes = solve()
    return Run(value, boxes, time.perf_counter() - began)


def alone(problem: Problem) -> tuple[Fraction | None, int]:
    """Intervals only."""
    state = Search(build_model(problem), SolveOptions()).run()
    return state.value, state.boxes


def combined(problem: Problem) -> tuple[Fraction | None, int]:
    """Geometric programs first: bound and seeds."""
    search = Search(build_model(problem), SolveOptions(time_limit=0.0))
    bound_and_seed(problem, search, SolveOptions())
    search.run()
    search.options = SolveOptions(time_limit=0.05)
    search.run()
    search.options = SolveOptions()
    state = search.run()
    return state.value, state.boxes


def default(problem: Problem) -> tuple[Fraction | None, int]:
    """The method that `ithaca solve` uses unless told otherwise."""
    solution = solve_auto(problem)
    return solution.value, solution.certificate.nodes


def test_what_the_combination_saves(benchmark) -> None:  # type: ignore[no-untyped-def]
    GpSearch(CASES[0].problem()).run(1)  # imports
    rows = benchmark.pedantic(lambda: [measure(case) for case in CASES], rounds=1)
    print(
        f"\n{'problem':<44} {'root gap: intervals':>19} {'GP':>7}   {'boxes, s: alone':>20} {'GP first':>20} {'default':>20}"
    )
    for case, gaps, runs in rows:
        shown = " ".join(f"{run.boxes:>12,} {run.seconds:>7.2f}" for run in runs)
        name = f"{case.kernel} {'×'.join(map(str, case.sizes))} ({','.join(case.dataflow)}) {case.objective}"
        print(f"{name:<44} {gaps[0]:>19.2%} {gaps[1]:>7.2%}   {shown}")
        assert len({run.value for run in runs}) == 1


def measure(case: Case) -> tuple[Case, tuple[float, float], tuple[Run, Run, Run]]:
    """Root bounds, and the three ways to the proof."""
    problem = case.problem()
    runs = tuple(timed(lambda way=way: way(problem)) for way in (alone, combined, default))  # type: ignore[misc]
    optimum = float(runs[0].value)
    model = build_model(problem)
    intervals = float(model.bound(np.zeros((len(model.trees), 1), np.int32))[0][0])
    programs = GpSearch(problem)
    programs.run(1)
    assert programs.lower_bound is not None
    return case, (1 - intervals / optimum, 1 - float(programs.lower_bound) / optimum), runs  # type: ignore[return-value]
