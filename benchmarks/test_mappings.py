"""Times of proofs of mappings, and their gain over the tool's own mapper.

Run with ``pytest benchmarks/test_mappings.py --benchmark-only -s``. The mapper had two minutes on
two threads for each problem, a proof has one thread. A proof that takes longer than its target
fails.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.solver.staged.engine import solve_staged
from tests.plugins.hierarchies.formulations.drawn import published
from tests.plugins.hierarchies.formulations.test_search_figures import LAYERS, least_evaluated

#: Seconds that a proof may take on one thread, by architecture and objective.
TARGETS = {
    **{
        (name, objective): 5.0
        for name in ("simple", "eyeriss")
        for objective in ("energy", "latency", "edp")
    },
    ("simba-like", "energy"): 30.0,
    ("simba-like", "latency"): 30.0,
    ("simba-like", "edp"): 90.0,
}

#: What timeloop-mapper found.
MAPPER = {
    ("simple", "gemm", "edp"): 5.581955964233318e16,
    ("simple", "gemm", "energy"): 10055417856.0,
    ("simple", "gemm", "latency"): 4718592.0,
    ("eyeriss", "resnet18_l1", "edp"): 1320054508276940.8,
    ("eyeriss", "resnet18_l1", "energy"): 625745971.2,
    ("eyeriss", "resnet18_l1", "latency"): 1275904.0,
}

#: Targets are stretched by this on slower machines.
SLACK = float(os.environ.get("ITHACA_BENCH_SLACK", "1"))


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("architecture", "objective"), TARGETS)
def test_proof(benchmark: Any, architecture: str, objective: str, layer: str) -> None:
    target = TARGETS[architecture, objective] * SLACK
    problem = published(architecture, layer, objective)
    solution = benchmark.pedantic(
        solve_staged, (problem, SolveOptions(time_limit=target)), rounds=1
    )
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value is not None
    line = f"{architecture:>10} {layer:<13} {objective:<8} {float(solution.value):.6e} in {solution.certificate.seconds:5.1f} s"
    if architecture != "simba-like":
        line += f"; best of the tool's random rows {least_evaluated(architecture, layer)[objective] / float(solution.value):6.2f}×"
    if (found := MAPPER.get((architecture, layer, objective))) is not None:
        assert float(solution.value) <= found
        line += f"; its mapper {found / float(solution.value):.3f}×"
    print(line)
