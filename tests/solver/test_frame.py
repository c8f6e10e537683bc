"""Tables of a problem's candidates are built without asking twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ithaca.formulations.space import Axis
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.solver.tables.column import Rows
from ithaca.solver.tables.frame import lower_problem, relax
from tests.problems import mm_problem


def test_bounds_ask_for_the_rows_of_a_small_axis_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = Axis.rows

    def counted(axis: Axis) -> Iterator[Rows]:
        asked.append(axis.name)
        return rows(axis)

    monkeypatch.setattr(Axis, "rows", counted)
    problem = replace(
        mm_problem((20, 12, 24), edition="cycle"), objective=parse_objective("energy*latency")
    )  # subtracts tiles
    lower_problem(problem, relax(problem.space))
    assert asked
    assert len(asked) == len(set(asked))
