"""Tables of a problem's candidates are built without asking twice."""

from dataclasses import replace

from ithaca.formulations.space import Axis
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.solver.tables.frame import lower, lower_problem, relax
from ithaca.solver.tables.relaxation import Relaxation
from tests.problems import mm_problem


def test_bounds_ask_for_the_rows_of_a_small_axis_once(monkeypatch):
    asked = []
    rows = Axis.rows

    def counted(axis):
        asked.append(axis)
        return rows(axis)

    monkeypatch.setattr(Axis, "rows", counted)
    problem = replace(
        mm_problem((20, 12, 24), edition="cycle"), objective=parse_objective("energy*latency")
    )  # subtracts tiles
    lower(problem, relax(problem.space))
    assert asked  # corners of axes at least, of a few rows each
    whole = [axis.name for axis in asked if axis in problem.space.axes]
    assert len(whole) == len(set(whole))


def lowered_anew(problem):
    return lower(problem, relax(problem.space))


def test_layers_of_one_design_share_what_is_compiled():
    one, other = (mm_problem(sizes, edition="cycle") for sizes in ((20, 12, 24), (64, 12, 8)))
    assert lower_problem(one) is lower_problem(other)
    for problem in (one, other):
        shared, own = lower_problem(problem), lowered_anew(problem)
        assert shared.objective == own.objective
        assert shared.columns == own.columns
        assert (shared.limits == own.limits).all()


def test_what_rows_decide_is_not_shared(monkeypatch):
    problem = mm_problem((20, 12, 24), edition="cycle")
    lowered = lower_problem(problem)
    monkeypatch.setattr(
        Relaxation, "sign", lambda self, *question: self.signs.setdefault(question, -1.0)
    )
    assert lower_problem(problem) is not lowered
    monkeypatch.undo()
    assert lower_problem(problem) is lowered


def test_products_of_sums_are_multiplied_out_once():
    problem = replace(mm_problem((64, 64, 64)), objective=parse_objective("energy*latency"))
    alike = replace(problem, limits=())
    assert lowered_anew(problem).objective == lowered_anew(alike).objective
