"""Scales of objectives: "at most" and "less than" are met by exactly the configurations they
mean."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import REGIMES
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.plugins.codesign.studies.arrays.layer import objective_step
from ithaca.studies.region import Bound
from ithaca.studies.scale import equivalent_objective, find_scale
from ithaca.workloads.library import workload, workload_names
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.whole_spaces import some_row, tables_of

OBJECTIVES = (
    "latency",
    "-dsp",
    "energy",
    "edp",
    "power",
    "-throughput",
    "1000/throughput",
    "throughput/power",
    "power + latency/3",
    "max(power, dsp/latency)",
    "latency/bram18k",
    "ceil(latency/8) - 3",
)


@st.composite
def problems_and_configurations(draw, objective):
    problem = mm_problem(
        (6, 5, 4),
        draw(st.sampled_from(MM_DATAFLOWS)),
        draw(st.sampled_from("ABC")),
        draw(st.sampled_from(["exact", "odyssey"])),
        dtype=draw(st.sampled_from(["fp32", "int8"])),
        objective=objective,
    )
    tables = tables_of(problem.space)

    def below(count):
        return draw(st.integers(0, count - 1))

    return problem, [Configuration(some_row(tables, below)) for _ in range(5)]


@settings(max_examples=60)
@given(
    st.sampled_from(OBJECTIVES).flatmap(problems_and_configurations), st.booleans(), st.booleans()
)
def test_limits_are_met_by_exactly_what_a_bound_admits(drawn, strict, halfway):
    problem, configurations = drawn
    scale = find_scale(problem, problem.objective)
    values = [problem.value(configuration) for configuration in configurations]
    bound = Bound((values[0] + values[1]) / 2 if halfway else values[0], strict)
    limit, normal = scale.limit(bound), scale.normal(bound)
    for metrics, value in zip(map(problem.metrics, configurations), values, strict=True):
        admitted = bound.admits(value)
        assert (limit.used(metrics) <= limit.bound) == admitted
        assert normal.admits(value) == admitted
        # what is strictly beyond a strict bound is so by a margin: nothing rests on a rounding
        if strict and not admitted and not scale.step:
            assert limit.used(metrics) >= 0 > limit.bound
    # the symbols of the limit mean the same as its numbers
    replace(problem, limits=(limit,)).symbolic()


@pytest.mark.parametrize(
    ("text", "grid"),
    [("latency", True), ("2*dsp - 7", True), ("power", False), ("dsp/latency", False)],
)
def test_only_quotients_lack_a_grid(text, grid):
    scale = find_scale(mm_problem((6, 5, 4), ("i",)), parse_objective(text))
    assert bool(scale.step) == grid
    below = scale.normal(Bound(Fraction(100), strict=True))
    assert below.strict != grid
    assert (below.value < 100) == grid


def test_a_grid_is_unknown_where_one_of_several_designs_has_none():
    problem = mm_problem((6, 5, 4), ("i",))
    assert objective_step([problem, problem]) > 0
    assert objective_step([problem, replace(problem, objective=parse_objective("power"))]) == 0


@pytest.mark.parametrize("kernel", workload_names())
def test_cycles_lie_on_a_grid(kernel):
    nest, objective = workload(kernel), parse_objective("latency")
    for machine in REGIMES.values():
        for array in choose_designs(nest, Edition.CYCLE):
            technology = Technology(machine=machine)
            problem = Problem(
                SystolicDesign(nest, array, data_type("fp32"), technology=technology), (), objective
            )
            # what the last lane of both loops holds up divides by packs of 16 words once more
            assert find_scale(problem, objective).step >= Fraction(1, 64)


def test_what_has_no_scale_is_refused():
    problem = mm_problem((6, 5, 4), ("i",))
    for text in ("1/(latency - dsp)", "latency/(dsp - 5)"):
        with pytest.raises(
            InputError, match=r"which may be 0( or negative)?; allowed: divisors that are proven"
        ):
            find_scale(problem, parse_objective(text))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("-throughput", "latency"),
        ("-2/(3*latency)", "latency"),
        ("2/(3*latency)", "((-1)*latency)"),
        ("1/(latency*dsp)", None),
        ("-1/(latency + dsp)", None),
    ],
)
@settings(max_examples=10)
@given(st.data())
def test_constants_over_something_are_ordered_as_their_equivalent(text, other, data):
    problem, configurations = data.draw(problems_and_configurations(text))
    instead = equivalent_objective([problem], problem.objective)
    assert instead.constant is not None
    assert other is None or instead.objective.text == other
    pairs = [
        (instead.objective.value(problem.metrics(c)), problem.value(c)) for c in configurations
    ]
    for value, original in pairs:
        assert instead.original(value) == original
    assert [original for _, original in sorted(pairs)] == sorted(original for _, original in pairs)


def test_others_stand_for_themselves():
    problems = [mm_problem((6, 5, 4), d) for d in MM_DATAFLOWS]
    for text in ("latency", "power", "1/(latency - dsp)"):
        objective = parse_objective(text)
        assert equivalent_objective(problems, objective).objective is objective
    # the constant is the problem's: 2 · 6 · 5 · 4 operations are not 2 · 6 · 5 · 3
    mixed = [mm_problem((6, 5, 4)), mm_problem((6, 5, 3))]
    assert equivalent_objective(mixed, parse_objective("-throughput")).constant is None
