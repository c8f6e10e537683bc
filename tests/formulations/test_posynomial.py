"""Posynomial arithmetic against the Fraction reference."""

from fractions import Fraction
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.algebra.posynomial import (
    NotPosynomialError,
    Posynomial,
    as_product,
)

NAMES = ("x", "y", "z")

values = st.fixed_dictionaries(
    {name: st.fractions(Fraction(1, 8), 8, max_denominator=8) for name in NAMES}
)
exponents = st.dictionaries(st.sampled_from(NAMES), st.integers(-2, 3).filter(bool)).map(
    lambda d: tuple(sorted(d.items()))
)
coefficients = st.fractions(Fraction(1, 9), 9, max_denominator=9)
posynomials = st.dictionaries(exponents, coefficients, max_size=4).map(Posynomial)
monomials = st.tuples(exponents, coefficients).map(lambda pair: Posynomial({pair[0]: pair[1]}))


def at(posynomial, point):
    terms = (
        c * prod((point[n] ** e for n, e in exponents), start=Fraction(1))
        for exponents, c in posynomial.terms.items()
    )
    return sum(terms, start=Fraction(0))


@given(posynomials, posynomials, monomials, values)
def test_arithmetic_is_that_of_the_values(p, q, m, point):
    assert at(p + q, point) == at(p, point) + at(q, point)
    assert at(p * q, point) == at(p, point) * at(q, point)
    assert at(p**2, point) == at(p, point) ** 2
    assert at(m**-2, point) == at(m, point) ** -2
    assert at(p.scaled(Fraction(3, 7)), point) == at(p, point) * Fraction(3, 7)


@given(posynomials, posynomials, values)
def test_what_contains_another_is_never_smaller(p, q, point):
    assert (p + q).dominates(p)
    assert at(p + q, point) >= at(p, point)
    if q.terms and not p.dominates(p + q):
        assert not p.dominates(p + q)


@given(posynomials)
def test_coefficients_stay_positive(p):
    assert all(c > 0 for c in (p * p + p).terms.values())


def test_kinds():
    x, y = Posynomial.quantity("x"), Posynomial.quantity("y", -1)
    assert (x * y).is_monomial
    assert not (x + y).is_monomial
    assert x * Posynomial.quantity("x", -1) == Posynomial.constant(1)
    assert not Posynomial.constant(0).terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("3*x*x/y", {(("x", 2), ("y", -1)): 3}),
        ("x", {(("x", 1),): 1}),
        ("5/2", {(): Fraction(5, 2)}),
        ("x + y", None),
        ("-x", None),
        ("x/(x + y)", None),
        ("max(x, y)", None),
        ("0", None),
    ],
)
def test_products_are_read_as_single_terms(text, terms):
    found = as_product(parse_expression(text, where="test", allowed=NAMES))
    assert (None if found is None else found.terms) == terms


def test_what_is_not_posynomial_is_refused():
    with pytest.raises(NotPosynomialError, match="negative"):
        Posynomial.constant(-1)
    with pytest.raises(NotPosynomialError, match="division"):
        (Posynomial.quantity("x") + Posynomial.constant(1)) ** -1
