"""Ithaca in Python."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import ithaca
from tests.command_line import ithaca as command


def test_the_answer_is_that_of_the_command_line() -> None:
    found = ithaca.solve("mm", i=8, j=8, k=8, dataflow=["i", "j"], permutation="C")
    assert found.status == "optimal"
    assert found.value == found.lower_bound == found.best.metrics["latency"]
    words = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--permutation", "C", "--json")
    told = json.loads(command("solve", *words).stdout)
    assert found.document["best"]["metrics"] == told["best"]["metrics"]
    assert found.document["best"]["tiling"] == told["best"]["tiling"]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"gap": "x"}, "gap is 'x'; allowed: a finite number ≥ 0"),
        ({"min_lanes": 0}, "min_lanes is '0'; allowed: an integer ≥ 1"),
        ({"i": 2.5}, "i is 2.5; allowed: an integer, the extent of a loop"),
        ({"platfrom": "u250"}, "platfrom is 'u250'; allowed: an integer, the extent of a loop, or keywords such as platform"),
        ({"q": 3}, "unknown loop 'q' in sizes: mm has loops i, j, k"),
        ({"sizes": {"i": 0}}, "size of loop 'i' is 0"),
        ({"limit": {"dsp": -1}}, "limit: 'dsp' is '-1'"),
    ],
)
def test_bad_input_names_the_keyword(given: dict[str, object], line: str) -> None:
    with pytest.raises(ithaca.InputError) as error:
        ithaca.solve("mm", **given)
    assert str(error.value).startswith(line)


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = ("numpy", "pydantic", "typer", "xarray", "pandas", "ortools", "pyomo", "matplotlib", "plotly", "rich", "yaml")
    words = f"import sys, ithaca; print([n for n in sys.modules if n.split('.')[0] in {heavy}])"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("statement", ["C[i,j] += A[i,k] * B[k,j]", "C[i][j] += A[i][k] * B[k][j]", "ik,kj->ij"])
def test_statements_are_workloads(statement: str) -> None:
    found = ithaca.solve(statement, i=8, j=4, k=2, dataflow="i,j")
    assert found.status == "optimal"
    nest = found.problem.design.nest
    assert nest.sizes == {"i": 8, "j": 4, "k": 2}
    assert [str(access) for access in nest.accesses] == ["A[i][k]", "B[k][j]", "C[i][j]"]


def test_names_that_only_multiply_are_parameters() -> None:
    statement = "out[n,r] += inp[r*s+p*d,c] * w[n,p,c]"
    found = ithaca.solve(statement, n=4, r=4, p=3, c=2, s=2, d=1, dataflow="n")
    nest = found.problem.design.nest
    assert nest.sizes == {"n": 4, "r": 4, "p": 3, "c": 2}
    assert dict(nest.parameters) == {"s": 2, "d": 1}
    with pytest.raises(ithaca.InputError, match="sizes of p, c, s are missing; allowed: those of all of n, r, p, c, d, s"):
        ithaca.solve(statement, n=4, r=4, d=1)


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import ithaca
from ithaca.api.live_line import LiveLine

def hit(self, index, progress):
    if progress.value is not None:
        for _ in range({times}):
            os.kill(os.getpid(), signal.SIGINT)

LiveLine.report = hit
before = signal.getsignal(signal.SIGTERM)
try:
    found = ithaca.solve("mm", i=1024, j=1024, k=1024, dataflow="i,j", permutation="C")
    print(found.status, found.lower_bound is not None, found.best is not None, found.best.certificate.termination.value)
except KeyboardInterrupt:
    print("raised")
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM) is before)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("the next one is the caller's")
"""


@pytest.mark.parametrize(("times", "said"), [(1, "feasible True True interrupted"), (2, "raised")])
def test_ctrl_c_keeps_what_was_found_and_a_second_one_raises(times: int, said: str) -> None:
    script = INTERRUPTED.format(times=times)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.splitlines() == [said, "True True", "the next one is the caller's"], done.stderr
    assert not done.stderr
