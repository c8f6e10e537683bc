"""Programs: what they compute is what their expressions say, and their work arrays are reused."""

import pickle
import tracemalloc
import warnings
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
from ithaca.solver.tables import machine_code
from ithaca.solver.tables import program as programs
from ithaca.solver.tables.program import LONG, Program, Sources

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


@pytest.fixture
def numpy_alone(monkeypatch):
    """Programs that no machine code runs."""
    monkeypatch.setattr(machine_code, "machine", lambda: None)


@pytest.fixture
def running(monkeypatch):
    """Programs that are run in machine code from the first time on."""
    monkeypatch.setattr(programs, "STARTED", -1)


@pytest.mark.parametrize("runs", ["numpy_alone", "running"])
@pytest.mark.parametrize("entries", [1, 511, LONG, 2 * LONG + 17])
def test_gathered_entries_are_what_the_expressions_are(entries, runs, request):
    request.getfixturevalue(runs)
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


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("seed", range(20))
def test_machine_code_gives_every_bit_that_numpy_gives(seed):
    random = np.random.default_rng(seed)
    nodes = [A, B, C, *(Constant(Fraction(n, 7)) for n in (-3, 1, 9))]
    for _ in range(60):
        left, right = (nodes[random.integers(len(nodes))] for _ in range(2))
        operations = (
            lambda x, y: x + y,
            lambda x, y: x * y,
            lambda x, y: Fraction(-2, 3) * x - y,
            lambda x, y: x / (A + y * y),
            maximum,
            minimum,
            lambda x, y: ceiling_division(x, A + y * y),
        )
        nodes.append(operations[random.integers(len(operations))](left, right))
    program = Program(nodes[-12:])
    columns = [random.normal(0, 9, 50) for _ in program.symbols]
    for column in columns:  # also what overflows, and what is no number
        column[:4] = np.inf, -np.inf, np.nan, 0.0
    axes, places = random.integers(0, 2, len(columns)), random.integers(0, 50, (2, 777))
    with np.errstate(all="ignore"):
        gathered = program.gather([*zip(axes.tolist(), columns, strict=True)], places)
        run = program.run([c[places[axis]] for axis, c in zip(axes, columns, strict=True)])
    for own, other in zip(gathered, run, strict=True):
        np.testing.assert_array_equal(own, np.broadcast_to(other, 777))


@pytest.mark.usefixtures("running")
def test_copies_of_sources_have_arrays_of_their_own():
    program, nodes = Program([A + B]), np.array([[0, 1], [1, 0]])
    sources = Sources([(0, np.array([1.0, 2.0])), (1, np.array([10.0, 20.0]))])
    before = program.gather(sources, nodes)
    copied = pickle.loads(pickle.dumps(sources))  # as for another process
    for _, values in sources:
        values[:] = 0.0
    for own in (program.gather(copied, nodes), program.gather(copied, nodes)):
        np.testing.assert_array_equal(own, before)
    np.testing.assert_array_equal(program.gather(sources, nodes), [[0.0, 0.0]])


@pytest.mark.usefixtures("numpy_alone")
def test_what_is_no_number_warns_nobody():
    program, nodes = Program([A - B]), np.zeros((2, 1), np.int64)
    with warnings.catch_warnings(action="error"):
        (own,) = program.gather([(0, np.array([np.inf])), (1, np.array([np.inf]))], nodes)
    assert np.isnan(own).all()


@pytest.mark.usefixtures("running")
def test_no_entries_are_no_values():
    program = Program([A * B + 1])
    (nothing,) = program.gather([(0, np.ones(3)), (1, np.ones(3))], np.zeros((2, 0), np.int64))
    assert nothing.shape == (0,)


@pytest.mark.usefixtures("numpy_alone")
def test_long_programs_on_many_entries_need_few_arrays():
    terms = [(A + Constant(Fraction(n))) * (B + Constant(Fraction(n))) for n in range(200)]
    program = Program([maximum(*terms)])
    columns = [(axis, np.arange(1.0, 9.0)) for axis in range(2)]
    nodes = np.zeros((2, 8 * LONG), np.intp)
    tracemalloc.start()
    try:
        program.gather(columns, nodes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (
        peak < 8 * LONG * 8 * 3
    )  # the output, and little beside it; every step's array would be 800 times as much
