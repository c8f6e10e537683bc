"""Limits on quotients that nothing meets, refuted by terms: against enumeration."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.formulations.algebra.expression import (
    Constant,
    Symbol,
    ceiling_division,
    maximum,
    minimum,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.quotients import quotient_floor
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.unreachable import least_quotient
from ithaca.solver.certificate import Status
from ithaca.solver.portfolio import solve_design
from tests.problems import mm_problem
from tests.solver.enumeration import enumerated_optimum

NAMES = "abc"


def drawn(draw, depth):
    """An expression over positive symbols, with parts that may be negative."""
    if depth == 0:
        return draw.choice(
            [*map(Symbol, NAMES), *map(Symbol, NAMES), Constant(Fraction(draw.randint(1, 5)))]
        )
    left, right = drawn(draw, depth - 1), drawn(draw, depth - 1)
    match draw.randrange(9):
        case 0:
            return left + right
        case 1:
            return left * right
        case 2:
            return left - Constant(Fraction(draw.randint(1, 3)))
        case 3:
            return maximum(left, right - 2)
        case 4:
            return minimum(left, right)
        case 5:
            return ceiling_division(left, draw.choice([*map(Symbol, NAMES), right + left * left]))
        case 6:
            return left * left
        case 7:  # a sum that is negative where what it is taken from is not
            return right - (Constant(Fraction(draw.randint(1, 2))) - left)
        case _:
            return left / draw.choice([*map(Symbol, NAMES), maximum(Symbol("a"), Symbol("b"))])


def values_of(expression, points):
    for point in points:
        try:
            yield expression.evaluate(point, FRACTION)
        except ZeroDivisionError:
            yield None


def quotients(seed):
    """Drawn quotients whose bottoms are positive everywhere, with all their values."""
    draw = random.Random(seed)
    tops = [draw.randint(1, 4) for _ in NAMES]
    ranges = {n: Interval(Fraction(1), Fraction(top)) for n, top in zip(NAMES, tops, strict=True)}
    points = [
        {"a": Fraction(a), "b": Fraction(b), "c": Fraction(c)}
        for a in range(1, tops[0] + 1)
        for b in range(1, tops[1] + 1)
        for c in range(1, tops[2] + 1)
    ]
    for _ in range(40):
        top, bottom = drawn(draw, draw.randint(1, 3)), drawn(draw, draw.randint(1, 3))
        below = list(values_of(bottom, points))
        if None in below or min(below) <= 0:
            continue
        quotient = top / bottom
        known = list(values_of(quotient, points))
        if None not in known:
            yield quotient, ranges, known


@pytest.mark.parametrize("seed", range(5))
def test_no_value_of_a_drawn_quotient_is_below_its_floor(seed):
    for quotient, ranges, known in quotients(seed):
        floor = quotient_floor(quotient, ranges)
        assert floor is None or floor <= min(known), str(quotient)


def test_signs_of_divisors_and_of_powers_are_not_assumed():
    a, b, c = map(Symbol, NAMES)
    ranges = {
        name: Interval(Fraction(1), Fraction(high))
        for name, high in zip(NAMES, (2, 9, 9), strict=True)
    }
    for quotient, least in (
        # a divisor of the bottom is 0 less what is negative or 0
        (b / (1 + c * c / (1 - (1 - c))), Fraction(1, 10)),
        # the square of what is negative everywhere
        (b / (minimum(a, -2) * minimum(a, -2) - (minimum(a, 1) - a)), Fraction(1, 5)),
    ):
        floor = quotient_floor(quotient, ranges)
        assert floor is None or floor <= least


def test_equal_factors_of_top_and_bottom_cancel():
    a, b = Symbol("a"), Symbol("b")
    ranges = {name: Interval(Fraction(1), Fraction(1000)) for name in "ab"}
    assert quotient_floor(4 * a * b / maximum(2 * a * b, a), ranges) == 2
    # what is shared by both tops: at most 1 and 1 / 2 of them
    assert quotient_floor(6 * a * (b + 1) / (a * (b + 1) + a), ranges) == Fraction(2002, 667)


@pytest.mark.parametrize("metric", ["power", "bandwidth", "latency/dsp"])
@pytest.mark.parametrize("seed", range(2))
def test_no_configuration_is_below_a_quotients_floor(metric, seed):
    edition = ["exact", "cycle"][seed]
    dataflow = [("i", "k"), ("i", "j")][seed]
    problem = mm_problem((2, 2, 3), dataflow, edition=edition)
    problem = replace(problem, limits=(), objective=parse_objective(metric))
    floor, smallest = (
        least_quotient(problem.symbolic().objective, problem.design),
        enumerated_optimum(problem),
    )
    assert floor is not None
    assert 0 < floor <= smallest
    assert not replace(problem, limits=(Limit(metric, smallest),)).hopeless


def test_limits_on_quotients_that_nothing_meets_are_refuted_without_a_search():
    problem = mm_problem((1024, 1024, 1024), edition="cycle")
    limit = Limit("power", Fraction(1, 10**4))
    solution = solve_design(replace(problem, limits=(*problem.limits, limit)))
    assert solution.certificate.status is Status.INFEASIBLE
    assert solution.certificate.nodes == 0
    faults = solution.shortfalls
    assert {fault.metric for fault in faults} == {"power"}
    assert max(fault.smallest or 0 for fault in faults) > limit.bound
