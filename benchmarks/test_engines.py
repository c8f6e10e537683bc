"""Exact search, CP-SAT and SCIP on the same problems, side by side.

Run with ``pytest benchmarks/test_engines.py --benchmark-only -s``; SCIP needs ``pip install
"ithaca[bench]"``. For each problem and engine, one thread each: seconds until an incumbent within 1
% of the optimum, seconds to the proof, final bound and gap. Two environment variables make it
smaller: ``ITHACA_BENCH_SECONDS``, the time limit of each solve, and ``ITHACA_BENCH_PROBLEMS``, a
part of the names of the problems to solve.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec

import pytest

from benchmarks.platform_limits import platform_limits
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.workloads.library import workload

SECONDS = float(os.environ.get("ITHACA_BENCH_SECONDS", "60"))

#: Relative difference that SCIP's tolerances may leave between its optimum and the exact one.
SCIP_TOLERANCE = Fraction(1, 10**6)

FOOTNOTE = """* SCIP computes in floating point with tolerances: its bounds and proofs hold within them, not exactly.
  Its values are those of its configurations by the Fraction reference."""


@dataclass(frozen=True)
class Run:
    """A run of one engine on one problem.

    Attributes
    ----------
    engine : str
        Its name.
    incumbents : tuple of (float, Fraction)
        Seconds and value of each improvement.
    proof : float or None
        Seconds to the proof of optimality.
    bound : float or None
        The lower bound at the end.
    exact : bool
        Whether the proof holds under exact arithmetic.
    """

    engine: str
    incumbents: tuple[tuple[float, Fraction], ...]
    proof: float | None
    bound: float | None
    exact: bool = True

    @property
    def value(self) -> Fraction | None:
        """The best value found."""
        return min((value for _, value in self.incumbents), default=None)


def problems() -> Mapping[str, Problem]:
    """The problems by name."""
    mm = {f"{n} cubed": ("mm", {"i": n, "j": n, "k": n}) for n in (64, 1024)}
    conv = {"conv 16x8x8x16": ("conv2d", {"o": 16, "r": 8, "c": 8, "i": 16})}
    cases = [
        ("64 cubed", ("i", "j"), "C", Edition.EXACT),
        ("64 cubed", ("k",), "C", Edition.ODYSSEY),
        ("1024 cubed", ("i", "j"), "C", Edition.EXACT),
        ("1024 cubed", ("i", "j"), "C", Edition.ODYSSEY),
        ("conv 16x8x8x16", ("o", "c"), "cout", Edition.EXACT),
    ]
    found = {}
    for name, dataflow, permutation, edition in cases:
        nest = workload(*(mm | conv)[name])
        array = derive(nest, dataflow, permutation, edition)
        title = f"{name} ({','.join(dataflow)}) {permutation}, {edition.value}"
        design = SystolicDesign(nest, array, data_type("fp32"))
        found[title] = Problem(design, platform_limits(design), parse_objective("latency"))
    return found


def run_own(method: str, problem: Problem) -> Run:
    """Run an engine of ours."""
    began, incumbents = time.perf_counter(), []

    def note(value: Fraction | None) -> None:
        if value is not None and (not incumbents or value < incumbents[-1][1]):
            incumbents.append((time.perf_counter() - began, value))

    def report(progress: Progress) -> None:
        note(progress.value)

    solution = engine(method)(problem, SolveOptions(time_limit=SECONDS), report)
    note(solution.value)
    certificate = solution.certificate
    proof = time.perf_counter() - began if certificate.status is Status.OPTIMAL else None
    bound = None if certificate.lower_bound is None else float(certificate.lower_bound)
    return Run(method, tuple(incumbents), proof, bound)


def run_scip(problem: Problem) -> Run:
    """Run SCIP, and check that it means the same problem."""
    from benchmarks.scip_model import solve_by_scip

    found = solve_by_scip(problem, SECONDS)
    if found.value is not None and found.claimed is not None:
        # what SCIP minimises is the objective: its value is the reference's
        assert float(found.value) == pytest.approx(found.claimed, rel=float(SCIP_TOLERANCE))
    return Run(
        "scip",
        tuple(found.incumbents),
        found.seconds if found.proven else None,
        found.bound,
        exact=False,
    )


def run_all() -> dict[str, list[Run]]:
    """Every engine on every problem."""
    wanted = os.environ.get("ITHACA_BENCH_PROBLEMS", "")
    engine("cpsat")  # imports take a second, which is no engine's
    found = {}
    for name, problem in problems().items():
        if wanted in name:
            found[name] = [run_own(Method.EXACT, problem), run_own("cpsat", problem)]
            if find_spec("pyscipopt"):
                found[name].append(run_scip(problem))
    return found


def shown(seconds: float | None, mark: str = "") -> str:
    """A time in the table."""
    return "-" if seconds is None else f"{seconds:.2f}{mark}"


def test_engines(benchmark) -> None:  # type: ignore[no-untyped-def]
    found = benchmark.pedantic(run_all, rounds=1)
    assert found, "ITHACA_BENCH_PROBLEMS names no problem"
    print(f"\n{SECONDS:g} s at most for each solve, one thread; times in seconds")
    print(
        f"{'problem':<36} {'engine':<6} {'value':>14} {'within 1 %':>11} {'proof':>9} {'final bound':>14} {'gap':>8}"
    )
    for name, runs in found.items():
        proven = {run.value for run in runs if run.proof is not None and run.exact}
        assert len(proven) <= 1, f"{name}: two engines prove different optima"
        optimum = next(iter(proven), None)
        for run in runs:
            within = None
            if optimum is not None:
                within = next(
                    (s for s, value in run.incumbents if value <= optimum * Fraction("1.01")), None
                )
                assert run.value is None or run.value >= optimum
                if run.proof is not None:
                    assert run.value is not None
                    assert run.value <= optimum * (1 + SCIP_TOLERANCE)
            value = "-" if run.value is None else f"{float(run.value):,.2f}"
            bound = "-" if run.bound is None else f"{run.bound:,.2f}"
            gap = (
                "-"
                if run.value is None or run.bound is None
                else f"{max(0.0, 1 - run.bound / float(run.value)):.1%}"
            )
            proof = shown(run.proof, "" if run.exact else "*")
            print(
                f"{name:<36} {run.engine:<6} {value:>14} {shown(within):>11} {proof:>9} {bound:>14} {gap:>8}"
            )
            benchmark.extra_info[f"{name}: {run.engine}"] = {
                "proof": run.proof,
                "within": within,
                "bound": run.bound,
            }
    print(
        FOOTNOTE
        if find_spec("pyscipopt")
        else 'SCIP is not installed: pip install "ithaca[bench]" adds its rows'
    )
