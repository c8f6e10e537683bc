"""CP-SAT and geometric programs on nests beyond matrix multiplication: they agree with the exact
engine."""

from dataclasses import replace

import pytest

from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.plugins.geometric.solver.search import GpSearch
from ithaca.solver.certificate import Status
from ithaca.solver.engines import engine
from ithaca.solver.exact.engine import solve_exact
from tests.solver.test_exact_cnn import FEW_LOOPS, MANY_LOOPS, small_problem

KERNELS = [*FEW_LOOPS, *MANY_LOOPS]


def check_cpsat(kernel, seed):
    problem = small_problem(kernel, seed)
    expected, found = solve_exact(problem), engine("cpsat")(problem)
    assert found.certificate.status is expected.certificate.status
    assert found.value == expected.value == found.certificate.lower_bound


def check_bound(kernel, seed):
    problem = replace(small_problem(kernel, seed), objective=parse_objective("latency"))
    expected, found = solve_exact(problem), GpSearch(problem)
    found.run(1)
    if expected.certificate.status is Status.INFEASIBLE:
        return
    assert not found.complete
    assert 0 < found.lower_bound <= expected.value


@pytest.mark.parametrize("kernel", KERNELS)
def test_cpsat_agrees(kernel):
    check_cpsat(kernel, 51)


@pytest.mark.parametrize("kernel", KERNELS)
def test_geometric_programs_bound_from_below(kernel):
    check_bound(kernel, 52)


@pytest.mark.parametrize("seed", range(100, 120))
@pytest.mark.parametrize("kernel", KERNELS)
def test_engines_agree_on_many_problems(kernel, seed):
    check_cpsat(kernel, seed)
    check_bound(kernel, seed)
