"""Tiers of tests: what is fast keeps to its budgets as recorded, and samples are as large as they may
be."""

from itertools import pairwise

from tests.conftest import BUDGETS, LEAST, seconds_of_cases, some_of


def test_fast_tests_keep_to_their_budgets(expected_seconds):
    """All tests together, where all were collected."""
    over = {name: n for name, n in expected_seconds.items() if n > BUDGETS[name]}
    assert not over
    assert sum(BUDGETS.values()) <= 340


def test_samples_take_what_they_may_and_are_spread():
    class Case:
        nodeid = "tests/x.py::test_x[0]"

    cases = [Case() for _ in range(12)]
    assert some_of(cases, 0, 0.5, 1) == cases
    chosen = some_of(cases, 1, 4, 1)
    assert len({*map(id, chosen)}) == 4
    assert sorted((cases.index(b) - cases.index(a)) % 12 for a, b in pairwise(chosen)) == [3] * 3
    assert len(some_of(cases, 5, 4, 6)) == 1
    assert not some_of(cases, 5, 4, 4)
    assert not some_of([], 5, 4, 6)


def test_what_is_recorded_takes_some_time():
    assert min(seconds_of_cases().values()) >= LEAST
