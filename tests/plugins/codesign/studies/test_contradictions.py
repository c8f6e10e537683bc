"""Limits and requirements that no accelerator keeps, drawn: what is said of them against all
accelerators with all mappings."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest

import ithaca
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.codesign import codesign
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.solver.certificate import Status
from ithaca.solver.reasons import CONTRADICTION
from ithaca.solver.shortfall import Shortfall
from tests.plugins.codesign.studies.toy import enumerated, random_question

METRICS = ("area", "price", "latency", "energy", "traffic")
REQUIREMENTS = ("size >= 2*wires", "area == size + 2*wires", "skew <= 2", "wires >= 2")


def everything(question):
    """Amounts that the limits of a question bound, of every accelerator with every mapping."""
    space, values = question.space, []
    ways = (False, True) if space.accelerator.both else (False,)
    for place in product(*(quantity.values for quantity in space.quantities)):
        point = Configuration(dict(zip((q.name for q in space.quantities), place, strict=True)))
        if not all(rule.allows(point) for rule in space.rules):
            continue
        figures = {name: figure.at(point) for name, figure in space.figures.items()}
        hardware = {**point, **{name: figure.at(point) for name, figure in space.costs.items()}}
        sums = {()}
        for work in question.works:
            n, k = work.nest.sizes.values()
            runs = [m for steep in ways for m in enumerated(n, k, figures, steep=steep)]
            own = {tuple(work.count * m[name] for name in METRICS[2:]) for m in runs}
            sums = {
                tuple(map(sum, zip(known, run, strict=True))) if known else run
                for known, run in product(sums, own)
            }
        for totals in sums:
            known = {**hardware, **dict(zip(METRICS[2:], totals, strict=True))}
            values.append(
                [Fraction(x.expression.evaluate(known, FRACTION)) for x in question.limits]
            )
    return values


def drawn(seed):
    """A question of two to four limits near the least there is, and perhaps requirements."""
    draw, whole = Random(seed), random_question(seed)
    works = [replace(w, workload="one", weight=Fraction(1)) for w in whole.works[:2]]
    names = draw.sample(METRICS, draw.randint(2, 4))
    rules = draw.sample(REQUIREMENTS, draw.choice((0, 0, 1, 2)))

    def posed(bounds):
        return make_question(whole.space, works, [draw.choice(METRICS[2:])], bounds)

    limits = dict.fromkeys((*names, *rules), Fraction(0))
    rows = everything(posed(limits))
    for place, name in enumerate(names):
        least = sorted({row[place] for row in rows}) or [Fraction(1)]
        bound = draw.choice(least[: draw.choice((1, 2, 6))])
        limits[name] = max(bound - Fraction(draw.choice((0, 0, 0, 1)), 2), Fraction(0))
    return posed(limits)


def check(seed):
    """Whether the limits of a seed contradict each other, where what is said is so."""
    question = drawn(seed)
    rows, names = everything(question), [limit.metric for limit in question.limits]

    def left(kept):
        return [
            row
            for row in rows
            if all(
                value <= limit.bound
                for value, limit in zip(row, question.limits, strict=True)
                if limit.metric in kept
            )
        ]

    result = codesign(question)
    if left(names):
        assert result.certificate.status is Status.OPTIMAL, seed
        return False
    assert result.certificate.status is Status.INFEASIBLE, seed
    assert "\n" not in result.failure
    for fall in result.shortfalls:
        place = names.index(fall.metric)
        others = {*names} - {fall.metric} if fall.others_kept else set()
        least = min((row[place] for row in left(others)), default=None)
        if fall.smallest is not None:
            by = fall.bound if fall.metric not in METRICS else 0
            assert least is not None, (seed, fall)
            assert fall.bound < fall.smallest <= least - by, (seed, fall, least)
            assert not fall.proven or fall.smallest == least - by, (seed, fall, least)
    # every limit that would do alone is named, or open
    for name in names:
        if left({*names} - {name}):
            assert name in {fall.metric for fall in result.shortfalls}, (seed, name, result.failure)
    if CONTRADICTION.partition("limits ")[2] in result.failure:
        listed = result.failure.partition("limits ")[2].partition(" contradict")[0].split(" and ")
        assert not left(listed), (seed, result.failure)
        assert result.failure.endswith("is not enough")
        for name in listed:
            assert left({*listed} - {name}), (seed, name, result.failure)
    else:
        assert ("whatever the limits" in result.failure) == (not rows), (seed, result.failure)
        assert result.shortfalls or not rows, (seed, result.failure)
    return True


@pytest.mark.parametrize(
    "draws",
    [pytest.param(5, marks=pytest.mark.ci), pytest.param(150, marks=pytest.mark.slow)],
)
def test_drawn_contradictions_of_accelerators_are_named(draws):
    assert sum(map(check, range(draws))) > draws / 4


@pytest.mark.ci
def test_a_limit_below_what_the_largest_mesh_takes_is_named_without_a_search():
    result = ithaca.codesign("hasco-conv", limit={"latency": 1e6})
    (fall,) = result.shortfalls
    work = sum(each.factor * each.nest.operations for each in result.question.works)
    assert (fall.metric, fall.smallest) == ("latency", work / 32**2)
    assert (result.counts.boxes, result.counts.layers) == (1, 0)


@pytest.mark.ci
def test_contradictions_too_large_to_look_at_are_said_to_be_perhaps_smaller(monkeypatch):
    monkeypatch.setattr("ithaca.plugins.codesign.studies.infeasible.BOXES", 0)
    failures = (codesign(drawn(seed)).failure for seed in range(12))
    assert any("perhaps not all of them" in failure for failure in failures)


@pytest.mark.ci
def test_limits_of_which_none_is_known_to_help_are_named_together():
    answers = (codesign(drawn(seed)) for seed in range(12))
    answer = next(each for each in answers if each.certificate.status is Status.INFEASIBLE)
    open_ = Shortfall(answer.question.limits[0].metric, Fraction(1), None, True, False, "toy")
    names = " and ".join(limit.metric for limit in answer.question.limits)
    line = replace(answer, shortfalls=(open_,), contradictory=None).failure
    assert line.startswith(f"infeasible: no accelerator meets the limits {names} together; whether")
