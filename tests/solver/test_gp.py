"""Geometric programs: relaxations hold, bounds are proven, optima round to good configurations."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ithaca.formulations.algebra.posynomial import NotPosynomialError
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.objectives import parse_objective
from ithaca.formulations.systolic.pyomo_model import design_model
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.gp.duality import certified_bound, proves_infeasible
from ithaca.solver.gp.engine import gp_bound, gp_seeds, solve_gp
from ithaca.solver.gp.ipopt import Callbacks, solve_program
from ithaca.solver.gp.model import GeometricModel, build_geometric_model
from ithaca.solver.gp.program import GeometricProgram
from ithaca.solver.gp.pyomo_bridge import program_model, solve_pyomo
from ithaca.solver.gp.ranges import Propagator, Ranges
from ithaca.solver.gp.regions import region_program
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from tests.problems import MM_DATAFLOWS, mm_points, mm_problem, mm_tiling
from tests.solver.test_exact import random_problem

#: Proven optima of the six buildable designs of 1024³ on the U250 (exact edition).
OPTIMA = {("i",): 798829, ("j",): 819046, ("k",): 2102018, ("i", "j"): 639876, ("i", "k"): 671042, ("j", "k"): 671042}

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


def root(model: GeometricModel, simd: int) -> Ranges:
    ranges = Propagator(model).sharpen(Propagator(model).root().restricted(model.simd, low=simd, high=simd))
    assert ranges is not None
    return ranges


def program(problem: Problem, simd: int = 8) -> GeometricProgram:
    model = build_geometric_model(problem)
    return region_program(model, root(model, simd)).program


# -- the relaxation ------------------------------------------------------------------------


def lifted(model: GeometricModel, tiling: Tiling) -> np.ndarray:
    """Logarithms of all base columns at a configuration: what the relaxation makes of it."""
    values = tiling.quantities(model.problem.array, model.problem.nest.sizes)
    point = np.zeros(len(model.names))
    for loop in model.loops:
        for column in (loop.tiles, loop.lanes, loop.t2):
            point[column] = np.log(float(values[model.names[column]]))
    for pack in model.packs:
        point[pack.column] = np.log(float(values[model.names[pack.column]]))
    point[model.base :] = model.derivation @ point[: model.base]
    for curve in model.curves:
        value = float(curve.at(int(values[curve.curve.symbol])))
        point[curve.column] = np.log(value) if value else -700.0
    for column, pieces in model.epigraphs:
        terms = pieces.matrix @ point + pieces.offset
        point[column] = np.logaddexp.reduceat(terms, pieces.starts).max() if terms.size else -700.0
    return point


@given(mm_points(), st.sampled_from(OBJECTIVES), st.data())
def test_every_configuration_is_in_the_relaxation_at_no_higher_cost(
    drawn: tuple[Problem, Tiling], objective: str, data: st.DataObject
) -> None:
    problem, tiling = drawn
    problem = replace(problem, objective=parse_objective(objective))
    value = feasible_value(problem, tiling)
    assume(value is not None)
    assert value is not None
    model = build_geometric_model(problem)
    point = lifted(model, tiling)
    assert np.exp(point[model.objective]) <= float(value) * (1 + 1e-9)
    # a random region around the configuration, its incumbent cutoff included
    ranges = Propagator(model).root().restricted(model.simd, low=tiling.simd, high=tiling.simd)
    for loop in model.loops:
        column = data.draw(st.sampled_from(loop.columns))
        here = round(float(np.exp(point[column])))
        ranges = ranges.restricted(
            column, low=data.draw(st.integers(max(1, here - 3), here)), high=data.draw(st.integers(here, here + 3))
        )
    ranges = ranges.restricted(model.objective, high=float(value))
    sharpened = Propagator(model).sharpen(ranges)
    assert sharpened is not None
    assert (point >= sharpened.low - 1e-8).all() or min(point[c.column] for c in model.curves) == -700
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


@pytest.mark.parametrize("objective", ["-comp", "comm - comp", "latency - 1", "throughput", "power", "min(dsp, bram18k)"])
def test_objectives_that_are_not_posynomial_are_refused(objective: str) -> None:
    with pytest.raises(NotPosynomialError, match="not posynomial"):
        gp_bound(mm_problem((16, 16, 16), objective=objective))


def test_limits_of_any_form_leave_a_relaxation() -> None:
    # a limit that has no posynomial form is left out, one whose other side is a product is kept
    limits = (Limit("latency - dsp", Fraction(2000)), Limit("bram18k - 2*comp", Fraction(0)))
    problem = mm_problem((16, 16, 16), dsp="400", bram18k="200", more_limits=limits)
    solution = solve_exact(problem)
    bound = gp_bound(problem, max_programs=20)
    assert solution.value is not None
    assert bound.lower_bound is not None
    assert bound.lower_bound <= solution.value


def test_other_nests_with_halos_and_more_loops() -> None:
    nest = workload("conv2d", {"o": 16, "r": 14, "c": 14, "i": 8, "p": 3, "q": 3})
    template = mm_problem((4, 4, 4), dsp="500", bram18k="400")
    for dataflow in (("o",), ("r",), ("o", "r"), ("r", "i")):
        problem = replace(template, nest=nest, array=derive(nest, dataflow, "cout"))
        bound = gp_bound(problem, max_programs=12)
        assert bound.lower_bound is not None
        seeds = gp_seeds(problem, bound, 1)
        assert seeds
        value = feasible_value(problem, seeds[0])
        assert value is not None
        assert bound.lower_bound <= value <= 2 * bound.lower_bound


# -- the compiled program ------------------------------------------------------------------


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_derivatives_agree_with_differences(dataflow: tuple[str, ...]) -> None:
    compiled = program(mm_problem((96, 80, 40), dataflow, "A"))
    generator = np.random.default_rng(0)
    y = generator.uniform(compiled.low, compiled.high)
    multipliers = generator.uniform(0, 1, compiled.blocks.sizes.size)
    here = compiled.evaluate(y)
    hessian = compiled.hessian(here, multipliers)
    step = 1e-6
    for variable in range(y.size):
        move = np.zeros_like(y)
        move[variable] = step
        above, below = compiled.evaluate(y + move), compiled.evaluate(y - move)
        assert here.jacobian[:, variable] == pytest.approx((above.constraints - below.constraints) / (2 * step), abs=1e-6)
        slope = multipliers @ (above.jacobian - below.jacobian) / (2 * step)
        assert hessian[variable] == pytest.approx(slope, abs=1e-6)


def test_ipopt_finds_no_fault_in_the_derivatives(capfd: pytest.CaptureFixture[str]) -> None:
    # the checker compares sparse structures and values, first and second derivatives, with differences
    options = {"derivative_test": "second-order", "derivative_test_perturbation": 1e-6, "print_level": 5, "max_iter": 1}
    solve_program(program(mm_problem((96, 80, 40))), options=options)
    assert "No errors detected by derivative checker" in capfd.readouterr().out


def test_the_hessian_has_the_structure_it_declares() -> None:
    compiled = program(mm_problem((96, 80, 40), ("i", "k")))
    callbacks = Callbacks(compiled)
    y = 0.5 * (compiled.low + compiled.high)
    dense = compiled.hessian(compiled.evaluate(y), np.ones(compiled.blocks.sizes.size))
    rows, columns = callbacks.hessianstructure()
    dense[rows, columns] = dense[columns, rows] = 0
    assert not dense.any()


@pytest.mark.parametrize("dataflow", [("i", "j"), ("k",)])
def test_the_compiled_form_agrees_with_pyomo(dataflow: tuple[str, ...]) -> None:
    problem = mm_problem((1024, 1024, 1024), dataflow)
    model = build_geometric_model(problem)
    ranges = root(model, 8)
    compiled = region_program(model, ranges).program
    fast = solve_program(compiled)
    generic = solve_pyomo(program_model(compiled))
    assert fast.converged
    assert generic.converged
    assert generic.objective == pytest.approx(fast.point[compiled.cost], abs=1e-6)
    # the same straight from the cost model, where only the ceiling of packs is looser
    symbols = [c for loop in model.loops for c in (loop.tiles, loop.lanes, loop.t2)] + [p.column for p in model.packs]
    limits = {model.names[c]: (float(np.exp(ranges.low[c])), float(np.exp(ranges.high[c]))) for c in symbols}
    direct = solve_pyomo(design_model(problem, limits))
    assert direct.converged
    assert generic.objective - 0.12 <= direct.objective <= generic.objective + 1e-6


# -- certified bounds ----------------------------------------------------------------------


def check_bound(problem: Problem, programs: int) -> None:
    """The bound never exceeds the proven optimum, and infeasible is what really is."""
    solution, bound = solve_exact(problem), gp_bound(problem, max_programs=programs)
    if solution.certificate.status is Status.INFEASIBLE:
        return
    assert solution.value is not None
    assert not bound.infeasible_certified
    assert bound.lower_bound is not None
    assert bound.lower_bound <= solution.value
    # regions dropped for a known value hold nothing better than it
    known = solution.value * Fraction(3, 2)
    pruned = gp_bound(problem, max_programs=programs, value=known)
    assert pruned.lower_bound is not None
    assert pruned.lower_bound <= solution.value


def posynomial_problem(seed: int) -> Problem:
    """As the exact engine's tests draw them, with an objective that is posynomial."""
    draw = random.Random(seed)
    return replace(random_problem(seed), objective=parse_objective(draw.choice(OBJECTIVES)))


@pytest.mark.parametrize("edition", list(Edition))
@pytest.mark.parametrize("index", range(18))
def test_bounds_of_all_designs(index: int, edition: Edition) -> None:
    array = designs(workload("mm"), edition)[index]
    template = mm_problem((96, 80, 40), dsp="1000", bram18k="400")
    check_bound(replace(template, array=array), 8)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_of_random_problems(seed: int) -> None:
    check_bound(posynomial_problem(seed), (1, 12)[seed % 2])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 540))
def test_bounds_of_many_random_problems(seed: int) -> None:
    check_bound(posynomial_problem(seed), (1, 12, 40)[seed % 3])


def test_a_bound_does_not_trust_the_solver() -> None:
    compiled = program(mm_problem((1024, 1024, 1024)))
    optimum = solve_program(compiled)
    best = certified_bound(compiled, optimum.point, optimum.multipliers)
    assert best == pytest.approx(optimum.point[compiled.cost], abs=1e-6)
    generator = np.random.default_rng(0)
    for _ in range(200):
        y = generator.uniform(compiled.low, compiled.high)
        wrong = optimum.multipliers * generator.uniform(0, 2, optimum.multipliers.size)
        assert certified_bound(compiled, y, wrong) <= best + 1e-6
    assert certified_bound(compiled, np.full_like(optimum.point, np.nan), optimum.multipliers) == -np.inf


def test_only_infeasible_programs_are_proven_infeasible() -> None:
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
    bound = gp_bound(problem)
    assert (bound.infeasible_certified, bound.lower_bound) == (True, None)


# -- tightness and rounding ----------------------------------------------------------------


def gaps(programs: int) -> dict[tuple[str, ...], float]:
    found = {}
    for dataflow, optimum in OPTIMA.items():
        bound = gp_bound(mm_problem((1024, 1024, 1024), dataflow), max_programs=programs).lower_bound
        assert bound is not None
        assert bound <= optimum
        found[dataflow] = float(1 - bound / optimum)
    return found


def test_tightness_of_one_program_per_simd_factor() -> None:
    found = gaps(1)
    assert median(found.values()) <= 0.10
    assert found["i", "j"] <= 0.02


def test_tightness_of_branching() -> None:
    found = gaps(20)
    assert median(found.values()) <= 0.02
    assert max(found.values()) <= 0.03


@pytest.mark.parametrize("dataflow", OPTIMA)
def test_rounded_optima_are_close_to_the_proven_ones(dataflow: tuple[str, ...]) -> None:
    problem = mm_problem((1024, 1024, 1024), dataflow)
    seeds = gp_seeds(problem, gp_bound(problem, max_programs=16), 3)
    values = [feasible_value(problem, tiling) for tiling in seeds]
    assert all(value is not None for value in values)
    assert values == sorted(values, key=lambda v: v or 0)
    assert values[0] is not None
    assert OPTIMA[dataflow] <= values[0] <= OPTIMA[dataflow] * 1.015


def test_a_configuration_found_by_branching_alone_is_a_seed() -> None:
    problem = mm_problem((256, 256, 256), ("i",), dsp="2000", bram18k="1000")
    bound = gp_bound(problem, max_programs=100)
    assert bound.points == ()
    (seed,) = gp_seeds(problem, bound, 3)
    assert feasible_value(problem, seed) == bound.lower_bound == 50205


def test_the_bound_is_tight_where_intervals_are_slow() -> None:
    # transfers bind: an interval proof takes 56 million boxes
    problem = mm_problem((513, 2048, 96), ("k",), dsp="4788", bram18k="3024")
    bound = gp_bound(problem)
    (seed,) = gp_seeds(problem, bound, 1)
    value = feasible_value(problem, seed)
    assert value is not None
    assert bound.lower_bound is not None
    assert bound.lower_bound <= value <= bound.lower_bound * Fraction(10002, 10000)


# -- the engine ----------------------------------------------------------------------------


def test_a_solution_is_optimal_only_if_bound_and_value_meet() -> None:
    for seed in range(8):
        problem = posynomial_problem(seed)
        expected, solution = solve_exact(problem), solve_gp(problem, SolveOptions(time_limit=2))
        certificate = solution.certificate
        assert certificate.method == "gp"
        if certificate.status is Status.OPTIMAL:
            assert solution.value == certificate.lower_bound == expected.value
        elif certificate.status is Status.INFEASIBLE:
            assert expected.certificate.status is Status.INFEASIBLE
        elif certificate.status is Status.FEASIBLE:
            assert expected.value is not None
            assert certificate.lower_bound is not None
            assert certificate.lower_bound <= expected.value <= (solution.value or 0)


def test_a_proof_by_geometric_programs_alone() -> None:
    solution = solve_gp(mm_problem((1024, 1024, 1024), ("j",)))
    assert (solution.certificate.status, solution.value) == (Status.OPTIMAL, Fraction(819046))


def test_stopping_at_once_claims_nothing() -> None:
    options = SolveOptions(stop=lambda: True)
    solution = solve_gp(mm_problem((64, 64, 64)), options)
    assert (solution.certificate.status, solution.certificate.lower_bound, solution.tiling) == (Status.UNKNOWN, None, None)
    bound = gp_bound(mm_problem((64, 64, 64)), options=options)
    assert (bound.lower_bound, bound.infeasible_certified, bound.point) == (None, False, None)


def test_a_start_is_used_and_a_gap_ends_early() -> None:
    problem = mm_problem((1024, 1024, 1024))
    good = mm_tiling(problem.array, (205, 172, 64), (41, 4), 8, A=16, B=16, C_drain=4)
    seen = []
    solution = solve_gp(problem, SolveOptions(gap=0.02), report=seen.append, start=good)
    assert solution.value == 639876
    assert solution.certificate.gap is not None
    assert solution.certificate.gap <= 0.02
    assert seen[-1].value == 639876
    greedy = mm_tiling(problem.array, (1024, 1024, 64), (1, 8), 8, A=16, B=16, C_drain=8)
    assert feasible_value(problem, greedy) is None


def test_answers_do_not_depend_on_repetition() -> None:
    problem = mm_problem((96, 80, 40), ("i", "k"))
    first, second = (gp_bound(problem, max_programs=20) for _ in range(2))
    assert (first.lower_bound, first.programs, first.points) == (second.lower_bound, second.programs, second.points)
