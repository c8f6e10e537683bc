"""Nonlinear programs: local optima against other engines, brute force, and Ipopt's own checks."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.plugins.geometric.solver.nlp import STARTS, NlpSearch, solve_nlp, starting_points
from ithaca.plugins.geometric.solver.nonlinear import (
    NonlinearProgram,
    Tape,
    quantity_ranges,
    solve_pyomo,
)
from ithaca.plugins.geometric.solver.search import GpSearch
from ithaca.solver.certificate import Status
from ithaca.solver.engines import engine, proving
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from tests.lazy import pyo
from tests.problems import mm_problem
from tests.solver.known_optima import brute_force
from tests.solver.test_exact import random_problem
from tests.whole_spaces import lengths, some_row, tables_of

#: Proven optima of the published objectives at 1024³ on the U250 (odyssey model edition, dataflow
#: (i,j), permutation C).
PROVEN = {"-comp": -1720, "comm": 4194304, "comm - comp": 4193280, "latency": Fraction("637832.25")}

OBJECTIVES = (
    "-comp",
    "comm",
    "comm - comp",
    "latency",
    "-throughput",
    "2*latency - off_chip_words/3 + dsp",
    "latency*dsp - 100*comp",
)

#: One problem whose program has several local optima.
SEVERAL = mm_problem(
    (2, 16, 96),
    ("i",),
    "B",
    dsp="500",
    bram18k="200",
    objective="2*latency - off_chip_words/2 + bram18k",
)


def program(problem):
    ranges = quantity_ranges(problem)
    assert ranges is not None
    return NonlinearProgram(problem, ranges)


# -- the program ---------------------------------------------------------------------------


@pytest.mark.parametrize("objective", PROVEN)
def test_the_published_objectives(objective):
    problem = mm_problem((1024, 1024, 1024), edition="odyssey", objective=objective)
    search = NlpSearch(problem)
    search.run()
    assert PROVEN[objective] <= search.value <= PROVEN[objective] + abs(PROVEN[objective]) / 100
    # the relaxation allows no less
    assert search.best.value <= PROVEN[objective] * (1 if PROVEN[objective] > 0 else 1 - 1e-6)
    # only the third is not convex, and has one local optimum from wherever it starts
    assert search.convex == (objective != "comm - comp")
    assert search.starts == (1 if search.convex else STARTS)
    assert len(search.optima) == 1


@pytest.mark.parametrize("objective", ["latency", "comm", "energy", "comm*dsp"])
@pytest.mark.parametrize("dataflow", [("k",), ("i", "j"), ("j", "k")])
def test_convex_optima_agree_with_the_geometric_program(dataflow, objective):
    # without a limit on BRAM, where geometric programs know more about packs
    problem = mm_problem((1024, 1024, 1024), dataflow, bram18k="1e9", objective=objective)
    search = GpSearch(problem)
    search.run(1)
    bound = np.exp(search._open.least)
    here = program(problem)
    assert here.convex
    optimum = here.solve(next(starting_points(here.ranges, 0)))
    assert optimum.converged
    assert optimum.value == pytest.approx(bound, rel=2e-6)


@pytest.mark.parametrize(
    "problem", [SEVERAL, mm_problem((96, 80, 40), ("i", "k"), "A", objective="comm - comp")]
)
def test_ipopt_finds_no_fault_in_the_derivatives(problem, capfd):
    here = program(problem)
    assert not here.convex
    start = next(islice(starting_points(here.ranges, 1), 1, None))
    options = {
        "derivative_test": "second-order",
        "derivative_test_perturbation": 1e-6,
        "print_level": 5,
    }
    here.solve(start, **options, max_iter=0)
    assert "No errors detected by derivative checker" in capfd.readouterr().out


def test_ranges_hold_every_feasible_configuration():
    checked = 0
    draw = random.Random(0)
    for seed in range(18):
        problem = random_problem(seed)
        ranges = quantity_ranges(problem)
        for _ in range(60):
            configuration = random_configuration(problem, draw)
            if configuration is None or problem.feasible_value(configuration) is None:
                continue
            checked += 1
            for name, (low, high) in ranges.items():
                assert low * (1 - 1e-9) <= float(configuration[name]) <= high * (1 + 1e-9)
    assert checked > 20


def random_configuration(problem, draw):
    tables = tables_of(problem.space)
    return Configuration(some_row(tables, draw.randrange)) if all(lengths(tables)) else None


# -- multi-start and rounding --------------------------------------------------------------


def small_problem(seed):
    """A problem as the exact engine's tests draw them, with an objective of this file, and small
    enough for brute force at once."""
    draw = random.Random(seed)
    nest = workload("mm", {loop: draw.randint(1, 7) for loop in "ijk"})
    objective = parse_objective(OBJECTIVES[seed % len(OBJECTIVES)])
    return replace(random_problem(seed), objective=objective).with_design(nest=nest)


def check_against_brute_force(seed, starts):
    """Whether the optimum was found; that nothing better, or unfeasible, was claimed is
    asserted."""
    problem = small_problem(seed)
    search = NlpSearch(problem, starts=starts)
    search.run()
    expected = brute_force(problem)
    if search.infeasible or expected is None:
        assert expected is None
        assert search.value is None
        return True
    if search.value is None:
        return False
    assert search.incumbent is not None
    assert problem.feasible_value(search.incumbent) == search.value
    assert float(search.value) >= float(expected) - 1e-12 * abs(float(expected))
    return float(search.value) == pytest.approx(float(expected), rel=1e-12)


def test_small_problems_against_brute_force():
    reached = [check_against_brute_force(seed, starts=1) for seed in range(5)]
    # no proof, but most often the optimum
    assert sum(reached) >= 4


def test_many_small_problems_against_brute_force():
    reached = [check_against_brute_force(seed, starts=6) for seed in range(15, 330)]
    assert sum(reached) >= 299


def test_several_local_optima_are_found_and_the_best_is_reported():
    search = NlpSearch(SEVERAL, starts=4)
    search.run()
    values = [optimum.value for optimum in search.optima]
    assert len(values) >= 2
    assert search.best.value == min(values)
    # the middle is not where the best one is found
    assert values[0] > min(values) + 1
    exact = solve_exact(SEVERAL).value
    assert exact <= search.value


def test_the_same_seed_gives_the_same_search():
    problem = replace(SEVERAL, objective=parse_objective("latency - comm/2 + dsp"))
    runs = []
    for _ in range(2):
        search = NlpSearch(problem, seed=5, starts=2)
        search.run()
        runs.append((search.optima, search.incumbent, search.value, search.programs))
    assert runs[0] == runs[1]
    ranges = quantity_ranges(problem)
    assert ranges is not None
    first, second, again = (list(islice(starting_points(ranges, seed), 4)) for seed in (5, 6, 5))
    assert first == again
    assert first[0] == second[0]  # the middle
    assert all(a != b for a, b in zip(first[1:], second[1:], strict=True))


# -- the engine ----------------------------------------------------------------------------


def test_the_engine_claims_no_more_than_it_knows():
    problem = mm_problem((64, 64, 64), objective="comm - comp")
    reports = []
    solution = engine("nlp")(problem, SolveOptions(seed=1), reports.append)
    assert "nlp" not in proving()
    certificate = solution.certificate
    assert (certificate.status, certificate.lower_bound, certificate.gap) == (
        Status.FEASIBLE,
        None,
        None,
    )
    assert certificate.method == "nlp"
    assert solution.configuration is not None
    assert solution.value == problem.feasible_value(solution.configuration)
    assert len(reports) == STARTS
    assert reports[-1].value == solution.value
    assert certificate.nodes >= STARTS


def test_infeasible_where_ranges_are_empty():
    solution = solve_nlp(mm_problem((16, 16, 16), dsp="1"))
    assert (solution.certificate.status, solution.configuration) == (Status.INFEASIBLE, None)


def test_a_stop_or_no_time_ends_with_what_is_known():
    nothing = solve_nlp(SEVERAL, SolveOptions(time_limit=1e-9))
    assert (nothing.certificate.status, nothing.certificate.nodes) == (Status.UNKNOWN, 0)
    reports = []

    def stopped():  # as soon as anything is known
        return any(report.value is not None for report in reports)

    known = solve_nlp(SEVERAL, SolveOptions(stop=stopped), reports.append)
    first = next(report for report in reports if report.value is not None)
    assert known.certificate.status is Status.FEASIBLE
    assert known.configuration is not None
    assert known.value == SEVERAL.feasible_value(known.configuration) <= first.value
    assert len(reports) < STARTS  # it did not go on to the end


def test_a_known_configuration_is_never_made_worse():
    problem = mm_problem((64, 64, 64), objective="comm/4096 - comp")
    best = solve_exact(problem)
    assert best.configuration is not None
    solution = solve_nlp(problem, SolveOptions(), None, best.configuration)
    assert solution.value == best.value
    stopped = solve_nlp(problem, SolveOptions(time_limit=1e-9), None, best.configuration)
    assert (stopped.configuration, stopped.certificate.status) == (
        best.configuration,
        Status.FEASIBLE,
    )


def test_restrictions_of_the_space_are_kept():
    problem = mm_problem((24, 36, 20), objective="-comp", space=SpaceOptions(2, divisors_only=True))
    solution = solve_nlp(problem)
    assert all(
        systolic(problem).nest.sizes[x] % t1 == 0 for x, t1 in solution.tiling.array_part.items()
    )
    assert solution.value == solve_exact(problem).value


def test_limits_that_no_smooth_program_states_still_hold():
    limits = (Limit("comm - latency", Fraction(0)), Limit("min(dsp, latency)", Fraction(900)))
    problem = mm_problem((16, 16, 16), more_limits=limits)
    solution = solve_nlp(problem)
    exact = solve_exact(problem).value
    assert exact <= solution.value


@pytest.mark.parametrize(
    ("objective", "reason"),
    [
        ("-latency", "may fall as 'max"),
        ("comm - latency", "may fall as 'max"),
        ("comm - bram18k", "may fall as 'ceil"),
        ("min(dsp, comm)", "may grow with 'min"),
        ("latency/(comm - 3)", "may fall as 'max"),
    ],
)
def test_objectives_that_ipopt_cannot_take(objective, reason):
    with pytest.raises(InputError, match=reason) as caught:
        solve_nlp(mm_problem((16, 16, 16), objective=objective))
    message = str(caught.value)
    assert objective in message
    assert "allowed: " in message
    assert "\n" not in message
    assert len(message) < 400


# -- the bridge ----------------------------------------------------------------------------


def test_a_tape_computes_what_pyomo_does():
    here = program(SEVERAL)
    model = here.model
    bodies = [c.body for c in model.component_data_objects(pyo.Constraint)]
    variables = list(model.component_data_objects(pyo.Var))
    expressions = [*bodies, model.goal.expr, 3.5, variables[0], model.value]
    generator = np.random.default_rng(0)
    tape = Tape(expressions, variables)
    for _ in range(5):
        y = generator.uniform(0, 2, len(variables))
        for variable, value in zip(variables, y, strict=True):
            variable.set_value(float(value), skip_validation=True)
        assert tape.evaluate(y) == [pyo.value(e) for e in expressions]


def test_ipopt_survives_points_without_a_value():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(initialize=-1.0)
    model.goal = pyo.Objective(expr=model.x * pyo.log(model.x))
    assert not solve_pyomo(model).converged
    model.x.set_value(30.0)
    optimum = solve_pyomo(model)
    assert optimum.converged
    assert optimum.objective == pytest.approx(-np.exp(-1))


def test_the_cycle_edition_is_searched_by_the_exact_editions_program():
    problem = mm_problem((8, 6, 8), ("i",), edition="cycle")
    solution = solve_nlp(problem, SolveOptions(time_limit=10))
    best = solve_exact(problem)
    assert solution.configuration is not None
    assert solution.value == problem.value(solution.configuration)
    assert best.value <= solution.value <= best.value * Fraction(5, 4)
    assert solution.certificate.status is Status.FEASIBLE
