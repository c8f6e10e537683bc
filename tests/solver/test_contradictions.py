"""Limits that contradict each other, drawn: what is said of them against enumeration."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.problem import Limit
from ithaca.solver.certificate import Status
from ithaca.solver.infeasibility import why_infeasible
from ithaca.solver.portfolio import solve_design
from ithaca.solver.reasons import CONTRADICTION, contradiction
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.solver.enumeration import objectives_of_all

METRICS = ("dsp", "bram18k", "latency", "power", "energy", "bandwidth", "comm")


def rules(draw, problem):
    """Requirements that fix tiles or lanes, or tie them together, few of which go together."""
    one, other = draw.sample("ijk", 2)
    number = draw.randint(1, 4)
    texts = (
        f"t1.{one} == {number}",
        f"tiles.{one} <= {number - 1}",
        f"lanes.{one} >= {number + 1}",
        f"t1.{one} >= t1.{other} + {number}",
        f"t1.{other} >= 2*t1.{one}",
        f"t2.k*{number} >= dsp",
    )
    return [Limit(text, Fraction(0)) for text in draw.sample(texts, draw.randint(1, 2))]


def drawn(seed, *, required=False):
    """A small product, limits on some metrics, each near the least there is, perhaps requirements,
    and what all of its configurations take up of each, of shape (limit, configuration)."""
    draw = Random(seed)
    problem = mm_problem(
        [draw.randint(1, 3) for _ in "ijk"],
        draw.choice(MM_DATAFLOWS),
        edition=draw.choice(("cycle", "exact")),
    )
    problem = replace(problem, limits=())
    metrics = draw.sample(METRICS, draw.randint(0 if required else 2, 2 if required else 4))
    limits = rules(draw, problem) if required else []
    expressions = [*map(Symbol, metrics), *(rule.expression for rule in limits)]
    values = np.concatenate([*objectives_of_all(problem, expressions)], axis=1)
    bounds = []
    for metric, own in zip(metrics, values[: len(metrics)], strict=True):
        known = np.unique(own)[: draw.choice((1, 3, 10))]
        places = [0.5 * known[0], *(0.5 * (a + b) for a, b in pairwise(known) if b > a * 1.001)]
        bounds.append(Limit(metric, Fraction(draw.choice(places[-3:])).limit_denominator(1 << 40)))
    return replace(problem, limits=(*bounds, *limits)), values


def meets(values, problem, metrics):
    """The configurations that meet the limits on some metrics."""
    return np.logical_and.reduce(
        [
            row <= float(limit.bound)
            for row, limit in zip(values, problem.limits, strict=True)
            if limit.metric in metrics
        ],
        initial=True,
    ) * np.ones(values.shape[1], bool)


def check(seed, *, required=False):
    """Whether the limits of a seed contradict each other, and what is said is so."""
    problem, values = drawn(seed, required=required)
    names = {limit.metric for limit in problem.limits}
    solution = solve_design(problem)
    if meets(values, problem, names).any():
        assert solution.certificate.status is Status.OPTIMAL, seed
        return False
    assert solution.certificate.status is Status.INFEASIBLE, seed
    for fall in solution.shortfalls:
        others = names - {fall.metric} if fall.others_kept else ()
        place = [limit.metric for limit in problem.limits].index(fall.metric)
        left = values[place][meets(values, problem, others)]
        # also of what is refuted without a search, the others can be met where a value is named
        assert left.size or fall.smallest is None, (seed, fall)
        if left.size and fall.smallest is not None:
            assert float(fall.smallest) <= left.min() * (1 + 1e-9), (seed, fall)
            if fall.proven:
                assert float(fall.smallest) >= left.min() * (1 - 1e-9), (seed, fall)
    why = why_infeasible([problem], solution.shortfalls)
    if CONTRADICTION.partition("limits ")[2] in why:
        named = [name for name in names if f" {name} " in why]
        assert why == contradiction([x.metric for x in problem.limits if x.metric in named])
        assert not meets(values, problem, named).any(), (seed, why)
        for name in named:
            assert meets(values, problem, {*named} - {name}).any(), (seed, why)
    else:
        assert solution.shortfalls
    return True


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize(
    "draws",
    [pytest.param(20, marks=pytest.mark.ci), pytest.param(300, marks=pytest.mark.slow)],
)
def test_drawn_contradictions_are_named_and_nothing_else_is(draws, required):
    assert sum(check(seed, required=required) for seed in range(draws)) > draws / 4
