"""Coordinates and the objective agree with the reference, whatever the design."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.plugins.peers.studies.coordinates import Coordinates
from ithaca.plugins.peers.studies.evaluator import INFEASIBLE, Evaluator, SettledError
from ithaca.plugins.peers.studies.recorder import (
    BudgetUsedError,
    Ended,
    Improvement,
    Recorder,
    SampleBudget,
    Trace,
)
from ithaca.plugins.seeds.exports.parameters import score_configuration
from tests.problems import mm_points, mm_problem
from tests.refusals import refusals


def evaluator_of(problem, budget=None):
    return Evaluator(Recorder(problem, budget or SampleBudget(samples=10**6)))


@given(point=mm_points())
@settings(max_examples=60)
def test_configurations_survive_their_coordinates(point):
    problem, configuration = point
    coordinates = Coordinates(problem)
    if not problem.space.contains(
        configuration
    ):  # packs that depend on several loops were drawn independently
        return
    encoded = coordinates.encode(configuration)[None]
    for points in (encoded, coordinates.of_units(coordinates.to_units(encoded))):
        genes, legal = coordinates.decode(points)
        assert legal.all()
        assert coordinates.genome.decode(genes[:, 0]) == configuration


@given(point=mm_points(), seed=st.integers(0, 9))
@settings(max_examples=40)
def test_scores_are_those_of_the_reference(point, seed):
    problem, _ = point
    evaluator = evaluator_of(problem)
    coordinates = evaluator.coordinates
    points = coordinates.of_units(np.random.default_rng(seed).random((20, coordinates.count)))
    genes, legal = coordinates.decode(points)
    scores = evaluator.points(points)
    for index in np.flatnonzero(legal):
        configuration = coordinates.genome.decode(genes[:, index])
        assert problem.space.contains(configuration)
        value, violation = score_configuration(problem, configuration)
        assert scores.objective[index] == pytest.approx(float(value), rel=1e-12)
        assert (scores.excess[index] == 0) == (violation == 0)
        assert (scores.cost[index] > INFEASIBLE) == (violation > 0) or scores.excess[index] < 1e-9


def test_any_point_of_the_cube_is_a_configuration_and_all_values_are_reached():
    coordinates = Coordinates(mm_problem((40, 24, 32), edition="odyssey"))
    assert [c.name for c in coordinates.all] == [
        "t2_i",
        "lanes_i",
        "t2_j",
        "lanes_j",
        "simd",
        "lanes_k",
    ]
    for coordinate in coordinates.all:
        places = np.linspace(0.0, 1.0, 200_001)
        assert np.array_equal(
            np.unique(coordinate.of_unit(places)), np.arange(coordinate.low, coordinate.high + 1)
        )
    beyond = np.array([[1e9] * coordinates.count, [-3.0] * coordinates.count])
    assert coordinates.decode(beyond.astype(np.int64))[1].all()


def test_the_graded_cost_orders_feasible_ones_by_value_and_others_by_excess():
    evaluator = evaluator_of(mm_problem((64, 64, 64), edition="odyssey"))
    units = np.random.default_rng(0).random((400, evaluator.coordinates.count))
    scores = evaluator.units(units)
    feasible = scores.excess == 0
    assert 0 < feasible.sum() < feasible.size
    assert scores.cost[feasible].max() < scores.cost[~feasible].min()
    assert np.array_equal(
        np.argsort(scores.cost[feasible], kind="stable"),
        np.argsort(scores.objective[feasible], kind="stable"),
    )
    assert (np.diff(scores.cost[~feasible][np.argsort(scores.excess[~feasible])]) >= 0).all()


def test_what_was_scored_before_is_free_until_nothing_new_comes():
    evaluator = evaluator_of(mm_problem((16, 16, 16)), SampleBudget(samples=50))
    points = evaluator.coordinates.of_units(
        np.random.default_rng(1).random((5, evaluator.coordinates.count))
    )
    first = evaluator.points(points)
    used = evaluator.recorder.samples
    assert used <= 5
    again = evaluator.points(points[::-1])
    assert evaluator.recorder.samples == used
    assert np.array_equal(again.objective, first.objective[::-1])
    with pytest.raises(SettledError):
        evaluator.points(np.tile(points, (100, 1)))


def test_a_batch_beyond_the_budget_is_scored_in_part():
    evaluator = evaluator_of(mm_problem((64, 64, 64), edition="odyssey"), SampleBudget(samples=37))
    units = np.random.default_rng(2).random((100, evaluator.coordinates.count))
    with pytest.raises(BudgetUsedError) as caught:
        evaluator.units(units)
    assert caught.value.ended is Ended.SAMPLES
    assert evaluator.recorder.samples == 37
    assert evaluator.recorder.value is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *refusals("studies-peers-evaluator", "budgets_that_mean_nothing_are_refused"),
        ({"seconds": float("nan")}, "budget.seconds is 'nan'"),
        ({"seconds": float("inf")}, "budget.seconds is 'inf'"),
    ],
)
def test_budgets_that_mean_nothing_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        SampleBudget(**arguments)


def test_traces_tell_what_was_known_when():
    found = (Improvement(3, 0.5, Fraction(9)), Improvement(8, 2.0, Fraction(7)))
    trace = Trace("random", 0, found, 20, 5.0, None, Ended.SAMPLES)
    assert [trace.value_at(n) for n in (2, 3, 7, 8, 99)] == [None, 9, 9, 7, 7]
    assert [trace.value_at(seconds=s) for s in (0.1, 0.5, 1.9, 2.0)] == [None, 9, 9, 7]
    assert trace.value == 7
    assert Trace("random", 0, (), 20, 5.0, None, Ended.SAMPLES).value is None
