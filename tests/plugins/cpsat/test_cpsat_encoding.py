"""Every expression, on every assignment: CP-SAT's variables mean what the expression says."""

import doctest
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from ortools.sat.python import cp_model

from ithaca.formulations.algebra.expression import (
    Symbol,
    ceiling_division,
    maximum,
    minimum,
    power,
)
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.cpsat.solver import encoding
from ithaca.plugins.cpsat.solver.encoding import Encoder
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.tables.granularity import common_divisor

X, Y, Z, U, P = (Symbol(name) for name in ("x", "y", "z", "u", "p"))

#: x and its companion u share rows; y, z and the pack p are chosen freely.
TABLES = {
    "x": {"x": [1, 2, 3, 5, 8], "u": [7, 0, -4, 7, 1]},
    "y": {"y": [1, 3, 4, 6]},
    "z": {"z": [2, 5, 9]},
    "p": {"p": [1, 2, 8]},
}


class _Collector(cp_model.CpSolverSolutionCallback):
    def __init__(self, read):
        super().__init__()
        self.read = read

    def on_solution_callback(self):
        self.read(self.value)


def solutions(state):
    """All solutions of a model: quantities, and value of the form that ``state`` returns."""
    return [
        (quantities, value)
        for quantities, (value,) in all_solutions(lambda encoder: [state(encoder)])
    ]


def all_solutions(
    state,
):
    """All solutions of a model of several forms, with the values of these."""
    model = cp_model.CpModel()
    encoder = Encoder(
        model, {axis: {s: np.array(v) for s, v in table.items()} for axis, table in TABLES.items()}
    )
    forms = state(encoder)
    symbols = {s: encoder.encode(Symbol(s)) for table in TABLES.values() for s in table}
    encoder.finish()
    found = []

    def read(value_of):
        values = {
            i: value_of(model.get_int_var_from_proto_index(i))
            for i in range(len(model.proto.variables))
        }
        found.append(
            (
                {s: f.value(values) for s, f in symbols.items()},
                [form.value(values) for form in forms],
            )
        )
        assert all(form.low <= form.value(values) <= form.high for form in forms)

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    assert solver.solve(model, _Collector(read)) in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return found


def assignments():
    """All choices of one row per axis."""
    rows = [
        [dict(zip(t, r, strict=True)) for r in zip(*t.values(), strict=True)]
        for t in TABLES.values()
    ]
    return [{s: Fraction(v) for row in choice for s, v in row.items()} for choice in product(*rows)]


def frozen(values):
    return tuple(sorted(values.items()))


EXPRESSIONS = {
    "one axis": X * X + power(X, -1) * 3 - ceiling_division(X + 1, 3),
    "negative column": X * U - 20,
    "companions share the row": X * U * Y,
    "rational coefficients": X * Y * Fraction(1, 3) + Z * Fraction(1, 7) - Fraction(2, 5),
    "tiny coefficient": X * Y + Z * Fraction(1, 10**9 + 7),
    "three axes": X * Y * Z,
    "a square across axes": power(X + Y - 5, 2),
    "powers": X * X * Y * Y * Y,
    "pack divides": X * Y / minimum(P, 4) + Z / P,
    "any divisor of one axis": X * Z / Y,
    "maximum": maximum(X * Y, Z, 7),
    "minimum of negatives": minimum(U * Y, Z - Y, Fraction(-1, 2)),
    "maximum without effect": maximum(X * Y * Z, -3, U - 100) + 1,
    "constant in a maximum": maximum(X - 10, Fraction(9, 2)),
    "factor enters maximum": (maximum(X * Y / P, Z) + 1) * X * Z,
    "factor of either sign": (maximum(X, Y) - Z) * U,
    "product of maxima": maximum(X, Y) * maximum(Y, Z),
    "ceiling by a number": ceiling_division(X * Y, 5),
    "ceiling by an axis": ceiling_division(X * Y + Z, P * 3),
    "ceiling of negatives": ceiling_division(U * Y - 30, Z),
    "ceiling by several axes": ceiling_division(X * Y * Z, Y + Z),
    "ceiling of fractions by several axes": ceiling_division(
        U * Fraction(1, 3), X * Fraction(1, 4) + Y * Fraction(1, 2)
    ),
    "ceiling by large powers": ceiling_division(Y * Z * 1000, X * X * X * X * X),
    "ceiling times": ceiling_division(X * Y, 7) * ceiling_division(Z * Y, 4) * U,
    "ceiling of a maximum": ceiling_division(maximum(X * Y, Z), 4),
    "nothing to round": ceiling_division(X * Y * 6, 3),
    "difference that vanishes": X * Y - Y * X + Z,
    "constant": X * 0 + 4,
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_assignment_is_allowed_exactly_once_and_with_the_right_value(name):
    node = EXPRESSIONS[name]
    found = solutions(lambda encoder: encoder.encode(node))
    expected = {frozen(values): node.evaluate(values, FRACTION) for values in assignments()}
    assert len(found) == len(expected)
    assert {frozen(values): value for values, value in found} == expected


CONSTRAINTS = {
    "sum": (X * Y * Fraction(1, 3) + Z * Fraction(1, 7), Fraction(11, 5)),
    "no effect": (X * Y, Fraction(1000)),
    "nothing": (X * Y, Fraction(0)),
    "bound on the grid": (X * Y, Fraction(12)),
    "bound just below the grid": (X * Y, Fraction(12) - Fraction(1, 10**12)),
    "quotient": (X * Z / (Y + Z), Fraction(7, 3)),
    "sum of quotients": (X / (Y * Z + X) - U / power(X + Y, 2), Fraction(1, 4)),
    "from below": (-maximum(X * Y, Z), Fraction(-9)),
    "quotient within a maximum": (maximum(X, Z / (X * Y + 1)), Fraction(2)),
    "quotient within a minimum": (minimum(Y, Z / (X + Y), U / X) * 2, Fraction(3, 2)),
    "divided quotient": ((X + Y / Z) / (Z + X / (Y * P)), Fraction(5, 7)),
    "too fine a column": (Y / (X * X * X * X * X), Fraction(1, 1000)),
    "a coefficient beyond 64 bits": (X * Y * Fraction(1, 10**40) + Z, 5 + Fraction(12, 10**40)),
    "two coefficients beyond 64 bits": (X * Y * (3**80 + 1) - Z * (2 * 3**80), Fraction(3**80 + 7)),
    "beyond 64 bits and tied": (X * Y * 7**50 - Z * 7**50, Fraction(0)),
    "beyond 64 bits and out of reach": (X * Y * 7**50 + Z, Fraction(7**49)),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_limit_allows_exactly_what_meets_it(name):
    node, bound = CONSTRAINTS[name]

    def state(encoder):
        encoder.require_at_most(node, bound)
        return encoder.encode(X)

    found = [frozen(values) for values, _ in solutions(state)]
    expected = [
        frozen(values) for values in assignments() if node.evaluate(values, FRACTION) <= bound
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("bound", [0, 20, 63, Fraction(905, 7), 10**6])
@pytest.mark.parametrize(
    "node",
    [
        (X * Y + Z) * (Z * Y + 1) * Fraction(1, 3),
        maximum(X * Y, Z) * (Y + Z) * P,
        (X * Y + Z) * U,
        X * Y - Z,
    ],
)
def test_a_cutoff_allows_exactly_what_is_not_worse(node, bound):
    found = solutions(lambda encoder: encoder.encode_at_most(node, Fraction(bound)))
    values = {frozen(values): node.evaluate(values, FRACTION) for values in assignments()}
    assert len(found) == len({frozen(values) for values, _ in found})
    assert {frozen(values): value for values, value in found} == {
        v: x for v, x in values.items() if x <= bound
    }


def test_a_cutoff_keeps_products_within_64_bits():
    node = power(X * Y, 6) * power(X + Z, 6) * power(Y + Z, 6)
    with pytest.raises(NotExpressibleError, match="its integers end"):
        solutions(lambda encoder: encoder.encode(node))
    found = solutions(lambda encoder: encoder.encode_at_most(node, Fraction(10**9)))
    assert len(found) == sum(node.evaluate(values, FRACTION) <= 10**9 for values in assignments())


def test_multiples():
    def state(encoder):
        encoder.require_multiple(Y + Z, P)
        return encoder.encode(X)

    found = [frozen(values) for values, _ in solutions(state)]
    assert sorted(found) == sorted(
        frozen(v) for v in assignments() if (v["y"] + v["z"]) % v["p"] == 0
    )


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (X / (Y + Z), "division by 'y . z'"),
        (maximum(X, Z / (X * Y + 1)), "spans several loops"),
        (X / U, "can be 0"),
        (ceiling_division(X, Y - Z), "not proven positive"),
        (power(X * Y, 12), "its integers end"),
        (maximum(X * Y * (1 + Fraction(1, 10**40)), Z), "a maximum may reach"),
    ],
)
def test_what_cannot_be_stated_exactly_is_refused(node, message):
    def state(encoder):
        # a form by itself is exact with any coefficient; only variables need integers
        form = encoder.encode(node)
        encoder.require_form_at_most(form, form.low + 1)
        return form

    with pytest.raises(NotExpressibleError, match=message):
        solutions(state)


QUOTIENTS = {
    "no quotient": X * Y + Z / P,
    "by several axes": (X * Z - U) / (Y + Z),
    "a constant over it": Fraction(-7, 3) / (X * Y + Z),
    "by an axis": X * Y / (X * X * X * X * X) + 1 / Y,
    "sum": X / (Y + Z) + U / (X * Y) - 3 / (Y + Z) / P + 2,
    "maximum": maximum(X * Y, 5 / (X + Z), U / Y) * Y,
    "minimum": minimum(X / (Y + Z), U / power(Y + Z, 2)),
    "nested": (X + 1 / (Y + 1 / (Z * X))) / (Z + X / (Y * P)),
    "power of a quotient": power(X + Y / (Z + X), 2) / power(Y + X / (X + Y), 2),
    "divided by a multiple": 1 / (X * Y * 6 + Z * 3) / (2 * X * Y),
    "ceilings": ceiling_division(X * Y / (Z + Y), 1 / (X + Y)) / ceiling_division(Z * Y, X + Z),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_quotient_is_that_of_its_parts(name):
    node = QUOTIENTS[name]

    def state(encoder):
        quotient = encoder.quotient(node)
        assert encoder.encode(quotient.under).low > 0
        return [encoder.encode(quotient.over), encoder.encode(quotient.under)]

    found = all_solutions(state)
    expected = {frozen(values): node.evaluate(values, FRACTION) for values in assignments()}
    assert len(found) == len(expected)
    assert {frozen(values): over / under for values, (over, under) in found} == expected


@pytest.mark.parametrize("power_of_two", [0, 61, 70, 130, 300])
def test_leading_digits_are_those_of_the_sum(power_of_two):
    factor, other = 2**power_of_two + 12345, -(2**power_of_two) // 7
    node = X * Y * factor + U * Z * other - 5 * factor - 3

    def state(encoder):
        nonlocal scale
        digits, constant, scale = encoder.leading(encoder.encode(node), Fraction(1))
        result = encoder.new_form(-(2**61), 2**61, "digits")
        (index,) = result.terms
        encoder.model.add(encoder.model.get_int_var_from_proto_index(index) == digits + constant)
        return result

    scale = 0
    found = solutions(state)
    assert (scale == 1) == (power_of_two == 0)
    assert len(found) == len(assignments())
    for values, digits in found:
        exact = node.evaluate(values, FRACTION)
        assert digits == exact // scale
        assert (digits < 0) == (exact < 0)


def test_quantities_are_read_back_from_a_solution():
    model = cp_model.CpModel()
    encoder = Encoder.over_domains(model, {"x": range(1, 9), "y": (2, 3, 5), "unused": (4,)})
    encoder.require_at_most(-X * Y, -20)
    encoder.minimize(X * X + Y)
    encoder.finish()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    assert encoder.quantities(solver.value) == {"x": 4, "y": 5, "unused": 4}


def test_the_example_of_the_documentation():
    outcome = doctest.testmod(encoding)
    assert outcome.attempted
    assert not outcome.failed


def test_the_common_divisor_loses_nothing():
    numbers = [Fraction(2, 3), Fraction(-4, 7), Fraction(0), Fraction(10)]
    step = common_divisor(numbers)
    assert step == Fraction(2, 21)
    assert all((n / step).denominator == 1 for n in numbers)
    assert common_divisor([Fraction(0)]) == 0
