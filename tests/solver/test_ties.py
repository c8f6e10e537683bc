"""Among configurations of equal objective the answer is the one that is preferred, whichever engine
proves it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver import ties
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.ties import preferred
from ithaca.studies.best import solve_best
from ithaca.studies.front import pareto_front
from ithaca.workloads.library import workload
from tests.families.fir import fir_problem
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.whole_spaces import crossed, linked, tables_of

OBJECTIVES = (
    "latency",
    "latency",
    "dsp",
    "comm",
    "bram18k",
    "latency*dsp",
    "energy",
    "comp - dsp",
    "-throughput",
)


def all_configurations(problem):
    """The quantities of every configuration of a space, as its rules say, whatever the solver's
    tables leave out."""
    return linked(problem.space, crossed(tables_of(problem.space)))


def first_of(problem):
    """The optimum by enumeration, and of all that have it the least cycles, words, DSP, BRAM, and
    quantities in order."""
    values = all_configurations(problem)
    count = next(iter(values.values())).size
    doubles = {name: column.astype(float) for name, column in values.items()}
    metrics = problem.design.metrics(doubles, NUMPY)
    left = np.ones(count, bool)
    for limit in problem.limits:
        used = np.broadcast_to(limit.expression.evaluate(metrics, NUMPY), count)
        left &= used <= float(limit.bound) * (1 + 1e-12)
    for used, bound in problem.design.conditions(values, NUMPY):
        left &= used <= float(bound)
    if not left.any():
        return None
    stated = [problem.objective.expression.evaluate(metrics, NUMPY)]
    if problem.design.family == "systolic":
        design = systolic(problem)
        if design.array.buildable:
            timed = replace(design, array=replace(design.array, edition=Edition.CYCLE))
            stated.append(timed.costs(doubles, NUMPY).latency)
        stated += [metrics[name] for name in ("off_chip_words", "dsp", "bram18k")]
    else:
        stated.append(metrics["energy"])
    for column in (*stated, *(values[quantity.name] for quantity in problem.space.free)):
        column = np.broadcast_to(column, count)
        least = column[left].min()
        left &= column <= least + 1e-11 * abs(least)
    (place,) = np.flatnonzero(left)
    found = Configuration({name: int(column[place]) for name, column in values.items()})
    return problem.value(found), found


def check(problem, *, engines=(Method.EXACT,)):
    expected = first_of(problem)
    for method in engines:
        solution = engine(method)(problem)
        assert (solution.value, solution.configuration) == (expected or (None, None))
        assert solution.certificate.ties_broken is (None if expected is None else True)


@st.composite
def small_problems(draw):
    return mm_problem(
        draw(st.tuples(*[st.integers(1, 6)] * 3)),
        draw(st.sampled_from(MM_DATAFLOWS)),
        "C",
        draw(st.sampled_from(["exact", "cycle"])),
        dsp=str(draw(st.integers(5, 300))),
        bram18k=str(draw(st.integers(4, 100))),
        objective=draw(st.sampled_from(OBJECTIVES[1:])),
        dtype=draw(st.sampled_from(["fp32", "int8"])),
    )


@settings(max_examples=6, deadline=None)
@given(small_problems())
def test_the_answer_is_the_first_by_enumeration(problem):
    check(problem)


@settings(max_examples=4, deadline=None)
@given(small_problems())
def test_engines_answer_alike(problem):
    check(problem, engines=(Method.AUTO, "cpsat"))


@settings(max_examples=300, deadline=None)
@given(small_problems())
def test_many_answers(problem):
    check(problem, engines=(Method.EXACT, "cpsat"))


@pytest.mark.parametrize("edition", ["exact", "odyssey"])
@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_other_editions_prefer_fewer_cycles_as_they_fall(edition, dataflow):
    check(mm_problem((5, 4, 6), dataflow, "C", edition, dsp="80"))


def test_designs_that_cannot_run_are_told_apart_by_words_and_dsp():
    problem = mm_problem((4, 4, 4), ("i", "j"), "A", dsp="40")
    check(problem)
    assert (problem.preferences(solve_exact(problem).configuration or {}) or ())[0] is None


def test_other_families_prefer_what_they_say():
    for transposed in (False, True):
        check(fir_problem(24, 40, transposed=transposed, dsp=9, noise=4))


@pytest.mark.parametrize("name", ["mttkrp", "ttm"])
def test_fractional_latencies(name):
    nest = workload(name, dict.fromkeys(workload(name).loops, 4))
    array = choose_designs(nest, Edition.EXACT)[0]
    limits, space = (Limit("dsp", Fraction(40)),), SpaceOptions(divisors_only=True)
    check(
        Problem(
            SystolicDesign(nest, array, DATA_TYPES["fp32"], space),
            limits,
            parse_objective("latency"),
        )
    )


# -- across designs ----------------------------------------------------------------------


def symmetric_problems(objective, edition="cycle"):
    space = SpaceOptions(divisors_only=True)
    return [
        mm_problem((8, 8, 6), d, "C", edition, dsp="160", objective=objective, space=space)
        for d in MM_DATAFLOWS
    ]


@pytest.mark.parametrize(
    ("method", "objective"),
    [
        (Method.EXACT, "latency"),
        (Method.EXACT, "bram18k"),
        (Method.EXACT, "comm"),
        (Method.AUTO, "dsp"),
        ("cpsat", "dsp"),
    ],
)
def test_of_several_designs_the_preferred_one_answers(method, objective):
    problems = symmetric_problems(objective)
    enumerated = [(problem, first_of(problem)) for problem in problems]
    expected = min((f[0], p.preferences(f[1]), n) for n, (p, f) in enumerate(enumerated) if f)
    for found in (
        solve_best(problems, method=method),
        solve_best(problems[::-1], method=method),
    ):
        assert found.configuration is not None
        assert found.certificate.status is Status.OPTIMAL
        assert found.certificate.ties_broken
        assert (found.value, found.problem.preferences(found.configuration)) == expected[:2]
    assert solve_best(problems, method=method).design == problems[expected[2]].design.name


def test_ties_are_broken_of_the_best_designs_alone(monkeypatch):
    problems = symmetric_problems("latency", "exact")
    alone = {p.design.name: solve_exact(p).value or 0 for p in problems}
    best = [name for name, value in alone.items() if value == min(alone.values())]
    assert 0 < len(best) < len(alone)
    searched = []
    monkeypatch.setattr(
        ties,
        "preferred",
        lambda problem, *rest: searched.append(problem.design.name) or preferred(problem, *rest),
    )
    finished = []
    solve_designs(problems, finished=lambda number, solution: finished.append(number))
    assert sorted(searched) == sorted(best)
    assert sorted(finished) == list(range(len(problems)))  # each design once


@pytest.mark.parametrize("threads", [1, 2])
def test_points_of_fronts_are_the_preferred_ones(threads):
    problems = symmetric_problems("latency")
    front = pareto_front(problems, ["bram18k", "comm"], threads=threads)
    assert front.complete
    for point in front.points:
        tied = [
            Limit(text, value)
            for text, value in zip(("bram18k", "comm"), point.values, strict=True)
        ]
        alike = [
            replace(p, limits=(*p.limits, *tied), objective=parse_objective("bram18k"))
            for p in problems
        ]
        found = [
            (p.preferences(f[1]), n)
            for n, (p, f) in enumerate((p, first_of(p)) for p in alike)
            if f
        ]
        preferences, number = min(found)
        assert point.problem.design == problems[number].design
        assert point.problem.preferences(point.configuration) == preferences


# -- what is open ------------------------------------------------------------------------


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    monkeypatch.setattr("ithaca.solver.level_set.MOST_BOXES", -1)
    monkeypatch.setattr("ithaca.solver.plateau.MOST_BOXES", 0)
    problem = mm_problem((64, 64, 64), objective="dsp")
    found = solve_exact(problem)
    assert found.certificate.status is Status.OPTIMAL
    assert found.certificate.ties_broken is False
    assert solve_best([problem]).certificate.ties_broken is False
    assert [s.certificate.ties_broken for s in solve_designs([problem])] == [False]
    assert not found.final


def test_where_any_will_do_none_is_sought():
    problem = mm_problem((64, 64, 64), objective="dsp")
    found = solve_exact(problem, SolveOptions(any_tie=True))
    assert (found.certificate.status, found.certificate.ties_broken) == (Status.OPTIMAL, None)
    assert found.certificate.nodes < solve_exact(problem).certificate.nodes
