"""CP-SAT's searches that end early: limits of time, interruptions, gaps, known starts."""

import pytest

from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from tests.plugins.cpsat.test_cpsat import OPTIMUM_1024
from tests.problems import mm_problem
from tests.solver.test_exact import best_of_1024


def test_stating_a_problem_ends_with_the_search():
    """Large mappings take half a minute to be stated, which a stop or a time limit of two seconds
    used not to end."""
    looks = iter(range(1_000))
    problem = mm_problem((64, 64, 64))
    solution = solve_cpsat(problem, SolveOptions(stop=lambda: next(looks) >= 20))
    assert next(looks) < 30
    assert solution.certificate.status is Status.UNKNOWN
    assert solution.certificate.termination is Termination.INTERRUPTED


@pytest.mark.parametrize("time_limit", [0.05, 0.6])
def test_a_time_limit_leaves_a_valid_bound(time_limit):
    problem = mm_problem((200, 160, 96))
    optimum = solve_exact(problem).value
    solution = solve_cpsat(problem, SolveOptions(time_limit=time_limit))
    bound = solution.certificate.lower_bound
    assert bound is None or bound <= optimum
    if solution.value is None:
        assert solution.certificate.status is Status.UNKNOWN
    else:
        assert solution.value >= optimum
        assert (solution.certificate.status is Status.OPTIMAL) == (solution.value == bound)
    given = optimum - 100
    bound = solve_cpsat(
        problem, SolveOptions(time_limit=time_limit), lower_bound=given
    ).certificate.lower_bound
    assert given <= bound <= optimum


def test_bounds_of_negative_and_huge_objectives_are_valid():
    for objective in ("-comp - off_chip_words", "1003*edp - 7*comp", "comm - comp"):
        problem = mm_problem((96, 64, 80), objective=objective)
        optimum = solve_exact(problem)
        for time_limit, start in ((0.6, None), (0.2, optimum.configuration)):
            solution = solve_cpsat(problem, SolveOptions(time_limit=time_limit), start=start)
            bound = solution.certificate.lower_bound
            assert bound is None or bound <= optimum.value
            assert start is None or solution.value == optimum.value


def test_stopping_at_once_claims_nothing_but_the_roof():
    problem = mm_problem((64, 64, 64))
    solution = solve_cpsat(problem, SolveOptions(stop=lambda: True))
    assert (
        solution.certificate.status,
        solution.certificate.lower_bound,
        solution.configuration,
    ) == (
        Status.UNKNOWN,
        problem.floor,
        None,
    )


def test_an_interruption_is_heard():
    asked = 0

    def stop():
        nonlocal asked
        asked += 1
        return asked > 5

    problem = mm_problem((1024, 1024, 1024))
    solution = solve_cpsat(problem, SolveOptions(stop=stop), start=best_of_1024(problem))
    assert solution.certificate.status is Status.FEASIBLE
    assert solution.value == OPTIMUM_1024


@pytest.mark.ci
def test_an_exception_ends_the_search():
    def report(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_cpsat(mm_problem((1024, 1024, 1024)), report=report)


def test_a_gap_ends_early_and_holds():
    problem = mm_problem((64, 64, 64))
    optimum = solve_exact(problem).value
    solution = solve_cpsat(problem, SolveOptions(gap=0.3))
    certificate = solution.certificate
    assert certificate.lower_bound <= optimum <= solution.value
    assert certificate.gap <= 0.3


def test_progress_never_takes_back_a_bound():
    seen = []
    solution = solve_cpsat(mm_problem((64, 64, 64)), report=seen.append)
    bounds = [p.lower_bound for p in seen if p.lower_bound is not None]
    values = [p.value for p in seen if p.value is not None]
    assert bounds == sorted(bounds)
    assert values == sorted(values, reverse=True)
    assert values[-1] == solution.value
