"""The exact engine against brute force, published optima, and its own promises."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from ithaca.files.errors import DisagreementError
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.enumeration.engine import solve_enumeration
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import Search
from ithaca.solver.infeasibility import shortfalls, why_infeasible
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_design, solve_designs
from ithaca.solver.reasons import CONTRADICTION
from ithaca.solver.solution import best_solution
from ithaca.solver.tables.frame import build_model
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.problems import configuration_of, mm_points, mm_problem, mm_tiling
from tests.solver.known_optima import brute_force

EXTENTS = [*range(1, 13), 16, 24]


def random_problem(seed):
    """A small problem with random extents, design, edition, type, budget, objective and
    restrictions."""
    draw = random.Random(seed)
    while True:
        sizes = tuple(draw.choice(EXTENTS) for _ in "ijk")
        if sizes[0] * sizes[1] * sizes[2] <= 1500:
            break
    nest_designs = designs(workload("mm"), draw.choice([Edition.EXACT, Edition.ODYSSEY]))
    # every design in turn, so that any 18 seeds in a row cover all
    array = nest_designs[seed % len(nest_designs)]
    limits = (
        (Limit("off_chip_words", Fraction(draw.randint(10, 3000))),) if draw.random() < 0.3 else ()
    )
    mixed = "2*latency - off_chip_words/3 + dsp"
    return mm_problem(
        sizes,
        array.dataflow,
        array.permutation,
        array.edition.value,
        dsp=str(draw.randint(1, 400) / 2),
        bram18k=str(draw.randint(2, 100)),
        objective=draw.choice(["latency"] * 4 + ["off_chip_words", "dsp", "bram18k", mixed]),
        dtype=draw.choice(["fp32", "fp32", "int16", "int8"]),
        space=SpaceOptions(draw.choice([1, 1, 2]), draw.random() < 0.2),
        more_limits=limits,
    )


def best_of_1024(problem):
    """The optimum of the published size."""
    return configuration_of(
        problem,
        mm_tiling(systolic(problem).array, (205, 172, 64), (41, 4), 8, A=16, B=16, C_drain=4),
    )


def check_against_brute_force(problem):
    expected = brute_force(problem)
    solution = solve_exact(problem)
    if expected is None:
        assert solution.certificate.status is Status.INFEASIBLE
        assert solution.configuration is None
        return
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == solution.certificate.lower_bound
    assert float(solution.value) == pytest.approx(float(expected), rel=1e-12)
    assert solution.configuration is not None
    assert problem.feasible_value(solution.configuration) is not None


@pytest.mark.parametrize("seed", range(36))
def test_optimum_equals_brute_force(seed):
    check_against_brute_force(random_problem(seed))


@pytest.mark.parametrize("seed", range(36, 300))
def test_optimum_equals_brute_force_on_many_problems(seed):
    check_against_brute_force(random_problem(seed))


@pytest.mark.parametrize(("edition", "latency"), [("odyssey", "637832.25"), ("exact", "639876")])
def test_published_size_is_proven(edition, latency):
    solution = solve_exact(mm_problem((1024, 1024, 1024), edition=edition))
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == solution.certificate.lower_bound == Fraction(latency)
    assert solution.certificate.gap == 0


def test_the_exact_optimum_is_the_published_configuration():
    tiling = solve_exact(mm_problem((1024, 1024, 1024))).tiling
    assert tiling.array_part == {"i": 205, "j": 172, "k": 64}
    assert tiling.latency_hiding == {"i": 41, "j": 4}
    assert tiling.simd == 8


def test_divisors_only():
    problem = mm_problem(
        (1024, 1024, 1024), edition="odyssey", space=SpaceOptions(divisors_only=True)
    )
    assert solve_exact(problem).value == 1052673


def test_all_18_designs_are_proven():
    nest = workload("mm")
    template = mm_problem((1024, 1024, 1024))
    solutions = solve_designs(
        [template.with_design(array=a) for a in designs(nest, Edition.ODYSSEY)], threads=2
    )
    assert [s.certificate.status for s in solutions] == [Status.OPTIMAL] * 18
    best = best_solution(solutions)
    assert (best.problem.design.name, best.value) == ("[i,j] C", Fraction("637832.25"))


def test_a_time_limit_leaves_incumbent_and_bound():
    problem = mm_problem((1024, 1024, 1024))
    solution = solve_exact(problem, SolveOptions(time_limit=0.001))
    certificate = solution.certificate
    assert certificate.status in (Status.FEASIBLE, Status.UNKNOWN)
    assert certificate.lower_bound is None or certificate.lower_bound <= Fraction("639876")
    if solution.value is not None:
        assert solution.value >= Fraction("639876")


def test_stopping_at_once_claims_what_needs_no_search():
    problem = mm_problem((1024, 1024, 1024))
    solution = solve_exact(problem, SolveOptions(stop=lambda: True))
    certificate = solution.certificate
    assert (certificate.status, certificate.lower_bound, certificate.gap) == (
        Status.UNKNOWN,
        problem.floor,
        None,
    )
    assert 0 < problem.floor <= 639876


def test_stopping_at_once_keeps_the_start():
    problem = mm_problem((1024, 1024, 1024))
    good = best_of_1024(problem)
    solution = solve_exact(problem, SolveOptions(stop=lambda: True), start=good)
    assert (solution.value, solution.certificate.status) == (639876, Status.FEASIBLE)


def test_a_wrong_bound_from_elsewhere_is_never_taken_for_a_proof():
    search = Search(build_model(mm_problem((24, 20, 16), dsp="200", bram18k="200")), SolveOptions())
    search.raise_floor(Fraction(10**9))
    with pytest.raises(DisagreementError, match="yet there is"):
        search.run()


def test_a_gap_ends_early_and_holds():
    problem = mm_problem((1024, 1024, 1024))
    solution = solve_exact(problem, SolveOptions(gap=0.05))
    assert solution.certificate.lower_bound <= Fraction("639876") <= solution.value
    assert solution.certificate.gap <= 0.05


def test_a_start_is_taken_as_incumbent_and_a_bad_one_is_not():
    problem = mm_problem((1024, 1024, 1024))
    good = best_of_1024(problem)
    early = SolveOptions(gap=0.5)
    assert solve_exact(problem, early, start=good).value == 639876
    greedy = mm_tiling(systolic(problem).array, (1024, 1024, 64), (1, 8), 8, A=16, B=16, C_drain=8)
    solution = solve_exact(problem, early, start=configuration_of(problem, greedy))
    assert solution.value >= 639876


def test_progress_never_takes_back_a_bound():
    seen = []
    solution = solve_exact(mm_problem((1024, 1024, 1024)), report=seen.append)
    bounds = [p.lower_bound for p in seen if p.lower_bound is not None]
    values = [p.value for p in seen if p.value is not None]
    assert bounds == sorted(bounds)
    assert values == sorted(values, reverse=True)
    assert all(bound <= 639876 for bound in bounds)
    assert solution.certificate.nodes >= seen[-1].boxes > 0


@pytest.mark.parametrize("dataflow", [("i",), ("i", "j"), ("k",)])
def test_infeasible_limits_are_named_with_the_smallest_that_would_do(
    dataflow,
):
    problem = mm_problem((16, 16, 16), dataflow, dsp="3", bram18k="1000")
    solution = solve_design(problem)
    assert solution.certificate.status is Status.INFEASIBLE
    (shortfall,) = solution.shortfalls
    assert (shortfall.metric, shortfall.bound, shortfall.smallest, shortfall.proven) == (
        "dsp",
        3,
        5,
        True,
    )
    assert (
        solve_design(mm_problem((16, 16, 16), dataflow, dsp="5", bram18k="1000")).value is not None
    )


@pytest.mark.parametrize(
    ("dsp", "bram18k", "latency"), [("3", "3763", 10**9), ("8601", "2", 10**9), ("8601", "3763", 1)]
)
def test_limits_beyond_what_metrics_may_be_are_refuted_without_a_search(
    dsp, bram18k, latency, monkeypatch
):
    for name in ("build_model", "lower_problem"):
        monkeypatch.delattr(f"ithaca.solver.tables.frame.{name}")
    monkeypatch.setattr("ithaca.solver.preparation.build_model", None)
    limits = (Limit("latency", Fraction(latency)),)
    problem = mm_problem((64, 64, 64), dsp=dsp, bram18k=bram18k, more_limits=limits)
    proof = solve_exact(problem, SolveOptions()).certificate
    assert (proof.status, proof.nodes) == (Status.INFEASIBLE, 0)


@settings(max_examples=5)
@given(mm_points())
def test_limits_that_a_configuration_just_meets_are_never_hopeless(point):
    problem, configuration = point
    limits = tuple(Limit(name, bound) for name, bound in problem.metrics(configuration).items())
    assert not replace(problem, limits=limits).hopeless


def test_limits_that_contradict_each_other_are_both_named():
    # 5 DSP are one MAC: 4096 products take more than 2000 cycles; with 2000 cycles more DSP are
    # needed
    limits = (Limit("latency", Fraction(2000)),)
    problem = mm_problem((16, 16, 16), dsp="5", bram18k="1000", more_limits=limits)
    solution = solve_design(problem)
    assert solution.certificate.status is Status.INFEASIBLE
    named = {s.metric: s for s in solution.shortfalls}
    assert named["dsp"].smallest > 5
    assert named["latency"].smallest > 2000
    assert all(s.others_kept for s in solution.shortfalls)
    # without time it is open which of them would help
    falls = shortfalls(problem, SolveOptions(time_limit=0.0))
    assert {s.metric for s in falls if s.smallest is None or not s.proven} >= {"dsp", "latency"}
    assert CONTRADICTION not in why_infeasible([problem], falls)
    # the smallest value named is attained, and nothing below it is
    enough = named["dsp"].smallest
    assert (
        solve_exact(
            mm_problem((16, 16, 16), dsp=str(enough), bram18k="1000", more_limits=limits)
        ).value
        is not None
    )
    below = enough - Fraction(1, 2)
    less = mm_problem((16, 16, 16), dsp=str(float(below)), bram18k="1000", more_limits=limits)
    assert solve_exact(less).certificate.status is Status.INFEASIBLE


def test_bounds_of_boxes_never_exceed_the_configurations_in_them():
    import numpy as np

    model = build_model(mm_problem((40, 24, 30), ("i", "k"), "A", dsp="500", bram18k="200"))
    generator = np.random.default_rng(1)
    parents = [np.zeros(t.left.size, np.int32) for t in model.trees]
    for parent, tree in zip(parents, model.trees, strict=True):
        inner = np.flatnonzero(tree.left)
        parent[tree.left[inner]] = inner
        parent[tree.left[inner] + 1] = inner
    nodes = np.stack(
        [generator.choice(np.flatnonzero(t.left == 0), 300) for t in model.trees]
    ).astype(np.int32)
    values, feasible = model.bound(nodes)
    for _ in range(20):
        nodes = np.stack([p[n] for p, n in zip(parents, nodes, strict=True)])
        bounds, possible = model.bound(nodes)
        assert np.all((bounds <= values * (1 + 1e-12)) | ~feasible)
        assert np.all(possible | ~feasible)


def test_bounds_know_what_rules_want_of_products_of_tile_factors():
    # sums in fp32 wait for each other: t2_i t2_j >= 8 SIMD, which no row of one loop says
    solution = solve_exact(mm_problem((64, 64, 64), edition="cycle"))
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.certificate.nodes < 10_000  # 50,000 and more without


@pytest.mark.parametrize("seed", range(6))
def test_two_engines_prove_the_same_where_rules_span_loops(seed):
    draw = random.Random(seed)
    sizes = tuple(draw.choice((1, 2, 3, 5, 8)) for _ in "ijk")
    problem = mm_problem(
        *(sizes, ("i", "j"), "C", draw.choice(("cycle", "exact"))),
        dsp=str(draw.choice((17, 40, 120, 500))),
        bram18k=str(draw.choice((6, 20, 100))),
        objective=draw.choice(("latency", "edp", "2*latency - off_chip_words/3 + dsp")),
    )
    one, other = solve_exact(problem), solve_enumeration(problem, SolveOptions())
    assert one.value == other.value
    assert one.certificate.status is other.certificate.status


@pytest.mark.parametrize(
    ("space", "t1", "t2", "packs"),
    [
        (SpaceOptions(min_lanes=2), (16, 16, 8), (16, 4), {"A": 1, "B": 1, "C_drain": 1}),
        (SpaceOptions(divisors_only=True), (17, 16, 8), (1, 8), {"A": 1, "B": 1, "C_drain": 1}),
        (SpaceOptions(), (16, 16, 8), (4, 4), {"A": 3, "B": 1, "C_drain": 1}),
        (SpaceOptions(), (16, 16, 8), (4, 4), {"A": 16, "B": 1, "C_drain": 1}),
        (SpaceOptions(), (48, 16, 8), (4, 4), {"A": 1, "B": 1, "C_drain": 1}),
    ],
)
def test_a_start_outside_the_design_space_is_never_the_answer(space, t1, t2, packs):
    # each would be the best by far if only the limits were checked: a limit on latency makes all
    # others infeasible
    free = mm_problem((16, 16, 8), space=space)
    outside = configuration_of(free, mm_tiling(systolic(free).array, t1, t2, 1, **packs))
    problem = replace(free, limits=(Limit("latency", free.value(outside)),))
    expected = solve_exact(problem)
    solution = solve_exact(problem, start=outside)
    assert solution.configuration != outside
    assert solution.value == expected.value


@pytest.mark.parametrize(
    ("objective", "limits"),
    [
        ("ceil(latency/8-40)", {"off_chip_words": "264"}),
        ("-ceil(off_chip_words/7 - 30)", {"latency": "90"}),
        ("max(0, latency-70)", {"dsp": "50"}),
        ("0", {}),
        ("latency/dsp", {"bram18k": "30", "prologue": "9"}),
    ],
)
@pytest.mark.parametrize(("dataflow", "permutation"), [(("i", "k"), "C"), (("j",), "B")])
def test_unusual_objectives_equal_brute_force(objective, limits, dataflow, permutation):
    problem = mm_problem((4, 5, 3), dataflow, permutation, objective=objective)
    check_against_brute_force(
        replace(problem, limits=tuple(Limit(m, Fraction(b)) for m, b in limits.items()))
    )


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
@pytest.mark.parametrize("dataflow", [("i",), ("i", "j"), ("j", "k")])
@pytest.mark.parametrize("objective", ["latency", "dsp"])
def test_packs_whose_legality_spans_loops(edition, dataflow, objective):
    # A and B are laid out with k outermost: their packs depend on the SIMD factor and on another
    # loop
    output, inputs = parse_statement("C[i][j] += A[k][i] * B[k][j]")
    nest = LoopNest("transposed", (("i", 5), ("j", 4), ("k", 3)), output, inputs, "k")
    template = mm_problem((1, 1, 1), objective=objective, dsp="60", bram18k="60")
    check_against_brute_force(
        template.with_design(nest=nest, array=derive(nest, dataflow, "C", edition))
    )


def test_explanations_of_infeasibility_hold_over_all_designs():
    limits = (Limit("dsp", Fraction(100)), Limit("latency", Fraction(60)))
    template = replace(mm_problem((16, 16, 16)), limits=limits)
    problems = [template.with_design(array=a) for a in designs(workload("mm")) if a.buildable]
    told = {
        s.metric: s.smallest for p in problems for s in solve_design(p).shortfalls if s.others_kept
    }
    assert told
    for metric in told:
        least = min(
            s.smallest
            for p in problems
            for s in solve_design(p).shortfalls
            if s.metric == metric and s.others_kept
        )
        raised = tuple(
            Limit(metric, least) if limit.metric == metric else limit for limit in limits
        )
        assert best_solution([solve_exact(replace(p, limits=raised)) for p in problems]) is not None
        below = tuple(
            Limit(metric, least - Fraction(1, 16)) if limit.metric == metric else limit
            for limit in limits
        )
        assert best_solution([solve_exact(replace(p, limits=below)) for p in problems]) is None
