"""Enumeration, the engine that shares nothing with the others but the cost model."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import inf

import numpy as np
import pytest

import ithaca
from ithaca.formulations.algebra.expression import (
    Symbol,
    add,
    ceiling_division,
    maximum,
    minimum,
    multiply,
    power,
)
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.enumeration.engine import solve_enumeration
from ithaca.solver.enumeration.search import Enumeration, Most
from ithaca.solver.enumeration.spans import Compiler, Reach
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from tests.problems import mm_problem
from tests.solver.known_optima import brute_force
from tests.solver.test_exact import best_of_1024, random_problem

ANY = SolveOptions(any_tie=True)

#: Numbers that doubles do not hold, and sizes at which they hold no whole numbers.
NUMBERS = [Fraction(1, 3), Fraction(-7, 10), Fraction(5), Fraction(2**60 + 1), Fraction(-1, 2)]


def check_against_brute_force(seed):
    problem = random_problem(seed)
    expected, answer = brute_force(problem), solve_enumeration(problem, ANY)
    if expected is None:
        assert answer.certificate.status is Status.INFEASIBLE
    else:
        assert answer.certificate.status is Status.OPTIMAL
        assert float(answer.value) == pytest.approx(float(expected), rel=1e-12)
        assert problem.feasible_value(answer.configuration) is not None


@pytest.mark.parametrize("seed", range(24))
def test_optimum_equals_brute_force(seed):
    check_against_brute_force(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 300))
def test_optimum_equals_brute_force_on_many_problems(seed):
    check_against_brute_force(seed)


def drawn(draw, depth):
    """A random expression of all signs, and whether it is positive by its looks."""
    if not depth:
        return Symbol(draw.choice("abp")), True
    (one, first), (other, second) = (drawn(draw, depth - 1) for _ in range(2))
    shapes = [
        (add(one, other), first and second),
        (add(one, multiply(draw.choice(NUMBERS), other)), False),
        (multiply(draw.choice(NUMBERS), one, other), False),
        (multiply(one, one, other), first and second),
        (maximum(one, other), first or second),
        (minimum(one, other), first and second),
    ]
    if second:
        shapes += [(ceiling_division(one, other), first), (multiply(one, power(other, -2)), first)]
    return draw.choice(shapes)


@pytest.mark.parametrize("seed", range(60))
def test_ends_hold_the_exact_values(seed):
    draw = random.Random(seed)
    most = draw.choice([9, 10**6, 2**40])
    node, _ = drawn(draw, draw.choice([2, 3, 4]))
    spans = {"a": (1, most), "b": (1, 7), "p": (1, 64)}
    points = [
        {"a": draw.randint(1, most), "b": draw.randint(1, 7), "p": 2 ** draw.randint(0, 6)}
        for _ in range(30)
    ]
    compiler = Compiler({n: Reach(low, high, 1, n == "p") for n, (low, high) in spans.items()})
    try:
        program = compiler.program((node, False), (node, True))
    except NotExpressibleError:
        pytest.skip("it divides by what the reach of its parts does not prove positive")
    # boxes that grow from single points to everything: all points of a box lie within its ends
    for share in (0, 0.5, 1):
        boxes = []
        for point in points:
            ends = {
                n: (v - int(share * (v - spans[n][0])), v + int(share * (spans[n][1] - v)))
                for n, v in point.items()
            }
            boxes.append([float(end) for n in spans for end in ends[n]])
        low, high = program.run(list(np.array(boxes).T))
        for place, point in enumerate(points):
            exact = node.evaluate({n: Fraction(v) for n, v in point.items()}, FRACTION)
            ends = [np.broadcast_to(end, len(points))[place] for end in (low, high)]
            assert ends[0] == -inf or Fraction(ends[0]) <= exact
            assert ends[1] == inf or exact <= Fraction(ends[1])


def test_of_whole_numbers_the_ends_of_points_are_exact():
    a, p = Symbol("a"), Symbol("p")
    node = add(multiply(3, a), multiply(a, power(p, -1)), ceiling_division(a, 7))
    program = Compiler({"a": Reach(1, 10**6, 1), "p": Reach(1, 64, 1, True)}).program(
        (node, False), (node, True)
    )
    low, high = program.run([np.array([999_983.0])] * 2 + [np.array([64.0])] * 2)
    exact = node.evaluate({"a": Fraction(999_983), "p": Fraction(64)}, FRACTION)
    assert low[0] == high[0] == exact


@pytest.mark.ci
def test_the_published_size_is_proven_and_what_is_better_found():
    problem = mm_problem((1024, 1024, 1024), edition="exact")
    best = best_of_1024(problem)
    assert solve_enumeration(problem, ANY, start=best).certificate.status is Status.OPTIMAL
    start = Configuration({**best, "t1.k": 32, "lanes.k": 4, "tiles.k": 32})
    assert problem.feasible_value(start) > problem.value(best)
    answer = solve_enumeration(problem, ANY, start=start)
    assert (answer.value, answer.certificate.status) == (problem.value(best), Status.OPTIMAL)


@pytest.mark.parametrize(
    ("most", "words"),
    [
        (Most(rows=100), "more than 100 rows"),
        (Most(boxes=100), "more than 100 boxes"),
        (Most(evaluated=1), "boxes"),
    ],
)
def test_what_is_more_than_can_be_enumerated_is_refused(most, words):
    search = Enumeration(mm_problem((64, 64, 64)), ANY, most=most)

    def run():
        search.prepare()
        search.run()

    with pytest.raises(NotExpressibleError, match=words):
        run()


def test_beside_a_rival_only_what_is_better_counts():
    problem = mm_problem((24, 16, 12))
    optimum = solve_exact(problem).value
    answer = solve_enumeration(problem, replace(ANY, rival=optimum))
    assert (answer.value, answer.certificate.lower_bound) == (None, optimum)
    assert answer.certificate.termination is Termination.BEATEN
    answer = solve_enumeration(problem, replace(ANY, rival=optimum + 1))
    assert (answer.value, answer.certificate.status) == (optimum, Status.OPTIMAL)


@pytest.mark.parametrize("looks", [0, 3, 30, 60])
def test_a_search_that_is_stopped_claims_a_bound_that_holds(looks):
    problem, stops = mm_problem((24, 16, 12)), []

    def stop():
        stops.append(0)
        return len(stops) > looks

    answer, optimum = (
        solve_enumeration(problem, replace(ANY, stop=stop)),
        solve_exact(problem).value,
    )
    bound = answer.certificate.lower_bound
    assert bound is None or bound <= optimum
    assert answer.value is None or answer.value >= optimum
    assert answer.certificate.status is not Status.INFEASIBLE


@pytest.mark.ci
def test_a_search_stopped_anywhere_goes_on_to_the_same_proof():
    """Configurations of a plateau are looked through in parts, and each may be the last."""
    problem = mm_problem((6, 5, 8), objective="1/dsp")
    optimum, looks = solve_exact(problem).value, count()

    def stop():
        return next(looks) >= most

    most = inf
    search = Enumeration(problem, replace(ANY, stop=stop))
    search.prepare()
    for looked in range(12):
        most, looks = looked, count()
        bound = search.run().lower_bound
        assert bound is None or bound <= optimum
    most = inf
    state = search.run()
    assert (state.value, state.lower_bound) == (optimum, optimum)


def test_limits_beyond_what_is_possible_are_proven_infeasible():
    problem = replace(mm_problem((16, 16, 16)), limits=(Limit("latency", Fraction(20)),))
    assert solve_enumeration(problem, ANY).certificate.status is Status.INFEASIBLE


@pytest.mark.ci
@pytest.mark.parametrize("seed", range(2))
def test_ends_of_families_hold_those_of_all_their_rows(seed):
    """Axes with ports and packs, too, whichever of their first quantities are fixed."""
    question = {"sizes": f"i=1,j={5 + 7 * seed},k=24", "platform": "u280", "dtype": "int8"}
    result = ithaca.solve("mm", **question, ports=4, dataflow=("i,j", "j,k")[seed % 2])
    for columns in Enumeration(result.best.problem, ANY)._columns:
        rows = columns.axis.table()
        values = columns.values(rows)
        names = [quantity.name for quantity in columns.axis.quantities]
        for first in range(1, len(names)):
            ends = columns.extended({name: rows[name] for name in names[:first]})
            assert (ends[::2] <= values[1::2]).all()
            assert (ends[1::2] >= values[::2]).all()
