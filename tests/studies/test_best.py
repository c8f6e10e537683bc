"""The best over all designs: the same as solving each design to its own proof."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import best_solution
from ithaca.studies.best import best_start, solve_best
from tests.problems import MM_DATAFLOWS, configuration_of, mm_problem


@pytest.mark.parametrize(
    ("objective", "dtype"),
    [
        ("latency", "fp32"),
        ("off_chip_words", "fp32"),
        ("-dsp", "int16"),
        ("-throughput", "int8"),
    ],
)
def test_the_best_of_all_designs_is_found_and_proven(objective, dtype):
    problems = [
        mm_problem((9, 8, 12), d, objective=objective, dtype=dtype, dsp="200", bram18k="150")
        for d in MM_DATAFLOWS
    ]
    each = solve_designs(problems)
    best = best_solution(each)
    order = list(range(len(problems)))
    random.Random(7).shuffle(order)
    for starts in (
        [None] * len(problems),
        [s.configuration for s in each],
        [each[i].configuration if i in order[:2] else None for i in range(6)],
    ):
        answer = solve_best(problems, starts=starts)
        assert answer.value == best.value
        assert answer.certificate.status is Status.OPTIMAL
        assert answer.certificate.lower_bound == answer.value
        # among equals the first design, whatever the order of solving
        assert answer.configured.problem == best.problem
        assert answer.configured.certificate == answer.certificate


def test_a_gap_is_kept_over_all_designs():
    problems = [mm_problem((48, 40, 32), d) for d in MM_DATAFLOWS]
    proven = solve_best(problems).value
    answer = solve_best(problems, SolveOptions(gap=0.3))
    assert answer.certificate.lower_bound <= proven <= answer.value
    assert answer.certificate.gap <= 0.3


def test_infeasible_everywhere_says_why():
    answer = solve_best([mm_problem((9, 8, 12), d, dsp="4") for d in MM_DATAFLOWS])
    assert answer.configured is None
    assert answer.certificate.status is Status.INFEASIBLE
    assert (
        "limit dsp = 4 cannot be met; the smallest that could be met with the other limits as they are is 5"
        in answer.explain()
    )


def test_some_infeasible_designs_do_not_matter():
    problems = [
        mm_problem((9, 8, 12), ("i", "j"), dsp="4"),
        mm_problem((9, 8, 12), ("i",), dsp="50"),
    ]
    answer = solve_best(problems)
    assert answer.certificate.status is Status.OPTIMAL
    assert answer.value == solve_exact(problems[1]).value


def test_stopped_before_it_began_knows_what_needs_no_search():
    problems = [mm_problem((9, 8, 12), d) for d in MM_DATAFLOWS]
    answer, optimum = (
        solve_best(problems, SolveOptions(stop=lambda: True)),
        solve_best(problems).value,
    )
    assert answer.certificate.status is Status.UNKNOWN
    assert 0 < answer.certificate.lower_bound <= optimum


def test_starts_from_elsewhere_are_checked_in_full():
    problem = mm_problem((32, 24, 16), ("i", "k"))
    foreign = solve_exact(mm_problem((32, 24, 16), ("i", "k"), dtype="int8")).configuration
    solved = solve_exact(problem)
    own = solved.configuration
    assert foreign is not None
    assert own is not None
    larger = configuration_of(
        problem, replace(solved.tiling, array_part={**solved.tiling.array_part, "i": 128})
    )
    assert not problem.space.contains(foreign)
    assert not problem.space.contains(larger)
    assert best_start(problem, [foreign, own, larger]) == own
    assert problem.feasible_value(own) == Fraction(164)
    assert mm_problem((32, 24, 16), ("i", "k"), dsp="100").feasible_value(own) is None
    assert best_start(mm_problem((32, 24, 16), ("i", "j")), [own]) is None


@pytest.mark.ci
def test_time_limits_leave_a_true_bound():
    problems = [mm_problem((200, 180, 160), d) for d in MM_DATAFLOWS]
    answer = solve_best(problems, SolveOptions(time_limit=0.6))
    proven = solve_best(problems).value
    if answer.certificate.lower_bound is not None:
        assert answer.certificate.lower_bound <= proven
    if answer.value is not None:
        assert answer.value >= proven
