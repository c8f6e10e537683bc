"""The bare enumeration in C beside which proofs are measured: an engine of another kind."""

import shutil

import pytest

from benchmarks.limit import enumerated, problem
from ithaca.solver.exact.engine import solve_exact

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")
@pytest.mark.parametrize("size", [512, 1000, 1024])
def test_enumeration_in_c_ends_with_the_proven_optimum(tmp_path, size):
    own = problem(size)
    assert enumerated(own, tmp_path, COMPILER).value == solve_exact(own).value
