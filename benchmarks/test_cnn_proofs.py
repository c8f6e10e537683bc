"""Proofs at the size of convolutional networks: every convolution of VGG16 under every design, one
thread.

Run with ``pytest benchmarks/test_cnn_proofs.py --benchmark-only -s``. Layers that the network runs
several times are solved once and counted as often. Printed are the share proven within a minute
each, the slowest, and the largest gap left.
"""

from __future__ import annotations

import resource
import time

import pytest

from benchmarks.platform_limits import platform_limits
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.auto import solve_auto
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.workloads.networks.find import find_network

#: Seconds for one problem.
MINUTE = 60.0


def problems(edition: Edition) -> list[tuple[str, int, Problem]]:
    """Layer, runs and problem: all designs in the odyssey model edition, buildable ones in the
    exact model edition."""
    objective, data = parse_objective("latency"), data_type("fp32")
    return [
        (layer.name, layer.count, Problem(design, platform_limits(design), objective))
        for layer in find_network("vgg16").layers
        if layer.nest.name == "conv2d"
        for array in designs(layer.nest, edition)
        if array.buildable or edition is Edition.ODYSSEY
        for design in [SystolicDesign(layer.nest, array, data)]
    ]


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
def test_share_proven(benchmark, edition: Edition) -> None:  # type: ignore[no-untyped-def]
    def solve_all() -> list[tuple[str, int, str, bool, float, float]]:
        found = []
        for name, count, problem in problems(edition):
            began = time.perf_counter()
            certificate = solve_auto(problem, SolveOptions(time_limit=MINUTE)).certificate
            seconds = time.perf_counter() - began
            gap = 1.0 if certificate.gap is None else certificate.gap
            proven = certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)
            found.append(
                (name, count, problem.design.name, proven, seconds, 0.0 if proven else gap)
            )
        return found

    found = benchmark.pedantic(solve_all, rounds=1)
    total = sum(count for _, count, *_ in found)
    proven = sum(count for _, count, _, is_proven, *_ in found if is_proven)
    slowest = max(found, key=lambda row: row[4])
    seconds = sum(row[4] for row in found)
    gap = max(row[5] for row in found)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\n{edition.value}: {proven} of {total} problems proven ({proven / total:.1%}); largest gap {gap:.1%}"
    )
    print(
        f"{seconds:.0f} s for {len(found)} distinct, slowest {slowest[0]} {slowest[2]} {slowest[4]:.2f} s; {memory:.2f} GiB"
    )
    assert proven >= (0.98 if edition is Edition.ODYSSEY else 0.95) * total
    assert gap <= 0.03
