"""Directions of expressions, against values."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import misplaced, trends
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.parsing import parse_expression

NAMES = ("x", "y", "z")
RANGES = {name: Interval(1.0, 9.0) for name in NAMES}

EXPRESSIONS = (
    "x + y*z",
    "x - y*z",
    "-x*y/z",
    "(x - y)*(x - y)*z",
    "(x - 10)*y",
    "(x - 1)*max(y, z)",
    "max(x, 4)/min(y, z)",
    "ceil(x*y/z) - z",
    "1/(x + y) - min(z, 3)",
    "x*(1 - y)/(z + x)",
    "1/((x - 10)*y)",
    "ceil((x - 5)/y)",
    "y/(x - 5)/(x - 5)",
    "y + z/(x - 5)",
    "ceil(y/(x - 5))",
    "ceil(y/(-x - z))",
)


@settings(max_examples=200)
@given(st.sampled_from(EXPRESSIONS), st.sampled_from(NAMES), st.integers(0, 2**32))
def test_a_trend_is_the_direction_in_which_values_move(text, name, seed):
    expression = parse_expression(text, where="test", allowed=NAMES)
    symbols = [node for node in trends(expression, RANGES).items() if str(node[0]) == name]
    draw = random.Random(seed)
    point = {n: draw.uniform(1, 9) for n in NAMES}
    more = {**point, name: draw.uniform(point[name], 9)}
    below, above = (expression.evaluate(values, NUMPY) for values in (point, more))
    for _, trend in symbols:
        assert trend * (above - below) >= -1e-9 * max(abs(above), abs(below))


def test_some_trends_are_known():
    found = trends(parse_expression("x - y*z + max(x, z)/y", where="test", allowed=NAMES), RANGES)
    assert {
        str(node): trend for node, trend in found.items() if str(node) in (*NAMES, "max(x, z)")
    } == {
        "x": 1,
        "y": -1,
        "z": 0,
        "max(x, z)": 1,
    }


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("max(x, y) - min(x, z)", []),
        ("x/min(y, z) + ceil(x/y)", []),
        ("x - max(y, z)", ["max(y, z)"]),
        ("min(x, y) + z", ["min(x, y)"]),
        ("z/ceil(x/y)", ["ceil((x)/(y))"]),
        ("(x - 5)*max(y, z)", ["max(y, z)"]),
        ("max(x, y)*z - max(x, y)", ["max(x, y)"]),
        ("max(x, min(y, z))", ["min(y, z)"]),
    ],
)
def test_maxima_that_would_be_pushed_up(text, wrong):
    found = misplaced(trends(parse_expression(text, where="test", allowed=NAMES), RANGES))
    assert [str(node) for node in found] == wrong
