"""Pyomo models solved by CP-SAT, against enumeration."""

import doctest
import random
from fractions import Fraction
from itertools import product

import pytest

import ithaca
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.cpsat.solver import from_pyomo
from ithaca.plugins.cpsat.solver.from_pyomo import _Reader, solve_pyomo
from ithaca.solver.engines import NotExpressibleError
from tests.lazy import pyo

X, Y, W = range(1, 13), range(-3, 4), (1, 2, 4, 8)


def small_model():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(domain=pyo.PositiveIntegers, bounds=(0.5, 12.7))
    model.y = pyo.Var(domain=pyo.Integers, bounds=(-3, 3))
    model.w = pyo.Var([0], domain=pyo.Set(initialize=W))
    model.scale = pyo.Param(initialize=0.1, mutable=True)
    model.area = pyo.Expression(expr=model.x * model.w[0])
    return model


def exact(x, y, w, which):
    """The expressions of `expressions`, in Fractions."""
    a, b, c = Fraction(x), Fraction(y), Fraction(w)
    return {
        "sum": a + 2 * b - c / 3 + 1,
        "products": a * b * c - b * b + a**3 / c**2,
        "quotient": (a * c + b) / (a + c),
        "rounding": Fraction(-(-5 * a // (c + 1))) + (b / 2 + a / 3).__floor__(),
        "maxima": max(a * b, c - 3, -b) - min(a, c * c) + abs(b - 1),
        "parameters": a * c / 10 + (a * c - b) ** 2,
        "negated": -(a * c) / (c + a * a) - b,
    }[which]


def expressions(m):
    from pyomo.core.expr.numeric_expr import MaxExpression, MinExpression

    x, y, w = m.x, m.y, m.w[0]
    return {
        "sum": x + 2 * y - w / 3 + 1,
        "products": x * y * w - y * y + x**3 * w**-2,
        "quotient": (x * w + y) / (x + w),
        "rounding": pyo.ceil(5 * x / (w + 1)) + pyo.floor(y / 2 + x / 3),
        "maxima": MaxExpression((x * y, w - 3, -y)) - MinExpression((x, w * w)) + abs(y - 1),
        "parameters": m.scale * m.area + (m.area - y) ** 2,
        "negated": -m.area / (w + x * x) - y,
    }


NAMES = ("sum", "products", "quotient", "rounding", "maxima", "parameters", "negated")


@pytest.mark.parametrize("name", NAMES)
def test_an_expression_means_what_it_meant(name):
    node = _Reader(None).expression(expressions(small_model())[name])
    for x, y, w in product(X, Y, W):
        values = {"x": Fraction(x), "y": Fraction(y), "w[0]": Fraction(w)}
        assert node.evaluate(values, FRACTION) == exact(x, y, w, name)


@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_is_that_of_enumeration(seed):
    draw, model = random.Random(seed), small_model()
    goal, limited = draw.choice(NAMES), draw.choice(NAMES)
    values = sorted(exact(x, y, w, limited) for x, y, w in product(X, Y, W))
    low, high = sorted(draw.choices([*values, values[0] - 1, values[-1] + 1], k=2))
    sense = draw.choice([1, -1])
    sides = draw.choice([(low, high), (None, high), (low, None), (low, low)])
    # Pyomo holds floats: the bound read back from one decides
    bounds = [None if side is None else float(side) for side in sides]
    model.limit = pyo.Constraint(expr=(bounds[0], expressions(model)[limited], bounds[1]))
    model.goal = pyo.Objective(
        expr=expressions(model)[goal], sense=pyo.minimize if sense > 0 else pyo.maximize
    )
    least, most = (None if side is None else Fraction(side) for side in sides)
    feasible = [
        sense * exact(*point, goal)
        for point in product(X, Y, W)
        if (least is None or exact(*point, limited) >= least)
        and (most is None or exact(*point, limited) <= most)
    ]
    answer = solve_pyomo(model)
    assert answer.infeasible == (not feasible)
    if feasible:
        assert answer.value == answer.bound == sense * min(feasible)
        assert exact(model.x.value, model.y.value, model.w[0].value, goal) == answer.value


def test_a_fixed_variable_is_a_number():
    model = small_model()
    model.x.fix(5)
    model.goal = pyo.Objective(expr=model.x * model.w[0] + model.y)
    assert solve_pyomo(model).value == 2
    assert _Reader(None).expression(model.x * model.y) == Symbol("y") * 5


def test_an_infeasible_model_is_said_to_be():
    model = small_model()
    model.limit = pyo.Constraint(expr=model.area >= 1000)
    model.goal = pyo.Objective(expr=model.x)
    answer = solve_pyomo(model)
    assert (answer.value, answer.bound, answer.infeasible) == (None, None, True)


def test_a_time_limit_leaves_a_bound():
    model = small_model()
    model.goal = pyo.Objective(expr=expressions(model)["quotient"])
    answer = solve_pyomo(model, seconds=0.0)
    assert not answer.infeasible
    assert answer.bound <= min(exact(x, y, w, "quotient") for x, y, w in product(X, Y, W))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: m.add_component("z", pyo.Var(bounds=(0, 1))),
            "variable z .* allowed: integers between finite bounds",
        ),
        (
            lambda m: m.add_component("z", pyo.Var(domain=pyo.Integers)),
            "variable z .* from None to None",
        ),
        (
            lambda m: m.add_component("g", pyo.Objective(expr=m.y)),
            "has 2 active objectives; allowed: one",
        ),
        (
            lambda m: m.add_component("c", pyo.Constraint(expr=pyo.exp(m.x) <= 9)),
            r"cannot express 'exp\(x\)'",
        ),
        (
            lambda m: m.add_component("c", pyo.Constraint(expr=m.x**m.y <= 9)),
            r"cannot express 'x\*\*y'",
        ),
        (
            lambda m: m.add_component("c", pyo.Constraint(expr=m.x / (m.y + m.w[0]) <= 9)),
            "not proven positive",
        ),
    ],
)
def test_what_cannot_be_stated_is_refused_in_one_line(change, message):
    model = small_model()
    model.goal = pyo.Objective(expr=model.x)
    change(model)
    with pytest.raises(NotExpressibleError, match=f"^CP-SAT: .*{message}.*$"):
        solve_pyomo(model)


def test_the_example_of_the_documentation():
    outcome = doctest.testmod(from_pyomo, extraglobs={"ithaca": ithaca})
    assert outcome.attempted
    assert not outcome.failed
