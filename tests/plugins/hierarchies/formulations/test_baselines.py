"""Fixed dataflows as smaller spaces of mappings."""

import pytest

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.peers.studies.methods import run_peer
from ithaca.plugins.peers.studies.recorder import SampleBudget
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.problem_files import read_problem
from tests.plugins.hierarchies.formulations.cases import golden, nest_of

#: What each dataflow spreads over the mesh of a convolution.
SPREAD = {
    "output-stationary": {"P", "Q"},
    "weight-stationary": {"M", "C"},
    "row-stationary": {"P", "R"},
}


def problem(workload, objective):
    nest = read_problem(golden() / "simple" / f"problem_{workload}.yaml")
    design = SpatialDesign(
        nest, fitted(find_architecture("eyeriss"), nest), MappingOptions(divisors_only=True)
    )
    return Problem(
        design,
        (),
        Objective(
            objective, parse_expression(objective, where="objective", allowed=design.vocabulary)
        ),
    )


@pytest.mark.parametrize("method", sorted(SPREAD))
@pytest.mark.parametrize("objective", ["energy", "edp"])
def test_dataflows_keep_to_their_loops_and_lose(method, objective):
    asked = problem("resnet18_l1", objective)
    found = run_peer(method, asked, SampleBudget(seconds=600))
    optimum = solve_staged(asked).value
    assert optimum < found.value < 10 * optimum
    assert found.best is not None
    assert asked.feasible_value(found.best) == found.value
    mapping = asked.design.mapping(found.best)
    spread = {
        loop for way in "xy" for loop, n in mapping.factors[Slot("GLB", way)].items() if n > 1
    }
    assert spread <= SPREAD[method]


def test_the_program_finds_a_mapping_that_fits_and_is_not_the_best():
    asked = problem("depthwise", "edp")
    found, again = (run_peer("cosa", asked, SampleBudget(seconds=600)) for _ in range(2))
    assert found.best is not None
    assert found.best == again.best
    assert asked.feasible_value(found.best) == found.value
    optimum = solve_staged(asked).value
    assert optimum < found.value < 100 * optimum
    mapping = asked.design.mapping(found.best)
    assert mapping.padded(asked.design.nest) == asked.design.nest.sizes


def test_products_have_no_rows_to_keep_and_machines_without_meshes_no_dataflows():
    assert sorted(profile_of(problem("gemm", "edp").design).baselines()) == [
        "cosa",
        "output-stationary",
        "weight-stationary",
    ]
    nest = nest_of("O[i][j] += A[i][k] * B[k][j]", {"i": 2, "j": 2, "k": 2})
    folder = read_architecture(golden() / "simple")
    one = type(folder)("one", folder.levels[:1], type(folder.compute)("mac"))
    assert list(profile_of(SpatialDesign(nest, one)).baselines()) == ["cosa"]
