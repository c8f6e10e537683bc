"""The exact engine on the sizes of the README, as ratios against a baseline of the same run.

Run with ``pytest benchmarks --benchmark-only -s``. The baseline is a fixed amount of NumPy work, so
that figures from a busy or slow machine still compare. Each benchmark also prints, per design, the
time to an incumbent within 10 %, 1 % and 0 % of the optimum and the time to the proof.
"""

from __future__ import annotations

import resource
import statistics
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.platform_limits import platform_limits
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from ithaca.solver.tables.model import BoundModel
from ithaca.workloads.library import workload


@dataclass(frozen=True)
class Case:
    """A set of designs of one size on one platform."""

    sizes: tuple[int, int, int]
    platform: str
    edition: Edition
    names: tuple[str, ...]


BUILDABLE = ("[i] C", "[j] C", "[k] C", "[i,j] C", "[i,k] C", "[j,k] C")
ALL = tuple(f"{d} {p}" for d in ("[i]", "[j]", "[k]", "[i,j]", "[i,k]", "[j,k]") for p in "ABC")
CASES = {
    "64 cubed, 6 buildable, exact": Case((64, 64, 64), "u250", Edition.EXACT, BUILDABLE),
    "1024 cubed, all 18, odyssey": Case((1024, 1024, 1024), "u250", Edition.ODYSSEY, ALL),
    "1024 cubed, 6 buildable, exact": Case((1024, 1024, 1024), "u250", Edition.EXACT, BUILDABLE),
    "(513, 2048, 96), (i,j), exact": Case((513, 2048, 96), "vu9p", Edition.EXACT, ("[i,j] C",)),
    "(513, 2048, 96), (k), exact": Case((513, 2048, 96), "vu9p", Edition.EXACT, ("[k] C",)),
}


def problems(case: Case) -> list[Problem]:
    """The problems of a case."""
    nest = workload("mm", dict(zip("ijk", case.sizes, strict=True)))
    data = data_type("fp32")
    chosen = (SystolicDesign(nest, a, data) for a in designs(nest, case.edition))
    return [
        Problem(design, platform_limits(design, case.platform), parse_objective("latency"))
        for design in chosen
        if design.name in case.names
    ]


def baseline() -> float:
    """Seconds of a fixed amount of array work: the median of five runs."""
    values = np.linspace(1.0, 2.0, 8192)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(2000):
            np.maximum(values * values, values)
        taken.append(time.perf_counter() - began)
    return sorted(taken)[2]


class WatchedSearch(Search):
    """A search that notes when it improved."""

    def __init__(self, model: BoundModel) -> None:
        super().__init__(model, SolveOptions())
        self.began = time.perf_counter()
        self.improved: list[tuple[float, Fraction]] = []

    def offer(self, found: Configuration) -> None:
        before = self.state.value
        super().offer(found)
        if self.state.value is not None and self.state.value != before:
            self.improved.append((time.perf_counter() - self.began, self.state.value))

    def within(self, share: str) -> float:
        """Seconds of search until the incumbent was within a share of the optimum."""
        assert self.state.value is not None
        return next(
            seconds
            for seconds, value in self.improved
            if value <= self.state.value * (1 + Fraction(share))
        )


def solve_all(case: Case) -> list[tuple[str, float, WatchedSearch, float]]:
    """Prove every design: name, seconds of preparation, its search, seconds in all."""
    found = []
    for problem in problems(case):
        began = time.perf_counter()
        model = build_model(problem)
        prepared = time.perf_counter() - began
        search = WatchedSearch(model)
        search.run()
        found.append((problem.design.name, prepared, search, time.perf_counter() - began))
    return found


@pytest.mark.parametrize("name", CASES)
def test_time_to_proof(benchmark, name: str) -> None:  # type: ignore[no-untyped-def]
    case = CASES[name]
    unit = baseline()
    found = benchmark.pedantic(solve_all, args=(case,), rounds=1, warmup_rounds=1)
    assert all(search.state.value == search.state.lower_bound for _, _, search, _ in found)
    total = sum(seconds for *_, seconds in found)
    print(f"\n{name}: {total:.2f} s = {total / unit:.1f} baselines; peak memory of the process so far "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")  # fmt: skip
    print(
        f"{'design':<9} {'optimum':>14} {'tables':>7} {'10 %':>7} {'1 %':>7} {'0 %':>7} {'proof':>7}  boxes   (seconds)"
    )
    for design, prepared, search, seconds in found:
        state = search.state
        times = " ".join(
            f"{prepared + search.within(share):7.2f}" for share in ("0.1", "0.01", "0")
        )
        print(
            f"{design:<9} {float(state.value):>14,.2f} {prepared:7.2f} {times} {seconds:7.2f}  {state.boxes:,}"
        )
        benchmark.extra_info[design] = {"boxes": state.boxes, "seconds": seconds}
    benchmark.extra_info["baselines"] = total / unit


def test_cycle_edition_against_exact(benchmark) -> None:  # type: ignore[no-untyped-def]
    """The 6 buildable designs at 1024³ proven in both editions by turns: at most twice the time in
    the cycle edition."""
    cases = {
        edition: Case((1024, 1024, 1024), "u250", edition, BUILDABLE)
        for edition in (Edition.EXACT, Edition.CYCLE)
    }
    taken: dict[Edition, list[float]] = {edition: [] for edition in cases}

    def both() -> None:
        for edition, case in cases.items():
            began = time.process_time()
            found = [solve_exact(problem) for problem in problems(case)]
            taken[edition].append(time.process_time() - began)
            assert all(solution.value == solution.certificate.lower_bound for solution in found)

    benchmark.pedantic(both, rounds=5, warmup_rounds=1)
    exact, cycle = (statistics.median(seconds[1:]) for seconds in taken.values())
    benchmark.extra_info["ratio"] = cycle / exact
    print(
        f"\n1024 cubed, 6 buildable: exact {exact:.2f} s, cycle {cycle:.2f} s of processor time: {cycle / exact:.2f} times"
    )
    assert cycle <= 2 * exact
