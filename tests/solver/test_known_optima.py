"""The kept optima are those that enumeration finds, and none is missing in silence."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import systolic
from tests.problems import mm_problem
from tests.solver.enumeration import enumerated_optimum
from tests.solver.known_optima import FILE, brute_force, facts_of, key_of, known_optima, problem_of


def check(key):
    facts = known_optima()[key]
    problem = problem_of(facts)
    assert facts_of(problem) | {"optimum": facts["optimum"]} == facts
    assert key_of(facts) == key
    found = enumerated_optimum(problem)
    assert (None if found is None else float(found)) == facts["optimum"]


@pytest.mark.parametrize("place", range(16))
def test_some_are_what_enumeration_finds(place):
    keys = sorted(known_optima())
    check(keys[place * len(keys) // 16])


@pytest.mark.parametrize("first", "0123456789abcdef")
def test_all_are_what_enumeration_finds(first):
    for key in known_optima():
        if key.startswith(first):
            check(key)


def test_a_problem_that_is_not_kept_is_told_with_the_line_that_adds_it(
    monkeypatch,
):
    monkeypatch.delenv("UPDATE_BRUTE_FORCE", raising=False)
    with pytest.raises(
        pytest.fail.Exception,
        match=rf"{FILE.name} holds no optimum .* UPDATE_BRUTE_FORCE=1 pytest 'tests/.*told",
    ):
        brute_force(mm_problem((3, 5, 7), dsp="123.25"))


def test_the_key_tells_problems_apart():
    problem = mm_problem((3, 5, 7))
    design = systolic(problem)
    others = [
        mm_problem((3, 5, 8)),
        mm_problem((3, 5, 7), ("i",)),
        mm_problem((3, 5, 7), permutation="A"),
        mm_problem((3, 5, 7), edition="odyssey"),
        mm_problem((3, 5, 7), dtype="int8"),
        mm_problem((3, 5, 7), dsp="8602"),
        mm_problem((3, 5, 7), objective="dsp"),
        replace(problem, limits=(*problem.limits, Limit("latency", Fraction(9)))),
        replace(
            problem, design=replace(design, options=replace(design.options, divisors_only=True))
        ),
        replace(
            problem,
            design=replace(design, technology=replace(design.technology, dram=Fraction(100))),
        ),
        replace(
            problem,
            design=replace(design, technology=replace(design.technology, cost_tables="asic-28nm")),
        ),
    ]
    assert len({key_of(facts_of(p)) for p in (problem, *others)}) == 12
    assert facts_of(mm_problem((3, 5, 7))) == facts_of(problem)
