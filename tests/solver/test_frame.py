"""One frame of tables serves several objectives and limits of a design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.formulations.problem import Limit
from ithaca.formulations.space import Axis
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.column import Rows
from ithaca.solver.tables.frame import build_frame, lower_problem, relax
from tests.problems import MM_DATAFLOWS, mm_problem

OBJECTIVES = ("latency", "comm", "-comp", "comm - comp", "energy")


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_swapped_objectives_have_the_optima_of_their_own_models(dataflow: tuple[str, ...]) -> None:
    template = mm_problem((20, 12, 24), dataflow, dsp="200", bram18k="60")
    problems = [replace(template, objective=parse_objective(text)) for text in OBJECTIVES]
    frame = build_frame(problems)
    for problem in problems:
        model = frame.model(problem)
        assert all(a is b for a, b in zip(model.trees, frame.trees, strict=True))
        state = Search(model, SolveOptions()).run()
        assert state.value == state.lower_bound == solve_exact(problem).value


def test_limits_may_change_their_bounds() -> None:
    template = mm_problem((20, 12, 24), dsp="200", bram18k="60")
    frame = build_frame([replace(template, limits=(*template.limits, Limit("comm", Fraction(1))))])
    for bound in (900, 1500, 4000):
        problem = replace(template, limits=(*template.limits, Limit("comm", Fraction(bound))))
        assert Search(frame.model(problem), SolveOptions()).run().value == solve_exact(problem).value


def test_an_objective_that_the_tables_do_not_serve_is_refused() -> None:
    template = mm_problem((20, 12, 24))
    frame = build_frame([replace(template, objective=parse_objective("dsp"))])
    with pytest.raises(KeyError):
        frame.model(template)


def test_bounds_ask_for_the_rows_of_a_small_axis_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    rows = Axis.rows

    def counted(axis: Axis) -> Iterator[Rows]:
        asked.append(axis.name)
        return rows(axis)

    monkeypatch.setattr(Axis, "rows", counted)
    problem = replace(mm_problem((20, 12, 24), edition="cycle"), objective=parse_objective("energy*latency"))  # subtracts tiles
    lower_problem(problem, relax(problem.space))
    assert asked
    assert len(asked) == len(set(asked))
