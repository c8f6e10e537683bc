"""Programs: what they compute is what their expressions say, and their work arrays are reused."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from ithaca.formulations.algebra.expression import (
    Constant,
    Symbol,
    ceiling_division,
    maximum,
    minimum,
)
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.solver.tables.program import BLOCK, FEW, Program

A, B, C = (Symbol(name) for name in "abc")

#: Some share parts, one is a symbol, one a constant, two are the same.
OUTPUTS = [
    A * B + maximum(A * B, C) - 3 * A,
    A,
    ceiling_division(A * B, C + A * B) * minimum(A, B, C),
    Constant(Fraction(5, 4)),
    A * B / (C + A * B),
    A * B + maximum(A * B, C) - 3 * A,
]


@pytest.mark.parametrize("entries", [1, FEW - 1, FEW, BLOCK, 2 * BLOCK + 17])
def test_gathered_entries_are_what_the_expressions_are(entries):
    random = np.random.default_rng(1)
    columns = {name: random.uniform(0.5, 9, 40) for name in "abc"}
    axes = {"a": 0, "b": 1, "c": 0}
    nodes = random.integers(0, 40, (2, entries))
    program = Program(OUTPUTS)
    found = program.gather([(axes[name], columns[name]) for name in program.symbols], nodes)
    values = {name: column[nodes[axes[name]]] for name, column in columns.items()}
    again = program.run([values[name] for name in program.symbols])
    for expression, gathered, run in zip(OUTPUTS, found, again, strict=True):
        expected = np.broadcast_to(expression.evaluate(values, NUMPY), entries)
        np.testing.assert_allclose(np.broadcast_to(gathered, entries), expected, rtol=1e-12)
        np.testing.assert_array_equal(
            np.broadcast_to(gathered, entries), np.broadcast_to(run, entries)
        )
    assert (
        values["a"].tolist() == columns["a"][nodes[0]].tolist()
    )  # what was loaded is not written over


def test_long_programs_on_many_entries_need_few_arrays():
    terms = [(A + Constant(Fraction(n))) * (B + Constant(Fraction(n))) for n in range(200)]
    program = Program([maximum(*terms)])
    columns = [(axis, np.arange(1.0, 9.0)) for axis in range(2)]
    nodes = np.zeros((2, 8 * BLOCK), np.intp)
    tracemalloc.start()
    try:
        program.gather(columns, nodes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (
        peak < 8 * BLOCK * 8 * 3
    )  # the output, and little beside it; every step's array would be 800 times as much
