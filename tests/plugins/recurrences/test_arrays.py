"""Arrays of recurrences: cycles counted against a run of every word, recurrences against NumPy, structure
against what the AutoSA compiler built."""

import ast
from itertools import product

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.recurrences.formulations.array import RecurrenceArray, Timing, dataflows
from ithaca.plugins.recurrences.formulations.cycles import cycles
from ithaca.plugins.recurrences.formulations.simulation import RecurrenceRun
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from ithaca.plugins.recurrences.workloads.recurrence import read_recurrence
from tests.plugins.recurrences.samples import simulate

TIMINGS = (
    Timing(),
    Timing(hop=1, multiply=1, add=1, divide=1),
    Timing(hop=3, multiply=2, add=5, divide=9, interval=2),
    Timing(divide=28, interval=3),
)

#: A banded triangular matrix times a matrix: values are handed on along every loop.
BANDED = {
    "name": "banded",
    "parameters": {"n": 5, "m": 3, "w": 2},
    "loops": {"i": [0, "n"], "k": ["i", "min(n, i+w)"], "r": [0, "m"]},
    "values": {
        "M": "A[i][k] if r == 0 else M[i][k][r-1]",
        "X": "B[k][r] if i == max(0, k - w + 1) else X[i-1][k][r]",
        "S": "M * X if k == i else S[i][k-1][r] + M * X",
    },
    "outputs": {"C[i][r]": "S where k == n - 1", "D[i][r]": "S where k == i + w - 1 and k < n - 1"},
}


#: A value that two neighbours read, on a domain that begins later in every step.
STENCIL = {
    "name": "stencil",
    "parameters": {"n": 6, "m": 4},
    "loops": {"t": [1, "m"], "x": ["t", "n"]},
    "values": {
        "B": "A[x] if t == 1 else V[t-1][x] + V[t-1][x-1]",
        "V": "B if x == t else B - V[t][x-1]",
    },
    "outputs": {"C[x]": "V where t == m - 1"},
}


#: Neighbours along k hand on words at once (Y) and a row later (X): once a row has more iterations
#: than the FIFO of X has room, the array of space loop k hangs.
HANGING = {
    "name": "hanging",
    "parameters": {"n": 4, "m": 2},
    "loops": {"k": [0, "m"], "j": [0, "m"], "i": [0, "n"]},
    "values": {
        "X": "B[k][j][i]",
        "Y": "X if k == 0 else X + Y[k-1][j][i]",
        "U": "Y if k == 0 else Y if j == 0 else Y + X[k-1][j-1][i]",
    },
    "outputs": {"C[k][j][i]": "U"},
}

#: The same along every loop: no array of one or two loops runs.
ALL_HANGING = {
    "name": "all-hanging",
    "parameters": {"n": 3},
    "loops": {"a": [0, "n"], "b": [0, "n"], "c": [0, "n"], "d": [0, "n"]},
    "values": {
        "X": "T[a][b][c][d]",
        "A": "X if a == 0 else X + A[a-1][b][c][d]",
        "B": "A if b == 0 else A + B[a][b-1][c][d]",
        "C": "B if c == 0 else B + C[a][b][c-1][d]",
        "D": "C if d == 0 else C + D[a][b][c][d-1]",
        "U": "D if a == 0 else D if b == 0 else D if c == 0 else D if d == 0 "
        "else D + X[a-1][b-1][c-1][d-1]",
    },
    "outputs": {"R[a][b][c][d]": "U"},
}


def nest_of(name, **sizes):
    own = {each["name"]: each for each in (BANDED, STENCIL, HANGING, ALL_HANGING)}
    read = read_recurrence(own[name], name) if name in own else find_recurrence(name, {})
    return read.with_sizes(sizes)


def computed(nest, inputs):
    """The outputs of recurrences, one iteration after the other."""
    values, outputs = {**inputs}, {}
    for point, cases in nest.iterations.items():
        for case in cases:
            read = [values[access.tensor, nest.element(access, point)] for access in case.reads]
            names = {f"r{number}": value for number, value in enumerate(read)}
            values[case.value, point] = eval(ast.unparse(case.result), names)
            if access := nest.outputs.get(case):
                outputs[access.tensor, nest.element(access, point)] = values[case.value, point]
    return outputs


def random_inputs(nest, seed):
    """Numbers between 1 and 2, larger ones on the diagonal."""
    draw = np.random.default_rng(seed)
    return {
        (tensor, element): draw.uniform(1, 2)
        + 2 * len(nest.iterations) * (element[:1] * 2 == element)
        for tensor in nest.input_tensors
        for element in nest.tensors[tensor]
    }


NESTS = [
    *(("lu", {"n": n}) for n in (1, 2, 3, 4, 7)),
    *(("trisolve", {"n": n, "m": m}) for n, m in ((1, 1), (3, 1), (4, 5))),
    ("banded", {}),
    ("stencil", {}),
]


@pytest.mark.parametrize(("name", "sizes"), NESTS, ids=str)
def test_the_count_is_what_a_run_of_every_word_takes(name, sizes):
    nest = nest_of(name, **sizes)
    outputs = nest.tensors.keys() - {*nest.input_tensors}
    for space, timing in product(dataflows(nest), TIMINGS):
        array = RecurrenceArray(nest, space, timing)
        elements = sum(len(nest.tensors[tensor]) for tensor in outputs)
        assert simulate(array) == RecurrenceRun(cycles(array), elements, 0), (space, timing)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [*(("hanging", {"n": n, "m": m}) for n, m in ((3, 2), (4, 2), (6, 3))), ("all-hanging", {})],
    ids=str,
)
def test_an_array_hangs_where_a_run_of_every_word_does(name, sizes):
    nest = nest_of(name, **sizes)
    for space, timing in product(dataflows(nest), TIMINGS):
        array = RecurrenceArray(nest, space, timing)
        counted = cycles(array)
        if counted is None:
            with pytest.raises(InputError, match="the array hangs"):
                simulate(array)
        else:
            assert simulate(array).cycles == counted, (space, timing)


@pytest.mark.parametrize("n", [12, 16, 20, 24, 30])
def test_large_ones_too(n):
    nest = find_recurrence("lu", {"n": n})
    for space, timing in product(dataflows(nest), TIMINGS):
        array = RecurrenceArray(nest, space, timing)
        assert simulate(array).cycles == cycles(array)


@pytest.mark.parametrize("n", [3, 8])
def test_lu_is_that_of_numpy(n):
    nest = find_recurrence("lu", {"n": n})
    inputs = random_inputs(nest, seed=n)
    matrix = np.array([[inputs["A", (i, j)] for j in range(n)] for i in range(n)], float)
    # L has the multipliers of column i in row i, and U is as it is written: rows by pivots
    upper, lower = np.zeros((n, n)), np.eye(n)
    for (tensor, place), value in computed(nest, inputs).items():
        if tensor == "U":
            upper[place] = value
        else:
            lower[place[::-1]] = value
    assert np.allclose(lower @ upper, matrix.T)
    assert np.allclose(upper, np.triu(upper))
    assert np.allclose(lower, np.tril(lower))


def test_substitution_solves_the_system():
    nest = find_recurrence("trisolve", {"n": 6, "m": 3})
    inputs = random_inputs(nest, seed=1)
    lower, right = np.zeros((6, 6)), np.zeros((6, 3))
    for (tensor, place), value in inputs.items():
        (lower if tensor == "L" else right)[place] = value
    outputs = computed(nest, inputs)
    found = np.array([[outputs["X", (i, r)] for r in range(3)] for i in range(6)])
    assert np.allclose(found, np.linalg.solve(lower, right))


def test_the_array_is_that_of_the_paper():
    """Figure 12 of AutoSA: a triangle, A into its first row, L out of all PEs, U out of the
    diagonal."""
    array = RecurrenceArray(find_recurrence("lu", {"n": 6}), ("k", "j"), Timing())
    triangle = {(k, j) for k in range(6) for j in range(k, 6)}
    assert set(array.pes) == triangle
    places = {c.tensor: set(c.points) for c in (*array.inputs, *array.outputs)}
    assert places["A"] == {(0, j) for j in range(6)}
    assert places["L"] == {(k, j) for k, j in triangle if k < j}
    assert places["U"] == {(k, k) for k in range(6)}


#: What the compiler built for n = 9 (design_info.json): PEs, words of the local arrays P, W, M, V
#: of a PE, and of each of A, L, U the modules on each level and the words of a buffer.
BUILT = {
    "k": (9, (81, 81, 72, 81), ((1, 1), 81), ((8, 1), 8), ((9, 1), 9)),
    "j": (9, (9, 18, 9, 9), ((9, 1), 9), ((9, 1), 8), ((9, 1), 9)),
    "i": (9, (9, 9, 16, 8), ((9, 1), 9), ((8, 1), 8), ((9, 1), 9)),
    "k,j": (45, (9, 18, 9, 9), ((9, 9, 1), 9), ((36, 9, 1), 1), ((45, 9, 1), 9)),
    "k,i": (45, (9, 9, 16, 9), ((9, 9, 1), 9), ((36, 8, 1), 8), ((45, 9, 1), 1)),
    "j,i": (81, (1, 2, 2, 1), ((81, 9, 1), 1), ((72, 8, 1), 1), ((45, 9, 1), 1)),
}


@pytest.mark.parametrize("space", BUILT)
def test_modules_and_buffers_are_those_that_the_compiler_builds(space):
    array = RecurrenceArray(find_recurrence("lu", {"n": 9}), tuple(space.split(",")), Timing())
    pes, registers, *chains = BUILT[space]
    assert len(array.pes) == pes
    assert tuple(array.registers[name] for name in "PWMV") == registers
    found = [(tuple(c.modules.values()), c.buffer) for c in (*array.inputs, *array.outputs)]
    assert found == chains


def test_words_beside_the_triangle_move_where_the_compiler_moves_boxes():
    def words(*space):
        array = RecurrenceArray(find_recurrence("lu", {"n": 9}), space, Timing())
        return {c.tensor: sum(c.moved.values()) for c in array.outputs}

    assert words("k", "j") == {"L": 36, "U": 45}
    assert words("j") == {"L": 64, "U": 45}
    assert words("i") == {"L": 36, "U": 81}


def test_dsp_are_those_of_operators_in_pes_that_need_them():
    """No divider takes DSP blocks; a PE on the diagonal has neither multiplier nor subtractor."""
    nest = find_recurrence("lu", {"n": 5})
    assert RecurrenceArray(nest, ("k", "j"), Timing()).dsp == 10 * (3 + 2)
    assert RecurrenceArray(nest, ("j", "i"), Timing()).dsp == 20 * (3 + 2)


def test_an_own_file_is_read(tmp_path):
    import yaml

    path = tmp_path / "banded.yaml"
    path.write_text(yaml.safe_dump(BANDED, sort_keys=False))
    assert find_recurrence(path, {}) == nest_of("banded")
    assert len(find_recurrence(path, {"n": 8}).iterations) == (7 * 2 + 1) * 3


def test_blanks_around_bounds_are_nothing():
    own = BANDED | {"loops": {**BANDED["loops"], "i": [" 0", "\tn "]}}
    assert [*read_recurrence(own, "own").iterations] == [*nest_of("banded").iterations]
