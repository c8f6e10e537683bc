"""Dependences from accesses."""

from __future__ import annotations

import pytest

from ithaca.workloads.dependences import DependenceKind, dependences, null_space
from ithaca.workloads.library import workload
from ithaca.workloads.statement import parse_statement


def test_mm_reuses_each_array_along_the_loop_that_does_not_index_it() -> None:
    found = {(d.kind, d.array): d.distance for d in dependences(workload("mm"))}
    assert found == {
        (DependenceKind.READ, "A"): (0, 1, 0),
        (DependenceKind.READ, "B"): (1, 0, 0),
        (DependenceKind.FLOW, "C"): (0, 0, 1),
        (DependenceKind.OUTPUT, "C"): (0, 0, 1),
    }


def test_a_convolution_window_slides() -> None:
    nest = workload("conv2d")
    position = {loop: n for n, loop in enumerate(nest.loops)}
    window = next(d.distance for d in dependences(nest) if d.array == "cin" and d.distance[position["p"]])
    assert abs(window[position["r"]]) == 1
    assert window[position["r"]] == -window[position["p"]]


@pytest.mark.parametrize(
    ("subscripts", "loops", "vectors"),
    [
        ("i", ("i", "j", "k"), [(0, 1, 0), (0, 0, 1)]),
        ("2*i+3*j", ("i", "j", "k"), [(3, -2, 0), (0, 0, 1)]),
        ("2*i+p", ("i", "j", "p"), [(0, 1, 0), (1, 0, -2)]),
        ("i][j][p", ("i", "j", "p"), []),
    ],
)
def test_null_space(subscripts: str, loops: tuple[str, ...], vectors: list[tuple[int, int, int]]) -> None:
    _, (access,) = parse_statement(f"y[0] += x[{subscripts}]")
    assert sorted(null_space(access, loops)) == sorted(vectors)
