"""Products of sums over layers, and objectives in order, of accelerators and mappings together."""

import random
from dataclasses import replace
from itertools import count

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.problem import read_objective
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign, make_bank
from ithaca.plugins.codesign.studies.floors import least_product
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from tests.plugins.codesign.studies.toy import ToyAccelerator, brute_force, layer, random_question


def asked(seed, *objectives):
    """A random space with two layers, and other objectives."""
    draw, random_one = random.Random(seed), random_question(seed)
    works = [
        layer(draw.randint(2, 5), draw.randint(1, 4), count=draw.randint(1, 3), workload="one")
        for _ in range(2)
    ]
    limits = {x.metric: x.bound for x in random_one.limits if x.metric == "area"}
    return make_question(random_one.space, works, list(objectives), limits)


def least(question, *texts):
    """Every vector of sums that no accelerator with its mappings dominates."""
    objectives = tuple(read_objective(text, "", None) for text in texts)
    return sorted(brute_force(replace(question, objectives=objectives)))


def check_product(seed):
    question = asked(seed, "edp")
    front = least(question, "energy", "latency")
    result = codesign(question)
    if not front:
        assert result.certificate.status is Status.INFEASIBLE
        return
    expected = min(energy * latency for energy, latency in front)
    assert (result.value, result.certificate.lower_bound) == (expected, expected)
    assert result.certificate.status is Status.OPTIMAL
    assert result.best.total(question.minimised[0]) == expected


def check_order(seed):
    question = asked(seed, "latency,energy")
    front = least(question, "latency", "energy")
    result = codesign(question)
    if not front:
        assert result.certificate.status is Status.INFEASIBLE
        return
    then = result.certificate.then
    assert (result.value, then.value) == front[0]
    assert (result.certificate.lower_bound, then.certificate.lower_bound) == front[0]


@pytest.mark.parametrize("seed", range(60))
def test_products_and_orders_are_those_of_all_accelerators(seed):
    check_product(seed)
    check_order(seed)


def test_an_interrupted_product_has_an_honest_bound():
    whole = codesign(asked(3, "edp"))
    for limit in (0.0, 0.01, 0.1):
        part = codesign(asked(3, "edp"), CodesignOptions(SolveOptions(time_limit=limit)))
        bound = part.certificate.lower_bound
        assert whole.value is None or bound is None or bound <= whole.value
        assert part.value is None or whole.value is None or part.value >= whole.value


@pytest.mark.parametrize("seed", range(12))
def test_a_product_has_a_bound_before_any_layer_is_searched(seed):
    question = asked(seed, "edp")
    staged = replace(question.space, accelerator=ToyAccelerator(seed % 2 > 0, staged=True))
    question = replace(question, space=staged)
    factors, looks = question.minimised[0].factors, count()
    assert factors is not None
    bank = make_bank(question, CodesignOptions())
    floor = least_product(question, factors, bank, lambda: next(looks) < 0)
    front = least(question, "energy", "latency")
    if not front:
        return
    assert 0 < floor <= min(energy * latency for energy, latency in front)
    assert not bank.asks
    steps, most = count(), next(looks)
    options = SolveOptions(stop=lambda: next(steps) > most)
    bound = codesign(question, CodesignOptions(options)).certificate.lower_bound
    assert floor <= bound


def test_an_interrupted_order_says_what_is_left_of_it():
    question, unproven = asked(0, "latency,energy"), 0
    whole = codesign(question).certificate
    for most in (100, 400, 800, 1200, 1600, 2400, 3200, 4800, 6400):
        steps = count()
        options = SolveOptions(stop=lambda steps=steps, most=most: next(steps) > most)
        part = codesign(question, CodesignOptions(options))
        if part.certificate.status is Status.OPTIMAL:
            then = part.certificate.then
            assert then.value >= whole.then.value >= (then.certificate.lower_bound or 0)
            assert part.complete == then.certificate.settled
            unproven += not part.complete
    assert unproven


@pytest.mark.parametrize(
    "objectives", [("edp/price",), ("edp", "area"), ("latency*traffic*energy",)]
)
def test_other_products_of_several_layers_are_refused(objectives):
    with pytest.raises(InputError, match="products over layers"):
        asked(1, *objectives)
    assert asked(1, f"sum({objectives[0]})").minimised[0].factors is None
