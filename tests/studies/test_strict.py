""" "Strictly less" as "at most": nothing lies between a value and the bound below it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.formulations.design_space import axes, candidate_rows, tiling_of
from ithaca.formulations.objectives import parse_objective
from ithaca.studies.strict import largest_below
from tests.problems import MM_DATAFLOWS, mm_problem

OBJECTIVES = (
    "latency",
    "energy",
    "edp",
    "power",
    "-throughput",
    "power + latency/3",
    "max(power, dsp/latency)",
    "latency/bram18k",
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(OBJECTIVES),
    st.sampled_from(MM_DATAFLOWS),
    st.sampled_from("ABC"),
    st.sampled_from(["exact", "odyssey"]),
    st.sampled_from(["fp32", "int8"]),
    st.data(),
)
def test_every_smaller_value_is_at_most_the_bound(
    text: str, dataflow: tuple[str, ...], permutation: str, edition: str, dtype: str, data: st.DataObject
) -> None:
    problem = mm_problem((6, 5, 4), dataflow, permutation, edition, dtype=dtype)
    objective = parse_objective(text)
    below = largest_below(problem, objective)
    values = set()
    for _ in range(6):
        chosen: dict[str, int] = {}
        for axis in axes(problem.array):
            rows = next(iter(candidate_rows(problem, axis)))
            index = data.draw(st.integers(0, next(iter(rows.values())).size - 1))
            chosen |= {name: int(column[index]) for name, column in rows.items()}
        values.add(objective.value(problem.costs(tiling_of(problem.array, chosen))))
    ordered = sorted(values)
    for value in ordered:
        assert below(value) < value
    for smaller, larger in pairwise(ordered):
        assert smaller <= below(larger)


@pytest.mark.parametrize(("text", "bound"), [("latency", 99), ("2*dsp", 90), ("latency - 7", 99)])
def test_on_a_grid_the_bound_is_the_next_grid_point(text: str, bound: int) -> None:
    problem = mm_problem((6, 5, 4), ("i",))
    grid = largest_below(problem, parse_objective(text))(100)  # type: ignore[arg-type]
    assert bound <= grid < 100
