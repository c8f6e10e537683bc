"""Directed roundings go their way, and all of them stand in one module."""

import re
from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.formulations import float_formats
from ithaca.formulations.algebra import logarithms, rounding
from ithaca.formulations.algebra.expression import Symbol, ceiling_division
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.solver.enumeration import spans

ROOT = Path(rounding.__file__).parents[2]

exact_values = st.fractions(min_value=-(10**30), max_value=10**30)
floats = st.floats(-1e30, 1e30)


def test_no_other_module_rounds_in_a_direction():
    margin = re.compile(r"\*\* ?-\d\d|nextafter|\b1e-(9|1\d)\b|2 ?\*\* ?4\d\b")
    # rounds itself; states the least numbers of formats; shares no arithmetic with what it checks
    limits = {Path(module.__file__) for module in (rounding, logarithms, float_formats, spans)}
    elsewhere = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for folder in ("formulations", "solver", "studies", "refine", "plugins")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path not in limits and "peers" not in path.parts
        for line in path.read_text().splitlines()
        if margin.search(line) and "isclose(" not in line  # which compares, and rounds nothing
    ]
    assert elsewhere == []


@given(exact_values)
def test_an_exact_value_is_above_what_is_below_it(value):
    low = Fraction(rounding.below(value))
    assert low < value or low == value == 0
    assert value - low <= abs(value) / 2**39
    assert Fraction(rounding.all_below(np.array([float(value)]))[0]) == low
    assert (
        low
        <= Fraction(rounding.largest_double(value))
        <= value
        < Fraction(rounding.loosened(value))
    )


@given(exact_values, st.integers(-(2**20), 2**20))
def test_cutoff_keeps_what_a_bound_in_floats_may_stand_for(target, ulps):
    """A bound of the target that is off by so many units in the last place is neither above the
    cutoff nor told from it."""
    off = float(target) * (1 + ulps * 2.0**-61)
    assert off <= rounding.cutoff(target)
    assert rounding.may_be_tied(np.array([off]), target)[0]


@given(st.lists(floats, min_size=1, max_size=256))
def test_sums_are_below_exact_sums_of_the_terms(terms):
    lowered = rounding.all_below(np.array(terms))
    assert Fraction(rounding.sum_below(np.abs(lowered)[:, None])[0]) <= sum(
        map(Fraction, np.abs(lowered).tolist())
    )


def test_sums_know_impossible_terms_from_unbounded_ones():
    """A term of −∞ says nothing; it must not pass for one without a configuration."""
    terms = np.array([[1.0, -inf, inf, -inf], [2.0, 1.0, 1.0, inf]])
    assert rounding.sum_below(terms).tolist() == [pytest.approx(3.0), -inf, inf, inf]


@given(st.integers(1, 131_072), st.floats(-1e-10, 1e-10))
def test_whole_numbers_survive_the_way_through_logarithms(value, off):
    logarithm = np.log(value) + off
    assert (
        logarithms.whole_up(np.exp(logarithm)) == logarithms.whole_down(np.exp(logarithm)) == value
    )
    assert (
        logarithms.log_below(float(np.log(value)))
        < np.log(value)
        < logarithms.log_above(float(np.log(value)))
    )


@pytest.mark.parametrize(
    ("reported", "bound"), [(7.0, 7), (7.0005, 7), (6.9995, 7), (7.002, 8), (-inf, None)]
)
def test_integer_bounds_do_not_take_noise_for_the_next_integer(reported, bound):
    assert rounding.integer_bound(reported, reach=1000) == bound


@given(st.integers(-(2**60), 2**60), st.integers(-(2**60), 2**60))
def test_integer_bounds_of_large_integers_are_below_them(value, offset):
    """A solver adds an offset to what it bounds in floats, which may cancel."""
    bound = rounding.integer_bound(float(value - offset) + float(offset), reach=2**62)
    assert bound <= value


@given(st.integers(-(10**6), 10**6), st.integers(1, 7), st.integers(1, 9))
def test_no_magnitude_is_below_what_it_stands_for(offset, divisor, x):
    node = ceiling_division(Symbol("x") + offset, divisor) * Symbol("x") - 1
    at = {"x": Fraction(x)}
    assert rounding.magnitude(node).evaluate(at, FRACTION) >= abs(node.evaluate(at, FRACTION))


@pytest.mark.ci
@given(st.floats(0, 1e308), st.sampled_from([1, -1]), st.booleans())
def test_doubles_beyond_values_are_no_nearer_than_the_next_ones(size, sign, up):
    value = sign * size
    beyond = float(rounding.beyond(np.array([value]), up=up)[0])
    after = np.nextafter(value, np.inf if up else -np.inf)
    most = 2 * abs(after - value) + 2 * rounding.LEAST
    assert (beyond >= after) if up else (beyond <= after)
    assert abs(beyond - value) <= most
