"""Rules on continuous quantities, against configurations that meet the rules."""

from fractions import Fraction

import pytest
from hypothesis import given

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.continuous_rules import continuous_rules, products, quantity_spans
from ithaca.formulations.space import Axis, Link, Quantity, Relation, Space
from ithaca.formulations.systolic.design import SpaceOptions
from tests.problems import mm_points, mm_problem

NAMES = ("x", "y", "z", "q")


def shown(space):
    return {
        f"{r.left} {r.relation.value} {r.right}"
        for r in continuous_rules(space, quantity_spans(space))
    }


def space_of(relation, right, *more):
    """Three free quantities, and q related to an expression over them."""

    def read(text):
        return parse_expression(text, where="test", allowed=NAMES)

    links = [
        Link(read(left), kind, read(other)) for left, kind, other in (("q", relation, right), *more)
    ]
    quantities = (
        Quantity("x", 1, 4),
        Quantity("y", 2, 9),
        Quantity("z", 1, 50),
        Quantity("q", 1, 400),
    )
    return Space((Axis("a", quantities, tuple(links)),))


@given(mm_points())
def test_every_configuration_meets_them(drawn):
    problem, configuration = drawn
    values = {name: Fraction(value) for name, value in configuration.items()}
    spans = quantity_spans(problem.space)
    assert all(values[name] in span for name, span in spans.items())
    assert {name: e.evaluate(values, FRACTION) for name, e in products(problem.space).items()} == {
        name: values[name] for name in ("t1.i", "t1.j", "t1.k")
    }
    for rule in continuous_rules(problem.space, spans):
        assert rule.holds(values, FRACTION), rule


@pytest.mark.parametrize(
    ("relation", "right", "expected"),
    [
        # x ≤ 4 may be above y or below: neither bounds the maximum, both bound the minimum
        (Relation.EQUAL, "max(x, y)", {"x ≤ q", "y ≤ q"}),
        (Relation.EQUAL, "min(x, y)", {"q ≤ x", "q ≤ y"}),
        (Relation.EQUAL, "max(min(x*z, 16), z)", {"z ≤ q", "q ≤ x·z"}),
        (Relation.AT_MOST, "max(x, 5)", {"q ≤ 5"}),
        (Relation.DIVIDES, "x + z", {"q ≤ x + z"}),
        (Relation.DIVIDES, "500*z", set()),
        (Relation.EQUAL, "ceil(30/z)", {"30/z ≤ q", "q ≤ (z + 29)/z"}),
    ],
)
def test_parts_of_maxima_and_minima(relation, right, expected):
    assert shown(space_of(relation, right)) == expected


def test_a_quotient_without_remainder_is_one():
    assert shown(space_of(Relation.EQUAL, "ceil(30/z)", ("z", Relation.DIVIDES, "30"))) == {
        "q = 30/z"
    }
    problem = mm_problem((24, 36, 20), space=SpaceOptions(2, divisors_only=True))
    assert {f"tiles.{x} = {n}/t1.{x}" for x, n in zip("ijk", (24, 36, 20), strict=True)} <= shown(
        problem.space
    )


def test_inferred_packs_do_not_exceed_what_they_pack():
    found = shown(mm_problem((24, 36, 20), edition="odyssey").space)
    assert {"pack.A ≤ t1.k", "pack.B ≤ t1.k", "t2.k ≤ pack.A", "t2.k ≤ pack.B"} <= found
