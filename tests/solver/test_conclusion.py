"""Conclusions of searches: status, termination and gap from what is known at the end."""

from fractions import Fraction

import pytest

from ithaca.solver.certificate import Status, Termination
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from tests.problems import mm_problem

F = Fraction
LIMITED = SolveOptions(time_limit=1.0)
STOPPED = SolveOptions(time_limit=1.0, stop=lambda: True)
LOOSE = SolveOptions(gap=0.5, time_limit=1.0)


@pytest.mark.parametrize(
    ("value", "bound", "options", "ended", "status", "termination", "gap"),
    [
        (F(3), F(3), LIMITED, {}, Status.OPTIMAL, Termination.PROVEN, 0.0),
        (F(3), None, STOPPED, {"complete": True}, Status.OPTIMAL, Termination.PROVEN, 0.0),
        (None, F(7), LIMITED, {"complete": True}, Status.INFEASIBLE, Termination.PROVEN, None),
        (F(4), F(3), LIMITED, {}, Status.FEASIBLE, Termination.TIME_LIMIT, 0.25),
        (F(4), F(3), LOOSE, {}, Status.FEASIBLE, Termination.GAP, 0.25),
        (F(4), F(3), STOPPED, {}, Status.FEASIBLE, Termination.INTERRUPTED, 0.25),
        (F(4), F(3), LIMITED, {"exhausted": True}, Status.FEASIBLE, Termination.EXHAUSTED, 0.25),
        (F(4), F(3), SolveOptions(), {}, Status.FEASIBLE, Termination.EXHAUSTED, 0.25),
        (F(4), F(3), None, {}, Status.FEASIBLE, None, 0.25),
        (None, F(3), LIMITED, {}, Status.UNKNOWN, Termination.TIME_LIMIT, None),
        (F(0), F(-1), LIMITED, {}, Status.FEASIBLE, Termination.TIME_LIMIT, None),
    ],
)
def test_conclusions(
    value,
    bound,
    options,
    ended,
    status,
    termination,
    gap,
):
    certificate = conclude(value, bound, options, method="exact", **ended)
    assert (certificate.status, certificate.termination, certificate.gap) == (
        status,
        termination,
        gap,
    )
    if status is Status.OPTIMAL:
        assert certificate.lower_bound == value
    if status is Status.INFEASIBLE:
        assert certificate.lower_bound is None


@pytest.mark.parametrize("method", [Method.AUTO, Method.EXACT, "cpsat"])
def test_engines_say_why_they_ended(method):
    problem = mm_problem((24, 20, 16))
    assert engine(method)(problem).certificate.termination is Termination.PROVEN
    assert (
        engine(method)(problem, SolveOptions(time_limit=0.0)).certificate.termination
        is Termination.TIME_LIMIT
    )
    stopped = engine(method)(problem, SolveOptions(stop=lambda: True)).certificate
    assert stopped.termination is Termination.INTERRUPTED
    rough = engine(method)(problem, SolveOptions(gap=0.9)).certificate
    assert rough.termination in (Termination.GAP, Termination.PROVEN)
    assert (rough.termination is Termination.PROVEN) == (rough.status is Status.OPTIMAL)


def test_more_time_is_asked_for_only_where_it_may_help():
    late, through = (
        conclude(None, F(3), LIMITED, method="staged", exhausted=exhausted).failure
        for exhausted in (False, True)
    )
    assert late.endswith("allow more time")
    assert "time" not in through
    assert "another one may tell more" in through
