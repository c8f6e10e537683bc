"""Tables of a problem's candidates are built without asking twice."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ithaca.formulations.algebra.expression import Symbol, multiply
from ithaca.formulations.problem import read_objective
from ithaca.formulations.space import Axis
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.tables.cuts import floors_of
from ithaca.solver.tables.frame import lower, lower_problem, relax
from ithaca.solver.tables.relaxation import Relaxation
from tests.problems import mm_problem
from tests.whole_spaces import every_row


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


def test_rules_say_what_products_are_no_less_than():
    problem = mm_problem((64, 64, 64))
    rules = [rule for rule, bound in problem.symbolic().constraints if not bound]
    ((part, least),) = floors_of(rules)
    assert {str(base): exponent for base, exponent in part.items()} == {"t2.i": 1, "t2.j": 1}
    assert str(least) == "8·t2.k"
    # what one of several is no less than has no part of another
    assert not [*floors_of([as_rule("x", "y", "z"), as_rule("y", "z", "x")])]


def as_rule(needs, *factors):
    return Symbol(needs) - multiply(*map(Symbol, factors))


@cache
def of_few():
    """A problem with a rule t2_i t2_j >= 8 SIMD, and all its configurations that keep it."""
    problem = replace(mm_problem((4, 6, 4), space=SpaceOptions(divisors_only=True)), limits=())
    rows = every_row(problem.space)
    return problem, [row for row in rows if problem.feasible_value(row) is not None]


#: Factors of either sign, and what a rule speaks of: whole, in parts, and in divisors.
FACTORS = (
    *("t2.i", "t2.j", "1/t2.i", "t2.k", "1/t2.k", "t1.i", "tiles.j", "lanes.k"),
    *("(lanes.i - 2)", "(3 - tiles.k)", "ceil(t2.j/3)", "max(t2.i*lanes.j, 3)", "(t2.i - t2.k)"),
)
TERMS = st.tuples(
    st.sampled_from((1, 1, 2, -1, -3)), st.lists(st.sampled_from(FACTORS), max_size=3)
).map(lambda term: "*".join([f"({term[0]})", "t2.i*t2.j", *term[1]]))


@pytest.mark.ci
@given(st.lists(TERMS, min_size=1, max_size=3).map(" + ".join))
@example("(1)*t2.i*t2.j*(lanes.i - 2)*(3 - tiles.k)")
@example("(2)*t2.i*t2.j*1/t2.i + (-1)*t2.i*t2.j*(t2.i - t2.k)")
def test_optima_hold_what_rules_want_of_products_of_any_sign(text):
    problem, rows = of_few()
    objective = read_objective(text, "objective", problem.design.names)
    problem = replace(problem, objective=objective)
    assert solve_exact(problem).value == min(map(problem.value, rows))
