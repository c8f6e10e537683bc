"""The gain of the default engine from evolution, on problems that it does not prove within a time
limit.

Run with ``pytest benchmarks/test_open_problems.py --benchmark-only -s``; ``ITHACA_BENCH_SECONDS``
is the limit of a solve (20). Both runs bound and seed the exact search by the same geometric
programs; one of them has no evolution. What is proven by both within the limit is no open problem:
the table says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import pytest

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver import combination
from ithaca.solver.auto import solve_auto
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution
from ithaca.workloads.library import workload

SECONDS = float(os.environ.get("ITHACA_BENCH_SECONDS", "20"))

#: The convolution of the published study, VGG16's first layer, and a large product.
CONVOLUTION: Mapping[str, int] = {"i": 512, "o": 512, "r": 56, "c": 56, "p": 3, "q": 3}
FIRST: Mapping[str, int] = {"i": 3, "o": 64, "r": 224, "c": 224, "p": 3, "q": 3}
LARGE: Mapping[str, int] = {"i": 4096, "j": 4096, "k": 4096}
FOUR: Mapping[str, int] = {"i": 512, "j": 512, "k": 512, "l": 512}


@dataclass(frozen=True)
class Case:
    """A problem on the U250 at 70 %, exact model edition."""

    kernel: str
    sizes: Mapping[str, int]
    dataflow: tuple[str, str]
    permutation: str
    objective: str

    def problem(self) -> Problem:
        """The problem."""
        nest = workload(self.kernel, self.sizes)
        array = derive(nest, self.dataflow, self.permutation, Edition.EXACT)
        limits = (Limit("dsp", Fraction("8601.6")), Limit("bram18k", Fraction("3763.2")))
        return Problem(
            SystolicDesign(nest, array, data_type("fp32")), limits, parse_objective(self.objective)
        )


CASES = (
    Case("conv2d", CONVOLUTION, ("o", "r"), "cout", "edp"),
    Case("conv2d", CONVOLUTION, ("o", "i"), "cout", "edp"),
    Case("conv2d", CONVOLUTION, ("o", "r"), "cout", "latency*bram18k*off_chip_words"),
    Case("conv2d", FIRST, ("o", "r"), "cout", "power"),
    Case("conv2d", FIRST, ("o", "i"), "cout", "power"),
    Case("mttkrp", FOUR, ("i", "j"), "D", "latency"),
    Case("mm", LARGE, ("i", "j"), "C", "edp"),
)


def solve(case: Case, evolving: bool) -> Solution:
    """The default engine, with its evolution or without."""
    with pytest.MonkeyPatch.context() as patch:
        if not evolving:
            patch.setattr(combination, "better_incumbent", keep)
        return solve_auto(case.problem(), SolveOptions(time_limit=SECONDS))


def keep(
    problem: Problem, options: SolveOptions, known: Configuration | None, start: object
) -> Configuration | None:
    """No evolution."""
    return known


def shown(solution: Solution) -> str:
    certificate = solution.certificate
    value = "–" if solution.value is None else f"{float(solution.value):.5g}"
    gap = "–" if certificate.gap is None else f"{certificate.gap:.2%}"
    return f"{value:>11} {gap:>7} {certificate.seconds:>5.1f} s"


def test_evolution_on_open_problems(benchmark) -> None:  # type: ignore[no-untyped-def]
    print(f"\nvalue, gap and seconds after at most {SECONDS:g} s")
    print(f"{'problem':<50} {'without evolution':>27} {'with':>27}  with / without")

    def run() -> list[tuple[Solution, Solution]]:
        pairs = []
        for case in CASES:
            without, with_ = solve(case, False), solve(case, True)
            pairs.append((without, with_))
            name = f"{case.kernel} {'×'.join(map(str, case.sizes.values()))} ({','.join(case.dataflow)}) {case.objective}"
            both = without.value is not None and with_.value is not None
            ratio = f"{float(with_.value / without.value):.4f}" if both else "–"  # type: ignore[operator]
            print(f"{name:<50} {shown(without):>27} {shown(with_):>27}  {ratio:>8}", flush=True)
        return pairs

    assert len(benchmark.pedantic(run, rounds=1)) == len(CASES)
