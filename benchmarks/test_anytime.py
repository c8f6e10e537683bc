"""The default engine against every single one at equal time, over all designs of hard problems.

Run with ``pytest benchmarks/test_anytime.py --benchmark-only -s``; ``ITHACA_BENCH_SECONDS`` is the
limit of a solve (20). The default is to lose to none: it has one budget for all designs, where
methods that cannot be interrupted give equal shares.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.posynomial import NotPosynomialError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.conclusion import conclude_least
from ithaca.solver.engines import ENGINES, Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import best_solution
from ithaca.workloads.kernel_files import kernel_nest
from ithaca.workloads.library import workload

SECONDS = float(os.environ.get("ITHACA_BENCH_SECONDS", "20"))

#: A depthwise convolution with two outputs per channel, strided and dilated.
STRIDED = {
    "name": "strided",
    "statement": "out[n][r][c][ch][m] += inp[n][r*s+p*d][c*s+q*d][ch] * w[ch][m][p][q]",
    "loops": ["n", "r", "c", "ch", "m", "p", "q"],
    "extents": {"n": 2, "r": 56, "c": 56, "ch": 96, "m": 2, "p": 3, "q": 3},
    "parameters": {"s": 2, "d": 2},
    "untiled": ["p", "q"],
    "simd": "ch",
}


@dataclass(frozen=True)
class Case:
    """All designs of a workload that can be built."""

    kernel: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    objective: str = "latency"
    dtype: str = "fp32"
    platform: str = "u250"

    def problems(self) -> list[Problem]:
        """One per design."""
        nest = (
            kernel_nest(STRIDED, "here")
            if self.kernel == "strided"
            else workload(self.kernel, self.sizes)
        )
        resources = load_platform(self.platform).resources
        limits = tuple(Limit(name, resources[name].limit) for name in ("dsp", "bram18k"))
        data, objective = data_type(self.dtype), parse_objective(self.objective)
        return [
            Problem(SystolicDesign(nest, array, data), limits, objective)
            for array in choose_designs(nest, Edition.EXACT)
        ]


CASES = (
    Case("strided", dtype="int8", platform="zcu102"),
    Case("mttkrp", {"i": 512, "j": 512, "k": 512, "l": 512}),
    Case("conv2d", {"i": 3, "o": 64, "r": 224, "c": 224, "p": 3, "q": 3}, objective="edp"),
    Case("mm", {"i": 4096, "j": 4096, "k": 4096}, objective="energy/latency-dsp"),
    Case("depthwise_conv2d", dtype="int8", platform="zcu102"),
)


def shown(case: Case, method: str) -> tuple[Fraction | None, str]:
    """The best value of a method within the limit, and its line."""
    began = time.perf_counter()
    try:
        found = solve_designs(case.problems(), SolveOptions(time_limit=SECONDS), method=method)
    except (InputError, NotPosynomialError):
        return None, f"  {method:<8} refuses the objective"
    best, proof = best_solution(found), conclude_least([(s.value, s.certificate) for s in found])
    value = None if best is None else best.value
    cells = [
        "–" if number is None else f"{float(number):.8g}" for number in (value, proof.lower_bound)
    ]
    gap = "–" if proof.gap is None else f"{proof.gap:.2%}"
    return (
        value,
        f"  {method:<8} {cells[0]:>16} {cells[1]:>16} {gap:>9} {time.perf_counter() - began:>7.1f} s",
    )


def test_the_default_loses_to_no_method(benchmark) -> None:  # type: ignore[no-untyped-def]
    lost: list[str] = []

    def run() -> None:
        for case in CASES:
            print(
                f"\n{case.kernel} {dict(case.sizes)} {case.objective} {case.dtype}: value, bound and gap over all designs"
            )
            values: dict[str, Fraction] = {}
            for method in ENGINES:
                value, line = shown(case, method)
                print(line, flush=True)
                if value is not None:
                    values[method] = value
            if Method.AUTO not in values or values[Method.AUTO] > min(values.values()):
                lost.append(case.kernel)

    benchmark.pedantic(run, rounds=1)
    if lost:
        pytest.fail(f"the default lost on {', '.join(lost)}")
