"""Every claim over a space of accelerators, against all accelerators with all mappings."""

from __future__ import annotations

import pytest

from ithaca.results.certificate import Status
from ithaca.studies.codesign.codesign import codesign
from tests.studies.codesign.toy import brute_force, random_question


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 100))])
def test_optima_and_fronts_are_those_of_enumeration(seed: int) -> None:
    question = random_question(seed)
    result, expected = codesign(question), brute_force(question)
    assert [point.values for point in result.front] == sorted(expected)
    assert result.certificate.status is (Status.OPTIMAL if expected else Status.INFEASIBLE)
    assert not result.open
    for point in result.front:
        assert question.space.allows(point.point)
        assert point.values == tuple(point.total(amount) for amount in question.minimised)
        assert all(amount.bound is None or point.total(amount) <= amount.bound for amount in question.limited)
        for solution in point.layers:
            assert solution.configuration is not None
            assert solution.problem.feasible_value(solution.configuration) == solution.value
