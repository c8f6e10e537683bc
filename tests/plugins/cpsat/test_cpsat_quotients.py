"""CP-SAT with objectives and limits that divide, against the exact engine and brute force."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from ortools.sat.python import cp_model

from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.plugins.cpsat.solver.arithmetic import LinearForm, constant_form
from ithaca.plugins.cpsat.solver.encoding import Encoder
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.cpsat.solver.ratio import RatioObjective, encode_ratio, minimize_ratio
from ithaca.solver.certificate import Status
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from tests.plugins.cpsat.test_cpsat import ASIC, check_against_others
from tests.problems import mm_problem
from tests.solver.known_optima import brute_force
from tests.solver.test_exact import random_problem

#: Of one denominator or several, constant above or not, of either sign, within sums and maxima.
OBJECTIVES = (
    "-throughput",
    "power",
    "latency/bram18k",
    "energy/latency",
    "comm/comp",
    "latency/dsp",
    "-comp/(latency + 7)",
    "(comm - comp)/latency",
    "(latency - 3*off_chip_words)/dsp",
    "max(latency, 900/bram18k)",
    "min(power, latency/comp)*dsp",
    "latency/comp + off_chip_words/latency",
    "1/comp + 1/bram18k - dsp/1000003",
    "ceil(latency/bram18k) + dsp/7",
    "latency/max(dsp, bram18k)",
)

LIMITS = (
    "power",
    "comm/comp",
    "latency/bram18k + dsp/9",
    "max(latency/comp, off_chip_words/dsp)",
    "-throughput",
)


def quotient_problem(seed):
    """A small random problem with a quotient for an objective; each objective in turn, on an FPGA
    or an ASIC."""
    draw, problem = random.Random(f"quotient {seed}"), random_problem(seed)
    technology = draw.choice(
        [load_platform("u250").technology, load_platform("u250").technology, ASIC]
    )
    problem = replace(
        problem, objective=parse_objective(OBJECTIVES[seed % len(OBJECTIVES)])
    ).with_design(technology=technology)
    if draw.random() < 0.3:
        problem = with_limit(problem, draw.choice(LIMITS), draw.choice([1, 1, Fraction(5, 4), 3]))
    return problem


def with_limit(problem, expression, looseness):
    """The problem with a limit that can be met with the others, just so or with some room."""
    limit = Limit(expression, Fraction(0))
    least = solve_exact(replace(problem, objective=parse_objective(expression))).value
    if least is None:
        return problem
    bound = least + abs(least) * (looseness - 1)
    return replace(problem, limits=(*problem.limits, replace(limit, bound=bound)))


def check_by_brute_force(problem):
    """All engines and brute force agree."""
    check_against_others(problem, exhaustively=False)
    # brute force compares floats: a limit met just so is loosened by less than any two values
    # differ
    limits = tuple(
        replace(limit, bound=limit.bound + abs(limit.bound) / 10**12) for limit in problem.limits
    )
    expected, found = brute_force(replace(problem, limits=limits)), solve_cpsat(problem).value
    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        assert float(found) == pytest.approx(float(expected), rel=1e-12)


#: Small ones of eleven objectives.
QUICK = (1, 5, 7, 8, 10, 11, 14, 15, 19, 24, 42)


@pytest.mark.parametrize("seed", QUICK)
def test_optimum_equals_the_other_engines(seed):
    if seed % 2:
        check_against_others(quotient_problem(seed), exhaustively=False)
    else:
        check_by_brute_force(quotient_problem(seed))


@pytest.mark.parametrize("seed", sorted({*range(105)} - {*QUICK}))
def test_optimum_equals_the_other_engines_on_many_problems(seed):
    check_by_brute_force(quotient_problem(seed))


@pytest.mark.parametrize(
    "objective", ["-throughput", "latency/bram18k", "comm/comp", "latency/dsp"]
)
def test_size_64_is_proven_from_nothing(objective):
    check_against_others(mm_problem((64, 64, 64), objective=objective), exhaustively=False)


def test_coefficients_beyond_64_bits_are_exact():
    objective = (
        "(1000000000000000003*latency + 999999999999999989*dsp)/(1000000000000000009*bram18k + 7)"
    )
    check_against_others(
        mm_problem((8, 6, 10), ("i", "k"), objective=objective, dsp="150", bram18k="60"),
        exhaustively=False,
    )


def test_what_denominators_take_beyond_64_bits_is_refused_in_one_line():
    problem = mm_problem(
        (64, 64, 64), objective="1/latency + 1/energy + latency*off_chip_words/energy"
    )
    with pytest.raises(
        NotExpressibleError, match=r"^CP-SAT: .* \(over a common denominator of 2 factors\)$"
    ):
        solve_cpsat(problem)


def test_denominators_that_make_too_many_terms_are_refused_in_one_line():
    problem = mm_problem(
        (8, 8, 8), objective="1/latency + 1/(latency + dsp) + 1/energy + 1/bram18k"
    )
    with pytest.raises(
        NotExpressibleError, match=r"^CP-SAT: over a common denominator, .* up to \d+ terms; .*$"
    ):
        solve_cpsat(problem)


def test_infeasible_limits_are_noticed():
    problem = mm_problem(
        (8, 8, 8), objective="power", more_limits=(Limit("comm/comp", Fraction(1, 1000)),)
    )
    certificate = solve_cpsat(problem).certificate
    assert (certificate.status, certificate.lower_bound) == (Status.INFEASIBLE, None)


# -- what is known beforehand, and ends of a search --------------------------------------------


@pytest.mark.parametrize("objective", ["power", "-throughput"])
def test_a_start_and_a_bound_are_used_and_never_lost(objective):
    problem = mm_problem((8, 6, 10), objective=objective)
    optimum = solve_exact(problem)
    unaided = solve_cpsat(problem).certificate.nodes
    solution = solve_cpsat(problem, start=optimum.configuration, lower_bound=optimum.value)
    assert (solution.value, solution.certificate.status) == (optimum.value, Status.OPTIMAL)
    assert solution.certificate.nodes < unaided
    # a bound far from any grid, whose digits exceed 64 bits together with the objective's
    near = optimum.value - abs(optimum.value) / 3**60
    solution = solve_cpsat(problem, start=optimum.configuration, lower_bound=near)
    assert (solution.value, solution.certificate.lower_bound) == (optimum.value, optimum.value)
    stopped = solve_cpsat(
        problem, SolveOptions(time_limit=0.0), start=optimum.configuration, lower_bound=near
    )
    assert (stopped.configuration, stopped.value) == (optimum.configuration, optimum.value)
    assert near <= stopped.certificate.lower_bound <= optimum.value


@pytest.mark.ci
def test_a_constant_over_a_metric_takes_no_longer_than_the_metric():
    alone = SolveOptions(any_tie=True)
    one, other = (
        solve_cpsat(mm_problem((12, 8, 16), objective=text), alone)
        for text in ("latency", "-throughput")
    )
    assert one.certificate.nodes == other.certificate.nodes
    assert one.configuration == other.configuration


@pytest.mark.parametrize("objective", ["power", "(comm - comp)/latency"])
def test_a_time_limit_leaves_a_valid_bound(objective):
    problem = mm_problem((48, 40, 32), objective=objective)
    optimum = solve_exact(problem)
    for time_limit, start in ((0.1, None), (0.6, None), (0.3, optimum.configuration)):
        seen = []
        solution = solve_cpsat(problem, SolveOptions(time_limit=time_limit), seen.append, start)
        bound = solution.certificate.lower_bound
        assert bound is None or bound <= optimum.value
        assert solution.value is None or solution.value >= optimum.value
        assert start is None or solution.value == optimum.value
        assert (solution.certificate.status is Status.OPTIMAL) == (
            solution.value is not None and solution.value == bound
        )
        bounds = [p.lower_bound for p in seen if p.lower_bound is not None]
        values = [p.value for p in seen if p.value is not None]
        assert bounds == sorted(bounds)
        assert values == sorted(values, reverse=True)
        assert not values or values[-1] == solution.value


# -- the bound of a quotient -------------------------------------------------------------------


def form(low, high):
    """A form between two bounds, on the grid of thirds from the lower one."""
    return constant_form(low) if low == high else LinearForm({0: Fraction(1, 3)}, low, low, high)


@pytest.mark.parametrize("seed", range(40))
def test_no_quotient_is_below_the_least(seed):
    draw = random.Random(seed)
    sides = []
    for least in (-6, 1):
        low = Fraction(draw.randint(3 * least, 20), 3)
        sides.append([low + Fraction(n, 3) for n in range(draw.choice([1, 1, 5, 25]))])
    overs, unders = sides
    objective = RatioObjective(form(overs[0], overs[-1]), form(unders[0], unders[-1]))
    values = [(a / b, a, b) for a, b in product(overs, unders)]
    assert objective.floor() == min(values)[0]
    for _ in range(20):
        ratio = draw.choice(
            [draw.choice(values)[0], Fraction(draw.randint(-30, 30), 7), Fraction(0)]
        )
        excess = Fraction(draw.randint(-40, 20), 6)
        meeting = [value for value, a, b in values if a - ratio * b >= excess]
        if not meeting:
            continue
        assert objective.least(ratio, excess) <= min(meeting)
        if len(overs) == 1 or len(unders) == 1:
            # one program is enough
            assert objective.least(ratio, excess) == min(meeting)
    for value, _, _ in values:
        # the last program: no excess over the value of a solution is negative
        assert objective.least(value, Fraction(0)) >= min(values)[0]
        assert objective.least(min(values)[0], Fraction(0)) == min(values)[0]


@pytest.mark.parametrize("constant", [0, 5 * 10**40, -5 * 10**40])
@pytest.mark.parametrize("large", [1, 10**18 + 9, 10**40 + 7])
def test_a_program_bounds_the_quotient_for_any_ratio(large, constant):
    x, y = Symbol("x"), Symbol("y")
    node = (x * y * large + constant + 3) / (x * (large + 12) + y * y)
    values = sorted(
        node.evaluate({"x": Fraction(a), "y": Fraction(b)}, FRACTION)
        for a, b in product(range(1, 10), range(2, 9))
    )
    for ratio in (
        values[0],
        values[1],
        values[-1],
        values[0] - 1,
        Fraction(0),
        (values[0] + values[1]) / 2,
    ):
        encoder = Encoder.over_domains(cp_model.CpModel(), {"x": range(1, 10), "y": range(2, 9)})
        objective = encode_ratio(encoder, node)
        encoder.finish()
        aim = objective.aim(encoder, ratio)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.absolute_gap_limit = 0.0
        assert solver.solve(encoder.model) == cp_model.OPTIMAL
        bound = aim.least(solver.response_proto.inner_objective_lower_bound)
        found = objective.value(encoder, solver.value)
        assert bound <= values[0] <= found
        assert found in values
        if ratio == values[0]:
            assert bound == ratio
        elif ratio in values:
            assert found < ratio
    outcome = minimize_ratio(encoder, objective)
    assert outcome.value == outcome.bound == values[0]
    assert node.evaluate(outcome.quantities, FRACTION) == values[0]
