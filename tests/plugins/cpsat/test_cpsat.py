"""The CP-SAT engine against the exact engine and brute force, and its own promises."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.errors import DisagreementError
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import METRICS, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.cpsat.solver.model import candidate_tables, dominating_row
from ithaca.solver.certificate import Status
from ithaca.solver.engines import NotExpressibleError
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.problems import MM_DATAFLOWS, configuration_of, mm_problem, mm_tiling
from tests.solver.known_optima import brute_force
from tests.solver.test_exact import random_problem

OPTIMUM_1024 = Fraction(639876)

ASIC = Technology(clock_mhz=Fraction(1000), cost_tables="maestro-28nm")


def conv1d(simd):
    """A nest one of whose packs depends on two loops."""
    output, inputs = parse_statement("C[i] += A[i+k] * B[k]")
    return LoopNest("conv1d", (("i", 9), ("k", 4)), output, inputs, simd)


def problem_of(nest, dataflow, permutation, edition, **limits):
    array = derive(nest, dataflow, permutation, edition)
    bounds = tuple(Limit(name, Fraction(bound)) for name, bound in limits.items())
    return Problem(
        SystolicDesign(nest, array, DATA_TYPES["fp32"]), bounds, parse_objective("latency")
    )


def presets(technology):
    """Every metric as an objective, in the direction one wants it; `tests.solver.test_bandwidth`
    has time and bandwidth."""
    names = [
        name
        for name, m in METRICS.items()
        if m.where(technology, DATA_TYPES["fp32"]) and name not in ("time", "bandwidth")
    ]
    return [f"-{name}" if name in ("comp", "throughput") else name for name in names]


def varied_problem(seed):
    """A small random problem of any objective and limit there is, on an FPGA or an ASIC."""
    draw, problem = random.Random(seed), random_problem(seed)
    technology = draw.choice([DEFAULT_TECHNOLOGY, ASIC])
    objectives = [*presets(technology), "comm - comp", problem.objective.text]
    limits = problem.limits
    if technology is ASIC and draw.random() < 0.5:
        limits += (Limit("area", Fraction(draw.randint(30_000, 9_000_000), 10**6)),)
    if draw.random() < 0.4:
        # on an FPGA, power divides by the latency
        limits += (Limit("power", Fraction(draw.randint(1, 600), 2000)),)
    asked = replace(problem, objective=parse_objective(draw.choice(objectives)), limits=limits)
    return asked.with_design(technology=technology)


def check_against_others(problem, *, exhaustively):
    expected, solution = solve_exact(problem), solve_cpsat(problem)
    assert solution.certificate.status is expected.certificate.status
    assert solution.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)
    assert solution.value == expected.value == solution.certificate.lower_bound
    if solution.configuration is not None:
        assert problem.feasible_value(solution.configuration) is not None
    if exhaustively:
        least = brute_force(problem)
        assert (least is None) == (solution.value is None)
        if least is not None and solution.value is not None:
            assert float(solution.value) == pytest.approx(float(least), rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_optimum_equals_the_other_engines(seed):
    check_against_others(varied_problem(seed), exhaustively=seed % 3 == 0)


@pytest.mark.parametrize("seed", range(30, 260))
def test_optimum_equals_the_other_engines_on_many_problems(seed):
    check_against_others(varied_problem(seed), exhaustively=True)


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_the_designs_of_size_64_are_proven(dataflow):
    problem = mm_problem((64, 64, 64), dataflow)
    expected = solve_exact(problem)
    solution = solve_cpsat(problem, start=expected.configuration)
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == solution.certificate.lower_bound == expected.value


@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
@pytest.mark.parametrize("edition", ["exact", "odyssey"])
def test_the_designs_of_size_64_are_proven_from_nothing(dataflow, edition):
    check_against_others(mm_problem((64, 64, 64), dataflow, edition=edition), exhaustively=False)


# -- designs and objectives beyond those of matrix multiplication ----------------------------


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
@pytest.mark.parametrize(
    ("dataflow", "permutation"), [(("o", "i"), "cout"), (("r",), "w"), (("r", "c"), "cin")]
)
def test_a_convolution(dataflow, permutation, edition):
    nest = workload("conv2d", {"o": 4, "r": 5, "c": 5, "i": 4})
    check_against_others(
        problem_of(nest, dataflow, permutation, edition, dsp=120, bram18k=60), exhaustively=False
    )


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
@pytest.mark.parametrize("simd", ["i", "k"])
def test_packs_that_depend_on_two_loops(simd, edition):
    nest = conv1d(simd)
    for number, array in enumerate(designs(nest, edition)):
        if number % 4 == 0:
            problem = problem_of(
                nest, array.dataflow, array.permutation, edition, dsp=60, bram18k=30
            )
            assert problem.space.links
            check_against_others(problem, exhaustively=True)
            dividing = problem.with_design(options=SpaceOptions(dividing_packs=True))
            check_against_others(dividing, exhaustively=False)


@pytest.mark.parametrize(
    "objective",
    [
        "latency/3 + dsp/7",
        "latency + bram18k/1000003",
        "max(latency, 40*dsp) - off_chip_words/11",
        "latency*dsp",
        "latency/dsp",
        "(latency - 3*off_chip_words)*dsp",
        "-off_chip_words",
    ],
)
def test_no_coefficient_of_an_objective_is_rounded(objective):
    problem = mm_problem((8, 6, 10), ("i", "k"), "A", objective=objective, dsp="150", bram18k="60")
    check_against_others(problem, exhaustively=True)


def test_an_objective_beyond_64_bits_is_refused():
    with pytest.raises(NotExpressibleError, match="its integers end at"):
        solve_cpsat(mm_problem((1024, 1024, 1024), objective="latency*latency*off_chip_words"))


# -- what is known beforehand ----------------------------------------------------------------


def test_a_start_and_a_bound_meet():
    problem = mm_problem((64, 64, 64))
    optimum = solve_exact(problem)
    for bound in (optimum.value, optimum.value - Fraction(1, 100)):
        # latencies lie on a grid, so a hundredth less is no different bound
        certificate = solve_cpsat(
            problem, SolveOptions(any_tie=True), start=optimum.configuration, lower_bound=bound
        ).certificate
        assert (certificate.status, certificate.lower_bound) == (Status.OPTIMAL, optimum.value)
        assert certificate.nodes < 1000


def test_a_product_of_large_metrics_fits_below_a_start():
    problem = mm_problem((256, 256, 256), ("i", "k"), objective="latency*latency*off_chip_words")
    with pytest.raises(NotExpressibleError):
        solve_cpsat(problem)
    optimum = solve_exact(problem)
    solution = solve_cpsat(problem, start=optimum.configuration)
    assert (solution.value, solution.certificate.status) == (optimum.value, Status.OPTIMAL)


def test_a_start_outside_the_space_or_the_limits_is_ignored():
    problem = mm_problem((16, 16, 16), dsp="100", bram18k="100")
    expected = solve_exact(problem).value
    too_long = mm_tiling(systolic(problem).array, (64, 16, 16), (8, 8), 1, A=1, B=1, C_drain=1)
    too_much = mm_tiling(systolic(problem).array, (16, 16, 16), (1, 8), 1, A=1, B=1, C_drain=1)
    illegal_pack = mm_tiling(systolic(problem).array, (4, 4, 16), (4, 4), 1, A=1, B=1, C_drain=3)
    for start in (too_long, too_much, illegal_pack):
        assert solve_cpsat(problem, start=configuration_of(problem, start)).value == expected


def test_a_start_is_never_lost():
    problem = mm_problem((64, 64, 64))
    start = configuration_of(
        problem, mm_tiling(systolic(problem).array, (16, 16, 64), (4, 4), 1, A=4, B=4, C_drain=2)
    )
    value = problem.value(start)
    solution = solve_cpsat(problem, SolveOptions(time_limit=0.0), start=start)
    assert (solution.configuration, solution.value) == (start, value)
    assert solution.certificate.status is Status.FEASIBLE
    improved = solve_cpsat(problem, start=start).value
    assert solution.certificate.lower_bound <= improved < value


def test_a_wrong_bound_is_noticed():
    problem = mm_problem((64, 64, 64), ("i", "k"))
    start = solve_exact(problem).configuration
    with pytest.raises(DisagreementError, match="yet there is"):
        solve_cpsat(problem, start=start, lower_bound=Fraction(10**6))


def test_a_wrong_encoding_is_noticed(monkeypatch):
    problem = mm_problem((8, 8, 8))
    monkeypatch.setattr(
        Problem, "feasible_value", lambda problem, configuration: problem.value(configuration) + 1
    )
    with pytest.raises(RuntimeError, match="the encoding is wrong"):
        solve_cpsat(problem)


def test_every_candidate_is_dominated_by_a_row_that_is_kept():
    for problem in (
        mm_problem((12, 9, 16), ("i", "k"), "A"),
        mm_problem((16, 16, 16), ("i", "j"), objective="2*latency - dsp"),
    ):
        for table in candidate_tables(problem, problem.symbolic()):
            for rows in table.axis.rows():
                for values in zip(*rows.values(), strict=True):
                    assert (
                        dominating_row(table, dict(zip(rows, map(int, values), strict=True)))
                        is not None
                    )


# -- ends of a search ------------------------------------------------------------------------


@pytest.mark.parametrize("dataflow", [("i",), ("i", "j"), ("k",)])
def test_infeasible_limits(dataflow):
    solution = solve_cpsat(mm_problem((16, 16, 16), dataflow, dsp="3", bram18k="1000"))
    assert (
        solution.certificate.status,
        solution.configuration,
        solution.certificate.lower_bound,
    ) == (
        Status.INFEASIBLE,
        None,
        None,
    )


def test_an_empty_design_space_is_infeasible():
    problem = mm_problem((4, 4, 4), space=SpaceOptions(min_lanes=100))
    assert solve_cpsat(problem).certificate.status is Status.INFEASIBLE


# -- loops that are alike --------------------------------------------------------------------


def test_both_orders_of_rows_and_columns_outside_space_are_understood_as_a_start():
    nest = workload("conv2d", {"o": 4, "r": 6, "c": 6, "i": 3})
    problem = problem_of(nest, ("o", "i"), "cout", Edition.EXACT, dsp=60, bram18k=60)
    optimum = solve_exact(problem)
    mirrored = replace(
        optimum.tiling,
        array_part={
            **optimum.tiling.array_part,
            "r": optimum.tiling.array_part["c"],
            "c": optimum.tiling.array_part["r"],
        },
        latency_hiding={
            **optimum.tiling.latency_hiding,
            "r": optimum.tiling.latency_hiding["c"],
            "c": optimum.tiling.latency_hiding["r"],
        },
    )
    for start in (None, optimum.configuration, configuration_of(problem, mirrored)):
        assert solve_cpsat(problem, start=start).value == optimum.value
