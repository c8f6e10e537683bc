"""Limits on totals that the objective does not follow: kept from the start, by enumeration."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.formulations.problem import Limit, Objective
from ithaca.plugins.codesign.studies import search
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign, make_bank
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import HardwarePoint
from ithaca.plugins.codesign.studies.within_limits import apart, begin
from ithaca.solver.certificate import Status
from tests.plugins.codesign.studies.toy import brute_force, expression, random_question


def limited(seed, objective, metric, slack):
    """The least of an objective where a metric's total may be little more than its least; None
    where no accelerator keeps the other limits."""
    drawn = random_question(seed)
    works = tuple(
        replace(work, weight=Fraction(1 + place), workload="one")
        for place, work in enumerate(drawn.works[:2])
    )
    own = tuple(limit for limit in drawn.limits if limit.metric == "area")
    counted = tuple(replace(work, weight=Fraction(1)) for work in works)
    least = CodesignQuestion(drawn.space, counted, (Objective(metric, expression(metric)),), own)
    found = brute_force(least)
    if not found:
        return None
    bound = Limit(metric, min(found)[0] * (1 + slack))
    return CodesignQuestion(
        drawn.space, works, (Objective(objective, expression(objective)),), (*own, bound)
    )


PAIRS = [("energy", "latency"), ("latency", "energy"), ("area", "latency"), ("traffic", "energy")]


@pytest.mark.parametrize("slack", [Fraction(0), Fraction(1, 7)])
@pytest.mark.parametrize("seed", range(24))
def test_what_just_keeps_a_limit_is_found_first_and_the_best_of_it_proven(seed, slack, monkeypatch):
    question = limited(seed, *PAIRS[seed % len(PAIRS)], slack)
    if question is None:
        return
    (expected,), known = brute_force(question), list[HardwarePoint]()

    def watched(candidates, *others):
        ended = begin(candidates, *others)
        known.extend(candidates.points)
        return ended

    monkeypatch.setattr(search, "begin", watched)
    result = codesign(question)
    assert (result.value, result.certificate.status) == (expected[0], Status.OPTIMAL)
    assert result.certificate.method == f"boxes, begun with least {question.limits[-1].metric}"
    assert known
    for point in known:
        assert point.values >= expected
        assert all(a.bound is None or point.total(a) <= a.bound for a in question.limited)


def test_questions_whose_limits_the_objective_follows_begin_as_ever():
    drawn = limited(1, "latency", "latency", Fraction(1))
    assert drawn is not None
    assert not apart(drawn)
    assert codesign(drawn).certificate.method == "boxes"


@pytest.mark.parametrize("seed", range(8))
def test_starts_that_exceed_a_limit_as_the_objective_likes_them_are_mapped_within_it(
    seed,
):
    question = limited(seed, "energy", "latency", Fraction(0))
    if question is None:
        return
    (point,) = brute_force(question).values()
    boxes = search.BoxSearch(question, make_bank(question, CodesignOptions()))
    boxes.take(point)
    assert boxes.points
