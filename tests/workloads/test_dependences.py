"""Dependences from accesses."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.dependences import DependenceKind, dependences, far_dependences, null_space
from ithaca.workloads.library import workload
from ithaca.workloads.statement import parse_statement


def test_mm_reuses_each_array_along_the_loop_that_does_not_index_it():
    found = {(d.kind, d.tensor): d.distance for d in dependences(workload("mm"))}
    assert found == {
        (DependenceKind.READ, "A"): (0, 1, 0),
        (DependenceKind.READ, "B"): (1, 0, 0),
        (DependenceKind.FLOW, "C"): (0, 0, 1),
        (DependenceKind.OUTPUT, "C"): (0, 0, 1),
    }


def test_a_convolution_window_slides():
    nest = workload("conv2d")
    position = {loop: n for n, loop in enumerate(nest.loops)}
    window = next(
        d.distance for d in dependences(nest) if d.tensor == "cin" and d.distance[position["p"]]
    )
    assert abs(window[position["r"]]) == 1
    assert window[position["r"]] == -window[position["p"]]


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2), (2, 3), (2, 2)])
def test_a_strided_window_slides_by_its_stride(stride, dilation):
    nest = workload("conv2d", {"s": stride, "d": dilation})
    (rows,) = (
        d.distance
        for d in dependences(nest)
        if d.tensor == "cin" and d.distance[nest.loops.index("p")]
    )
    common = 2 if stride == dilation == 2 else 1
    assert rows[nest.loops.index("r")] == dilation // common
    assert rows[nest.loops.index("p")] == -stride // common
    assert not far_dependences(nest)  # the window runs inside the PE
    tiled = replace(nest, untiled=frozenset(), parameters=(), template="")
    assert set(far_dependences(tiled)) == {
        x for x in "rcpq" if (dilation if x in "rc" else stride) // common > 1
    }


@pytest.mark.parametrize(
    ("subscripts", "loops", "vectors"),
    [
        ("2*i+j+k", ("i", "j", "k"), [(0, 1, -1), (1, -1, -1)]),
        ("6*i+10*j+15*k", ("i", "j", "k"), [(0, 3, -2), (5, 0, -2)]),
        ("i+j][j+k", ("i", "j", "k"), [(1, -1, 1)]),
        ("i", ("i", "j", "k"), [(0, 1, 0), (0, 0, 1)]),
        ("2*i+3*j", ("i", "j", "k"), [(3, -2, 0), (0, 0, 1)]),
        ("2*i+p", ("i", "j", "p"), [(0, 1, 0), (1, 0, -2)]),
        ("i][j][p", ("i", "j", "p"), []),
    ],
)
def test_null_space(subscripts, loops, vectors):
    _, (access,) = parse_statement(f"y[0] += x[{subscripts}]")
    assert sorted(null_space(access, loops)) == sorted(vectors)


LOOPS = ("i", "j", "k", "l")
EXTENT = 3

subscripts = st.lists(st.integers(-3, 3), min_size=4, max_size=4).map(
    lambda cs: Affine(tuple((loop, c) for loop, c in zip(LOOPS, cs, strict=True) if c), 1)
)


@settings(max_examples=60)
@given(st.lists(subscripts, min_size=1, max_size=3))
def test_the_basis_generates_exactly_the_distances_that_occur(forms):
    """Every pair of iterations of a small nest is looked at: do they touch the same element?"""
    access = Access("x", tuple(forms))
    iterations = list(product(range(EXTENT), repeat=len(LOOPS)))
    elements = {}
    for iteration in iterations:
        at = dict(zip(LOOPS, iteration, strict=True))
        element = tuple(s.constant + sum(c * at[loop] for loop, c in s.terms) for s in forms)
        elements.setdefault(element, []).append(iteration)
    occurring = {
        tuple(a - b for a, b in zip(one, other, strict=True))
        for touching in elements.values()
        for one in touching
        for other in touching
    }
    basis = null_space(access, LOOPS)
    for distance in product(range(1 - EXTENT, EXTENT), repeat=len(LOOPS)):
        assert _is_combination(distance, basis) == (distance in occurring), (distance, basis)


def _is_combination(vector, basis):
    """Whether a vector is an integer combination of linearly independent ones (Gaussian
    elimination)."""
    rows = [[Fraction(b[i]) for b in basis] + [Fraction(vector[i])] for i in range(len(vector))]
    done = 0
    for column in range(len(basis)):
        pivot = next(r for r in range(done, len(rows)) if rows[r][column])
        rows[done], rows[pivot] = rows[pivot], rows[done]
        rows[done] = [v / rows[done][column] for v in rows[done]]
        for r in range(len(rows)):
            if r != done:
                rows[r] = [
                    a - rows[r][column] * b for a, b in zip(rows[r], rows[done], strict=True)
                ]
        done += 1
    return all(not row[-1] for row in rows[done:]) and all(
        row[-1].denominator == 1 for row in rows[:done]
    )
