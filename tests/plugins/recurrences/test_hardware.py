"""Arrays of recurrences that run: as many cycles as counted, every element as NumPy says, also with
stalls at random, and run after run."""

import numpy as np
import pytest

from ithaca.exports.configuration import tools_of
from ithaca.files.writing import write_folder
from ithaca.formulations.technology import DEFAULT_CLOCK_MHZ
from ithaca.plugins.recurrences.exports.configuration import RecurrenceConfiguration
from ithaca.plugins.recurrences.exports.hardware import obstacles
from ithaca.plugins.recurrences.formulations.array import RecurrenceArray, Timing
from ithaca.plugins.recurrences.formulations.cycles import cycles
from ithaca.plugins.recurrences.formulations.design import RecurrenceDesign
from ithaca.plugins.recurrences.workloads.recurrence import read_recurrence
from tests.plugins.recurrences.test_arrays import nest_of

#: A loop whose bounds follow another one of a PE and a space loop: not all its turns have inner ones.
FLIGHT = {
    "name": "flight",
    "parameters": {"n": 4},
    "loops": {"k": [0, "n"], "j": ["k", "n"], "i": ["j", "n"]},
    "values": {
        "X": "A[k][i] if j == k else X[k][j-1][i]",
        "S": "X if k == 0 else S[k-1][j][i] - X * X",
    },
    "outputs": {"R[j][i]": "S where k == j"},
}

SLOW = Timing(hop=3, multiply=2, add=5, divide=9)
SHORT = Timing(multiply=1, add=1, divide=1)


def configuration(array):
    design = RecurrenceDesign(array.nest, array.space, array.timing, DEFAULT_CLOCK_MHZ)
    return RecurrenceConfiguration(array, design.figures, proven=True)


def check(folder, array, seed=1):
    """Run an array without stalls, with them, and three times without a reset."""
    from ithaca.plugins.rtl.exports.tools import compiled

    write_folder(folder, tools_of("recurrence")["rtl"].export(configuration(array)))
    elements = sum(len(array.nest.tensors[chain.tensor]) for chain in array.outputs)
    with compiled(folder) as bench:
        plain, stalled, again = bench.run(), bench.run(stalls=seed), bench.run(runs=3)
    assert (plain.cycles, plain.hangs) == (cycles(array), False)
    assert [run.wrong for run in (plain, stalled, again)] == [0, 0, 0]
    assert (plain.right, stalled.right, again.right) == (elements, elements, 3 * elements)


def vector(folder, name):
    """The elements of a tensor as the bench has them, by the order that is stated."""
    order = (folder / "streams" / f"{name}.txt").read_text().split()
    words = (folder / "vectors" / f"{name}.hex").read_text().split()
    elements = {}
    for at, word in zip(order, words, strict=True):
        if at != "-":
            place = tuple(int(n) for n in at.removeprefix(f"{name}[").removesuffix("]").split("]["))
            elements[place] = np.uint32(int(word[-8:], 16)).view(np.float32)
            assert len(word) == 8 or word[0] == "1"
    return elements


def decomposed(matrix):
    """L and U by elimination, in single precision."""
    upper, lower = matrix.copy(), np.eye(len(matrix), dtype=np.float32)
    for pivot in range(len(matrix)):
        for row in range(pivot + 1, len(matrix)):
            lower[row, pivot] = upper[row, pivot] / upper[pivot, pivot]
            upper[row] = upper[row] - lower[row, pivot] * upper[pivot]
    return lower, np.triu(upper)


#: Size, space loops, timing: two-dimensional ones are triangles of PEs, but that of j and i.
LU = [
    (1, "k,j", Timing()),
    (2, "k,j", Timing(divide=28)),
    (3, "k,j", SHORT),
    (4, "k,j", SLOW),
    (5, "k,j", Timing()),
    (7, "k,j", Timing()),
    (3, "k,i", SLOW),
    (5, "k,i", Timing()),
    (2, "j,i", SHORT),
    (4, "j,i", SLOW),
    (6, "j", Timing()),
    (5, "k", SLOW),
    (4, "i", SHORT),
    (9, "i", Timing()),
]


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(("n", "space", "timing"), LU)
def test_lu_takes_the_counted_cycles_and_is_that_of_elimination(n, space, timing, folder):
    nest = nest_of("lu", n=n)
    check(folder, RecurrenceArray(nest, tuple(space.split(",")), timing), seed=n)
    given = vector(folder, "A")
    matrix = np.array([[given[i, j] for i in range(n)] for j in range(n)], np.float32)
    lower, upper = decomposed(matrix)
    found = vector(folder, "U")  # as AutoSA has them: the matrix and L are transposed
    assert {(j, i): upper[j, i] for j in range(n) for i in range(j, n)} == found
    expected = {(i, j): lower[j, i] for j in range(n) for i in range(j)}
    assert expected == (vector(folder, "L") if n > 1 else {})
    exact = np.abs(lower.astype(float) @ upper.astype(float) - matrix)
    assert exact.max() <= 1e-6 * np.abs(matrix).max()


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("name", "space", "timing"),
    [
        ("trisolve", "k,i", SLOW),
        ("trisolve", "i,r", Timing()),
        ("banded", "k,r", SHORT),
        ("banded", "i", Timing()),
        ("stencil", "t", Timing()),
        ("hanging", "k,i", SLOW),
        ("flight", "i", SHORT),
        ("flight", "k,j", Timing()),
    ],
)
def test_other_recurrences_run_too(name, space, timing, folder):
    sizes = {"n": 4, "m": 3} if name == "trisolve" else {}
    nest = read_recurrence(FLIGHT, name) if name == "flight" else nest_of(name, **sizes)
    check(folder, RecurrenceArray(nest, tuple(space.split(",")), timing))


def own(**parts):
    return read_recurrence(FLIGHT | parts, "own")


REFUSED = {
    "hop is 1, interval is 1; allowed: at least 2, and 1": (own(), Timing(hop=1)),
    "hop is 2, interval is 2; allowed: at least 2, and 1": (own(), Timing(interval=2)),
    "j == max(k, k, 0); allowed: min and max of two": (
        own(values={**FLIGHT["values"], "X": "A[k][i] if j == max(k, k, 0) else X[k][j-1][i]"}),
        Timing(),
    ),
    "S is needed after [0, 4] cycles; allowed: one number": (
        own(
            values={
                **FLIGHT["values"],
                "S": "X if k == 0 else S[k-1][j][i] - X * X if k == 1 else X * X - S[k-1][j][i] * X",
            }
        ),
        Timing(),
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_written_is_said(reason):
    nest, timing = REFUSED[reason]
    array = RecurrenceArray(nest, ("i",), timing)
    assert obstacles(RecurrenceConfiguration(array, {}, proven=False)) == (reason,)


@pytest.mark.parametrize("ends", [["2*j", "2*n"], ["j*j", "n*n"], ["j+max(0, j)", "2*n"]])
def test_bounds_that_hardware_cannot_count_are_said(ends):
    nest = own(loops={**FLIGHT["loops"], "i": ends})
    chosen = RecurrenceConfiguration(RecurrenceArray(nest, ("i",), Timing()), {}, proven=False)
    (reason,) = obstacles(chosen)
    assert reason.startswith("bounds of loops; allowed: sums of loops, where that of a PE is not")
