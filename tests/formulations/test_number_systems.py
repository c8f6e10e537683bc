"""One model, many number systems: all agree with the Fraction reference."""

from fractions import Fraction

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    Symbol,
    Symbols,
    add,
    maximum,
    multiply,
    power,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NUMPY, ceilings
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import metric_values
from tests.problems import mm_points, mm_problem


def everything(costs):
    """All numbers of an evaluation, by name."""
    found = metric_values(costs) | {f"words.{name}": v for name, v in costs.words.items()}
    for name, cost in costs.modules.items():
        found |= {
            f"{name}.transfer": cost.transfer,
            f"{name}.per_tile": cost.per_tile,
            f"{name}.total": cost.total,
        }
    return found | {"pe": costs.pe, "accumulation": costs.accumulation}


def agrees(name, found, exact):
    """Whether floats are exactly the reference; metrics per time are quotients, and rounded."""
    if name in ("bandwidth", "power", "throughput"):
        return bool(np.allclose(np.asarray(found, float), float(exact), rtol=1e-14, atol=0))
    return bool(np.all(np.asarray(found) == float(exact)))


def reference(point):
    """A point's quantities and its costs by the reference."""
    problem, configuration = point
    design = systolic(problem)
    values = {name: Fraction(value) for name, value in {**design.extents, **configuration}.items()}
    return values, everything(design.costs(configuration))


@given(mm_points())
def test_numpy_agrees(point):
    problem, _ = point
    values, expected = reference(point)
    arrays = {name: np.array([float(v), float(v)]) for name, v in values.items()}
    found = everything(evaluate(systolic(problem).array, arrays, systolic(problem).data, NUMPY))
    for name, exact in expected.items():
        assert agrees(name, found[name], exact), name


@given(mm_points())
def test_numpy_agrees_on_integers(point):
    problem, _ = point
    values, expected = reference(point)
    arrays = {name: np.array([int(v)]) for name, v in values.items()}
    found = everything(evaluate(systolic(problem).array, arrays, systolic(problem).data, NUMPY))
    assert all(agrees(name, found[name], exact) for name, exact in expected.items())


@given(mm_points(), st.integers(1, 10**30), st.sampled_from(["u250", "asic-28nm"]))
def test_rational_arrays_are_the_reference(point, scale, platform):
    """Rational arrays agree where no float holds the numbers, too: in the second entry everything
    that is counted is large."""
    problem, _ = point
    values, _ = reference(point)
    design, technology = systolic(problem), load_platform(platform).technology
    entries = [
        values,
        {name: v if name.startswith("pack.") else v * scale / 7 for name, v in values.items()},
    ]
    arrays = {name: Rationals.of([entry[name] for entry in entries]) for name in values}
    costs = evaluate(design.array, arrays, design.data, RATIONAL_ARRAYS, technology)
    exact = [evaluate(design.array, entry, design.data, FRACTION, technology) for entry in entries]
    first, second = map(everything, exact)
    for name, found in everything(costs).items():
        assert [Fraction(*entry) for entry in found.entries(2)] == [first[name], second[name]], name
    assert np.broadcast_to(costs.meets_bounds, (2,)).tolist() == [one.meets_bounds for one in exact]


@given(mm_points())
def test_symbols_agree(point):
    problem, _ = point
    values, expected = reference(point)
    design = systolic(problem)
    found = everything(evaluate(design.array, Symbols(), design.data, SYMBOLIC))
    assert {name: e.evaluate(values, FRACTION) for name, e in found.items()} == expected


@given(mm_points())
def test_points_are_degenerate_intervals(point):
    problem, _ = point
    values, expected = reference(point)
    found = everything(
        evaluate(
            systolic(problem).array,
            {n: Interval(v, v) for n, v in values.items()},
            systolic(problem).data,
            INTERVAL,
        )
    )
    assert {name: (i.low, i.high) for name, i in found.items()} == {
        name: (v, v) for name, v in expected.items()
    }


@given(mm_points(), st.data())
def test_intervals_contain_every_point_of_their_box(point, data):
    problem, _ = point
    values, expected = reference(point)
    box = {}
    for name, value in values.items():
        fixed = name.startswith("extent.")
        down = 0 if fixed else data.draw(st.integers(0, int(value) - 1), label=name)
        up = 0 if fixed else data.draw(st.integers(0, 20), label=name)
        box[name] = Interval(value - down, value + up)
    found = everything(evaluate(systolic(problem).array, box, systolic(problem).data, INTERVAL))
    assert all(value in found[name] for name, value in expected.items())


@pytest.mark.parametrize("edition", ["exact", "odyssey"])
def test_a_labelled_grid_is_the_model_at_each_of_its_points(edition):
    problem = mm_problem((20, 12, 9), ("i", "k"), "A", edition)
    values = {f"extent.{loop}": n for loop, n in systolic(problem).nest.sizes.items()}
    for axis in problem.space.axes:
        rows = next(iter(axis.rows()))
        values |= {
            name: xr.DataArray(column[::7].astype(float), dims=axis.name)
            for name, column in rows.items()
        }
    grid = everything(evaluate(systolic(problem).array, values, systolic(problem).data, NUMPY))
    latency = metric_values(
        evaluate(systolic(problem).array, values, systolic(problem).data, NUMPY)
    )["latency"]
    assert set(latency.dims) == {"i", "j", "k"}
    for where in ({"i": 0, "j": 0, "k": 0}, {"i": 3, "j": 2, "k": 1}, {"i": -1, "j": -1, "k": -1}):
        exact = {
            n: Fraction(float(v.isel({d: where[d] for d in v.dims})))
            if isinstance(v, xr.DataArray)
            else Fraction(v)
            for n, v in values.items()
        }
        expected = everything(
            evaluate(systolic(problem).array, exact, systolic(problem).data, FRACTION)
        )
        for name, number in expected.items():
            cell = grid[name]
            if isinstance(cell, xr.DataArray):
                cell = cell.isel({d: where[d] for d in cell.dims})
            assert agrees(name, cell, number), name


numbers = st.fractions(-20, 20, max_denominator=8)


@given(
    st.tuples(numbers, numbers), st.tuples(numbers, numbers), st.fractions(0, 1), st.fractions(0, 1)
)
def test_interval_arithmetic_contains_all_results(a, b, s, t):
    one, two = Interval(min(a), max(a)), Interval(min(b), max(b))
    x, y = one.low + s * (one.high - one.low), two.low + t * (two.high - two.low)
    assert x + y in one + two
    assert x - y in one - two
    assert x * y in one * two
    assert 3 - x in 3 - one
    assert max(x, y) in INTERVAL.maximum(one, two)
    assert min(x, y) in INTERVAL.minimum(one, two)
    if not two.low <= 0 <= two.high:
        assert x / y in one / two
    if two.low > 0:
        assert FRACTION.ceil_div(x, y) in INTERVAL.ceil_div(one, two)


@pytest.mark.parametrize("whole", [1464 * 1464, 3, 49, 10**23])
def test_quotients_by_ceilings_are_exact(whole):
    """The double of 1/1464² lies above it, and passed for a bound that excludes it."""
    ceiling = INTERVAL.ceil_div(Interval(Fraction(1), Fraction(whole)), Fraction(1))
    reciprocal = 1 / ceiling
    assert (reciprocal.low, reciprocal.high) == (Fraction(1, whole), 1)
    assert (5 / ceiling).low == Fraction(5, whole)


@pytest.mark.parametrize("exponent", [2, 4, 6])
def test_even_powers_of_intervals_are_not_negative(exponent):
    """Squares of numbers or arrays; a product of equal intervals forgets that they are of one number."""
    form = multiply(3, power(Symbol("x"), exponent))
    for low, high in ((-3, 2), (-1, 4), (1, 3), (-4, -1)):
        every = [3 * Fraction(n, 4) ** exponent for n in range(4 * low, 4 * high + 1)]
        span = form.evaluate({"x": Interval(Fraction(low), Fraction(high))}, INTERVAL)
        assert (span.low, span.high) == (min(every), max(every))
        arrays = Interval(np.array([low, 1.0]), np.array([high, 2.0]))
        span = form.evaluate({"x": arrays}, INTERVAL)
        assert span.low.tolist() == [min(every), 3]
        assert span.high.tolist() == [max(every), 3 * 2**exponent]


def test_division_by_an_interval_around_zero_is_refused():
    around = Interval(Fraction(-1), Fraction(1))
    with pytest.raises(ZeroDivisionError):
        1 / around
    with pytest.raises(ZeroDivisionError):
        INTERVAL.ceil_div(around, around)


def test_equal_factors_and_terms_cancel():
    x, y = Symbol("x"), Symbol("y")
    assert multiply(x, y) / y == x
    assert add(x, y) - y == x
    assert power(multiply(2, x), 2) == 4 * x * x
    assert maximum(x, maximum(x, y), 1, 3) == maximum(x, y, 3)
    assert str((x + 1) * y / 2) == "1/2·(x + 1)·y"
    assert (x * y).substitute({"y": x + 1}) == x * (x + 1)


@given(st.integers(0, 2**60), st.integers(1, 2**40))
def test_ceilings_of_quotients_are_exact_where_doubles_hold_tops(top, bottom):
    """Quotients just above multiples, in particular."""
    for of in (top, top // bottom * bottom + 1):
        found = int(ceilings(np.array([float(of)]), float(bottom))[0])
        exact = -(-int(float(of)) // bottom)
        assert found == exact if of < 2**53 else found <= exact


def test_intervals_of_whole_numbers_are_divided_exactly():
    """A quotient rounded to a double lay above the least value, and passed for a lower bound."""
    squared = Interval(7, 1464) * Interval(7, 1464)
    quotient = 1 / squared
    assert (quotient.low, quotient.high) == (Fraction(1, 1464**2), Fraction(1, 49))
