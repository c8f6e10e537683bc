"""Convexity in logarithms, where it is claimed, along random lines."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.pyomo_model import is_convex_goal, is_convex_limit
from tests.problems import MM_DATAFLOWS, mm_problem

#: Ceilings relaxed, as in the Pyomo model.
RELAXED = NumberSystem(
    "relaxed", float, lambda a, b: max(1.0, a / b), lambda *v: max(v), lambda *v: min(v)
)

CONVEX = (
    "latency",
    "comm",
    "bram18k",
    "-comp",
    "-throughput",
    "comm/comp",
    "max(latency, dsp)*comp",
    "-1/latency",
    "edp",
)
NOT_CONVEX = (
    "comm - comp",
    "latency - 1",
    "-comm",
    "comp/comm",
    "latency/(dsp + comm)",
    "-comp - 1",
)


def at(expression, point):
    """Relaxed value, t1 being what it is."""
    values = dict(point)
    for name in point:
        if name.startswith("lanes."):
            loop = name.removeprefix("lanes.")
            values[f"t1.{loop}"] = point[name] * point[f"t2.{loop}"]
    return float(expression.evaluate(values, RELAXED))


def triples(names, most=6.0):
    """Random points, others, and what is half way between them (of logarithms); outside of lanes
    no logarithm is above ``most``."""
    generator = np.random.default_rng(0)
    high = [6.0 if name.startswith("lanes.") else most for name in names]
    found = []
    for _ in range(60):
        here, there = generator.uniform(0, high, (2, len(names)))
        points = (here, there, (here + there) / 2)
        first, second, middle = ({n: exp(v) for n, v in zip(names, p, strict=True)} for p in points)
        found.append((first, second, middle))
    return found


def quantity_names(objective, dataflow):
    problem = mm_problem((64, 48, 32), dataflow, objective=objective)
    return problem.symbolic().objective, [
        name for name in problem.space.quantities if not name.startswith("t1.")
    ]


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
@pytest.mark.parametrize("objective", CONVEX)
def test_goals_called_convex_lie_below_their_chords(objective, dataflow):
    expression, names = quantity_names(objective, dataflow)
    assert is_convex_goal(expression)
    for first, second, middle in triples(names):
        a, b, c = (at(expression, p) for p in (first, second, middle))
        goals = [log(v) if v > 0 else -log(-v) for v in (a, b, c)]
        assert goals[2] <= (goals[0] + goals[1]) / 2 + 1e-9


@pytest.mark.parametrize("objective", NOT_CONVEX)
def test_other_goals_are_not_called_convex(objective):
    expression, _ = quantity_names(objective, ("i", "j"))
    assert not is_convex_goal(expression)


@pytest.mark.parametrize(
    ("text", "bound", "most"),
    [
        ("latency", 10**10, 6.0),
        ("bram18k - 20*comp", 0, 6.0),
        ("latency - dsp", 0, 0.4),
        ("1000 - comp", 0, 6.0),
        ("max(latency, 3*comm)", 10**11, 6.0),
    ],
)
def test_limits_called_convex_hold_between_points_where_they_hold(text, bound, most):
    expression, names = quantity_names(text, ("i", "j"))
    assert is_convex_limit(expression, Fraction(bound))
    held = 0
    for first, second, middle in triples(names, most):
        worst = max(at(expression, first), at(expression, second))
        if worst <= bound:
            held += 1
            assert at(expression, middle) <= bound * (1 + 1e-9) + 1e-6
    assert 5 < held < 60  # it divides the points


@pytest.mark.parametrize(("text", "bound"), [("latency - dsp", 5), ("8*comp - comm", -3)])
def test_other_limits_are_not_called_convex(text, bound):
    expression, _ = quantity_names(text, ("i", "j"))
    assert not is_convex_limit(expression, Fraction(bound))


def test_the_accumulator_condition_is_convex():
    # a difference of products, each a monomial
    assert is_convex_limit(
        parse_expression("8*s - a*b", where="test", allowed=("s", "a", "b")), Fraction(0)
    )
