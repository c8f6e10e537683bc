"""Geometric programs: relaxations hold, bounds are proven, optima round to good configurations."""

import random
from dataclasses import replace
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ithaca.formulations.algebra.posynomial import NotPosynomialError
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.geometric.solver.gp import solve_gp
from ithaca.plugins.geometric.solver.ipopt import solve_program
from ithaca.plugins.geometric.solver.model import build_geometric_model
from ithaca.plugins.geometric.solver.ranges import Propagator, region_program
from ithaca.plugins.geometric.solver.search import GpSearch, certified_bound, proves_infeasible
from ithaca.plugins.geometric.solver.seeds import round_points
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from tests.plugins.geometric.test_gp_programs import SIMD, program, root
from tests.problems import mm_points, mm_problem, mm_tiling
from tests.solver.test_exact import random_problem

#: Proven optima of the six buildable designs of 1024³ on the U250 (exact model edition).
OPTIMA = {
    ("i",): 798829,
    ("j",): 819046,
    ("k",): 2102018,
    ("i", "j"): 639876,
    ("i", "k"): 671042,
    ("j", "k"): 671042,
}

OBJECTIVES = (
    "latency",
    "off_chip_words",
    "dsp",
    "bram18k",
    "energy",
    "edp",
    "2*latency + 100*dsp",
    "max(latency, 50*bram18k)",
    "comm*dsp",
)


def searched(problem, programs=1, value=None):
    search = GpSearch(problem, value)
    search.run(programs)
    return search


def seeds(search, count):
    return round_points(search.problem, search.points, count)


# -- the relaxation ------------------------------------------------------------------------


def lifted(model, configuration):
    """Logarithms of all columns at a configuration: what the relaxation makes of it."""
    point = np.zeros(len(model.names))
    for column, name in enumerate(model.names[: model.base]):
        if name in configuration:
            point[column] = np.log(float(configuration[name]))
    point[model.base :] = model.derivation @ point[: model.base]
    for curve in model.curves:
        value = float(curve.at(configuration[curve.curve.symbol]))
        point[curve.column] = np.log(value) if value else -700.0
    for column, pieces in model.epigraphs:
        terms = pieces.matrix @ point + pieces.offset
        point[column] = np.logaddexp.reduceat(terms, pieces.starts).max() if terms.size else -700.0
    return point


@given(mm_points(), st.sampled_from(OBJECTIVES), st.data())
def test_every_configuration_is_in_the_relaxation_at_no_higher_cost(drawn, objective, data):
    problem, configuration = drawn
    problem = replace(problem, objective=parse_objective(objective))
    value = problem.feasible_value(configuration)
    assume(value is not None)
    model = build_geometric_model(problem)
    point = lifted(model, configuration)
    assert np.exp(point[model.objective]) <= float(value) * (1 + 1e-9)
    # a random region around the configuration, its incumbent cutoff included
    ranges = (
        Propagator(model)
        .root()
        .restricted(model.names.index(SIMD), low=configuration[SIMD], high=configuration[SIMD])
    )
    for column in data.draw(st.lists(st.sampled_from(model.whole.tolist()), max_size=4)):
        here = round(float(np.exp(point[column])))
        ranges = ranges.restricted(
            column,
            low=data.draw(st.integers(max(1, here - 3), here)),
            high=data.draw(st.integers(here, here + 3)),
        )
    ranges = ranges.restricted(model.objective, high=float(value))
    sharpened = Propagator(model).sharpen(ranges)
    assert (point >= sharpened.low - 1e-8).all() or min(
        point[c.column] for c in model.curves
    ) == -700
    assert (point <= sharpened.high + 1e-8).all()
    region = region_program(model, sharpened)
    if region.program.blocks.sizes.size:
        here = point[region.columns]
        assert (region.program.evaluate(here).constraints <= 1e-8).all()
        # and no point with any multipliers claims more than what is attained there
        count = region.program.blocks.sizes.size
        multipliers = np.array(data.draw(st.lists(st.floats(0, 2), min_size=count, max_size=count)))
        middle = 0.5 * (region.program.low + region.program.high)
        assert certified_bound(region.program, middle, multipliers) <= point[model.objective] + 1e-8


@pytest.mark.parametrize(
    "objective", ["-comp", "comm - comp", "latency - 1", "throughput", "power", "min(dsp, bram18k)"]
)
def test_objectives_that_are_not_posynomial_are_refused(objective):
    with pytest.raises(NotPosynomialError, match="not posynomial"):
        GpSearch(mm_problem((16, 16, 16), objective=objective))


def test_limits_of_any_form_leave_a_relaxation():
    # a limit that has no posynomial form is left out, one whose other side is a product is kept
    limits = (Limit("latency - dsp", Fraction(2000)), Limit("bram18k - 2*comp", Fraction(0)))
    problem = mm_problem((16, 16, 16), dsp="400", bram18k="200", more_limits=limits)
    solution = solve_exact(problem)
    bound = searched(problem, 20)
    assert bound.lower_bound <= solution.value


def test_other_nests_with_halos_and_more_loops():
    nest = workload("conv2d", {"o": 16, "r": 14, "c": 14, "i": 8, "p": 3, "q": 3})
    template = mm_problem((4, 4, 4), dsp="500", bram18k="400")
    for dataflow in (("o",), ("r",), ("o", "r"), ("r", "i")):
        problem = template.with_design(nest=nest, array=derive(nest, dataflow, "cout"))
        bound = searched(problem, 12)
        (seed,) = seeds(bound, 1)
        value = problem.feasible_value(seed)
        assert bound.lower_bound <= value <= 2 * bound.lower_bound


# -- the compiled program ------------------------------------------------------------------


# -- certified bounds ----------------------------------------------------------------------


def check_bound(problem, programs):
    """The bound never exceeds the proven optimum, and infeasible is what really is."""
    solution, bound = solve_exact(problem), searched(problem, programs)
    if solution.certificate.status is Status.INFEASIBLE:
        return
    assert not (bound.complete and bound.value is None)
    assert bound.lower_bound <= solution.value
    # regions dropped for a known value hold nothing better than it
    known = solution.value * Fraction(3, 2)
    pruned = searched(problem, programs, known)
    assert pruned.lower_bound <= solution.value


def posynomial_problem(seed):
    """A problem as the exact engine's tests draw them, with an objective that is posynomial."""
    draw = random.Random(seed)
    return replace(random_problem(seed), objective=parse_objective(draw.choice(OBJECTIVES)))


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
@pytest.mark.parametrize("index", range(18))
def test_bounds_of_all_designs(index, edition):
    array = designs(workload("mm"), edition)[index]
    template = mm_problem((96, 80, 40), dsp="1000", bram18k="400")
    check_bound(template.with_design(array=array), 8)


@pytest.mark.parametrize("seed", range(24))
def test_bounds_of_random_problems(seed):
    check_bound(posynomial_problem(seed), (1, 12)[seed % 2])


@pytest.mark.parametrize("seed", range(24, 540))
def test_bounds_of_many_random_problems(seed):
    check_bound(posynomial_problem(seed), (1, 12, 40)[seed % 3])


def test_a_bound_does_not_trust_the_solver():
    compiled = program(mm_problem((1024, 1024, 1024)))
    optimum = solve_program(compiled)
    best = certified_bound(compiled, optimum.point, optimum.multipliers)
    assert best == pytest.approx(optimum.point[compiled.cost], abs=1e-6)
    generator = np.random.default_rng(0)
    for _ in range(200):
        y = generator.uniform(compiled.low, compiled.high)
        wrong = optimum.multipliers * generator.uniform(0, 2, optimum.multipliers.size)
        assert certified_bound(compiled, y, wrong) <= best + 1e-6
    assert (
        certified_bound(compiled, np.full_like(optimum.point, np.nan), optimum.multipliers)
        == -np.inf
    )


def test_only_infeasible_programs_are_proven_infeasible():
    feasible = program(mm_problem((1024, 1024, 1024))).elastic()
    optimum = solve_program(feasible)
    assert not proves_infeasible(feasible, optimum.point, optimum.multipliers)
    # no ranges are empty, but the time allowed takes more PEs than there are
    limits = (Limit("latency", Fraction(600000)),)
    problem = mm_problem((1024, 1024, 1024), more_limits=limits)
    model = build_geometric_model(problem)
    impossible = region_program(model, root(model, 8)).program.elastic()
    optimum = solve_program(impossible)
    assert proves_infeasible(impossible, optimum.point, optimum.multipliers)
    bound = searched(problem)
    assert (bound.complete, bound.value, bound.lower_bound) == (True, None, None)


# -- tightness and rounding ----------------------------------------------------------------


def gaps(programs):
    found = {}
    for dataflow, optimum in OPTIMA.items():
        bound = searched(mm_problem((1024, 1024, 1024), dataflow), programs).lower_bound
        assert bound <= optimum
        found[dataflow] = float(1 - bound / optimum)
    return found


def test_tightness_of_branching():
    found = gaps(20)
    assert median(found.values()) <= 0.02
    assert max(found.values()) <= 0.03


@pytest.mark.parametrize("dataflow", OPTIMA)
def test_rounded_optima_are_close_to_the_proven_ones(dataflow):
    problem = mm_problem((1024, 1024, 1024), dataflow)
    values = [problem.feasible_value(seed) for seed in seeds(searched(problem, 16), 3)]
    assert all(value is not None for value in values)
    assert values == sorted(values, key=lambda v: v or 0)
    assert values[0] is not None
    assert OPTIMA[dataflow] <= values[0] <= OPTIMA[dataflow] * 1.015


def test_a_configuration_found_by_branching_alone_is_the_incumbent():
    problem = mm_problem((256, 256, 256), ("i",), dsp="2000", bram18k="1000")
    search = searched(problem, 100)
    assert search.points == ()
    assert search.incumbent is not None
    assert problem.feasible_value(search.incumbent) == search.lower_bound == 50205


def test_the_bound_is_tight_where_intervals_are_slow():
    # transfers bind: an interval proof takes 56 million boxes
    problem = mm_problem((513, 2048, 96), ("k",), dsp="4788", bram18k="3024")
    bound = searched(problem)
    (seed,) = seeds(bound, 1)
    value = problem.feasible_value(seed)
    assert bound.lower_bound <= value <= bound.lower_bound * Fraction(10002, 10000)


# -- the engine ----------------------------------------------------------------------------


def test_a_solution_is_optimal_only_if_bound_and_value_meet():
    for seed in range(3):
        problem = posynomial_problem(seed)
        expected, solution = solve_exact(problem), solve_gp(problem, SolveOptions(time_limit=2))
        certificate = solution.certificate
        assert certificate.method == "gp"
        if certificate.status is Status.OPTIMAL:
            assert solution.value == certificate.lower_bound == expected.value
        elif certificate.status is Status.INFEASIBLE:
            assert expected.certificate.status is Status.INFEASIBLE
        elif certificate.status is Status.FEASIBLE:
            assert certificate.lower_bound <= expected.value <= (solution.value or 0)


def test_a_proof_by_geometric_programs_alone():
    solution = solve_gp(mm_problem((1024, 1024, 1024), ("j",)))
    assert (solution.certificate.status, solution.value) == (Status.OPTIMAL, Fraction(819046))


def test_stopping_at_once_claims_only_what_needs_no_search():
    options, problem = SolveOptions(stop=lambda: True), mm_problem((64, 64, 64))
    solution = solve_gp(problem, options)
    assert (
        solution.certificate.status,
        solution.certificate.lower_bound,
        solution.configuration,
    ) == (
        Status.UNKNOWN,
        problem.floor,
        None,
    )
    search = GpSearch(mm_problem((64, 64, 64)))
    search.run(1, lambda: True)
    assert (search.lower_bound, search.complete, search.points) == (None, False, ())


def test_a_start_is_used_and_a_gap_ends_early():
    problem = mm_problem((1024, 1024, 1024))
    good = systolic(problem).configuration(
        mm_tiling(systolic(problem).array, (205, 172, 64), (41, 4), 8, A=16, B=16, C_drain=4)
    )
    seen = []
    solution = solve_gp(problem, SolveOptions(gap=0.02), report=seen.append, start=good)
    assert solution.value == 639876
    assert solution.certificate.gap <= 0.02
    assert seen[-1].value == 639876
    greedy = systolic(problem).configuration(
        mm_tiling(systolic(problem).array, (1024, 1024, 64), (1, 8), 8, A=16, B=16, C_drain=8)
    )
    assert problem.feasible_value(greedy) is None
