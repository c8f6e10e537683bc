"""A whole network: VGG16's convolutions, each layer under its 10 buildable designs, every optimum
proven.

Run with ``pytest benchmarks/test_network.py --benchmark-only -s``. The command runs in a process of
its own, so that wall time and peak memory are those a user sees: imports, and with two workers the
start of the cluster, are in them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMAND = (
    sys.executable,
    "-m",
    "ithaca.cli",
    "network",
    "vgg16",
    "--layers",
    "conv2d",
    "--mode",
    "per-layer",
    "--method",
    "exact",
)

#: Wall time by number of workers, for the scaling.
seconds: dict[int, float] = {}


def solve(workers: int, output: Path) -> dict[str, Any]:
    """The document of a run."""
    subprocess.run(
        [*COMMAND, "--threads", str(workers), "-o", str(output)], check=True, capture_output=True
    )
    document: dict[str, Any] = json.loads(output.read_text())
    return document


@pytest.mark.parametrize("workers", [1, 2])
def test_vgg16_per_layer(benchmark, tmp_path: Path, workers: int) -> None:  # type: ignore[no-untyped-def]
    document = benchmark.pedantic(solve, args=(workers, tmp_path / "r.json"), rounds=1)
    designs = [design for layer in document["layers"] for design in layer["designs"]]
    proven = sum(design["certificate"]["status"] in ("optimal", "infeasible") for design in designs)
    assert len(designs) == 9 * 10
    assert proven == len(designs)
    # of the largest process so far: one that solves, or the scheduler
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    seconds[workers] = benchmark.stats.stats.mean
    benchmark.extra_info |= {
        "proven": proven / len(designs),
        "peak_gib": peak,
        "latency": document["total"]["value"],
    }
    print(
        f"\nVGG16, 9 convolutions × 10 designs, {workers} worker(s): {seconds[workers]:.1f} s; "
        f"{proven} of {len(designs)} proven; total {document['total']['value']:,} cycles; peak {peak:.2f} GiB in a process"
    )
    if workers == 2 and 1 in seconds:
        print(f"2 workers take {seconds[2] / seconds[1]:.2f} of the time of 1")
