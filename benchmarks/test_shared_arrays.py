"""One array for a whole network, anytime: what is found and proven after so much computing, and
what page faults cost.

Run with ``pytest benchmarks/test_shared_arrays.py --benchmark-only -s``. Each run is a process of
its own and ends after 60 s of processor time at the latest: on a busy machine seconds of wall time
say nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

#: Solves a network on one array, or on two; prints what was known when, in seconds of processor
#: time.
PROGRAM = """
import json, resource, sys, time
from dataclasses import replace
from fractions import Fraction
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.modes import mode
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.runner import RunOptions
from ithaca.formulations.question import Minimise
from ithaca.workloads.networks.find import find_network

name, patterns, dtype, arrays, seconds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5])
network = only_layers(find_network(name, {}), patterns.split() if patterns else [])
request = ArrayQuestion(
    data=data_type(dtype),
    platform=replace(load_platform("u250"), resources={}),
    bounds={"dsp": Fraction("8601.6"), "bram18k": Fraction("3763.2")},
    objective=parse_objective("latency"),
    arrays=arrays,
    minimise=Minimise.TOTAL,
)
known = []

def report(state):
    known.append((time.process_time(), state.progress.value, state.progress.lower_bound))

options = RunOptions(search=SolveOptions(stop=lambda: time.process_time() > seconds), report=report)
result = mode("shared-array" if arrays == 1 else "multi-array")(network, request, options)
used = resource.getrusage(resource.RUSAGE_SELF)
first = next((seconds for seconds, value, _ in known if value is not None), None)
total, proof = result.total.value, result.total.certificate
print(json.dumps({
    "user": used.ru_utime, "system": used.ru_stime, "page_faults": used.ru_minflt, "peak_gib": used.ru_maxrss / 2**20,
    "first": first, "value": None if total is None else float(total), "gap": proof.gap, "status": proof.status.value,
}))
"""

RUNS = [
    ("resnet50", "conv2d", "fp32", 1),
    ("resnet50", "", "fp32", 1),
    ("resnet50", "", "int8", 1),
    ("bert-base", "", "fp32", 1),
    ("vgg16", "conv2d", "fp32", 2),
    ("resnet50", "conv2d", "fp32", 2),
]


@pytest.mark.parametrize(("network", "layers", "dtype", "arrays"), RUNS)
def test_anytime(benchmark, network: str, layers: str, dtype: str, arrays: int) -> None:  # type: ignore[no-untyped-def]
    command = [sys.executable, "-c", PROGRAM, network, layers, dtype, str(arrays), "60"]

    def run() -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    found = json.loads(benchmark.pedantic(run, rounds=1))
    benchmark.extra_info |= found
    value = "nothing" if found["value"] is None else f"{found['value']:,.0f}"
    gap = "no bound" if found["gap"] is None else f"gap {found['gap']:.1%}"
    print(
        f"\n{network} {layers} {dtype}, {arrays} array(s): user {found['user']:.1f} s, system {found['system']:.1f} s, "
        f"{found['page_faults'] / 1e6:.2f} million page faults, {found['peak_gib']:.1f} GiB; "
        f"first array after {found['first'] or float('nan'):.1f} s; {value} ({found['status']}, {gap})"
    )
    assert found["value"] is not None
    assert found["first"] < 10
    assert found["system"] < found["user"] / 5
