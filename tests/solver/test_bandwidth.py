"""Off-chip bandwidth, which divides by the latency: as a limit and as an objective, against
enumeration, by every engine."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import REGIMES
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.solver.certificate import Status
from ithaca.solver.engines import engine
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_design
from ithaca.workloads.library import workload
from tests.problems import configuration_of, mm_points, mm_problem, mm_tiling
from tests.solver.enumeration import enumerated_optimum
from tests.whole_spaces import small_arrays

#: (i,j)/C on 16×16×8: 4×2 PEs of 2 lanes, one tile of each loop but k, which has 2
SMALL = mm_problem((16, 16, 8), dtype="int16")
TILING = mm_tiling(systolic(SMALL).array, (16, 16, 4), (4, 8), 2, A=4, B=4, C_drain=2)


def test_bandwidth_and_time_by_hand():
    metrics = SMALL.metrics(configuration_of(SMALL, TILING))
    seconds = metrics["latency"] / (300 * 10**6)
    # A and B are read once, C is written once, in words of two bytes
    assert metrics["bandwidth"] == 2 * (16 * 8 + 16 * 8 + 16 * 16) / seconds / 10**9
    assert metrics["time"] == 1000 * seconds


@given(mm_points())
def test_ports_bound_the_bandwidth(point):
    problem, configuration = point
    most = problem.design.most("bandwidth")
    assert problem.metrics(configuration)["bandwidth"] <= most


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("kernel", ["mm", "conv2d", "mttkrp", "ttmc"])
def test_cycles_as_they_fall_hold_all_transfers(kernel, regime):
    draw = random.Random(1)
    for array in choose_designs(workload(kernel), Edition.CYCLE):
        for _ in range(4):
            nest = workload(
                kernel, {loop: draw.choice([1, 2, 3, 8, 12]) for loop in workload(kernel).loops}
            )
            design = SystolicDesign(
                nest, array, DATA_TYPES["fp32"], technology=Technology(machine=REGIMES[regime])
            )
            most = design.most("bandwidth")
            for configuration in small_arrays(design, 4, draw.randrange(1000)):
                costs = design.costs(configuration)
                # one tensor's module at a time: 16 words of 32 bits in a cycle
                assert max(costs.words.values()) <= 16 * costs.latency
                assert (
                    design.metrics({k: Fraction(n) for k, n in configuration.items()}, FRACTION)[
                        "bandwidth"
                    ]
                    <= most
                )


def test_a_limit_that_ports_cannot_exceed_costs_nothing():
    """Three ports of 64 bytes a cycle at 300 MHz move 57.6 GB/s; the U250 has 77."""
    assert mm_problem((64, 64, 64)).design.most("bandwidth") == Fraction("57.6")
    kept, dropped = (
        mm_problem((64, 64, 64), more_limits=(Limit("bandwidth", Fraction(b)),))
        for b in ("57.5", "57.6")
    )
    assert len(kept.symbolic().limits) == 3
    assert len(dropped.symbolic().limits) == 2
    assert dropped.limits[-1] in replace(dropped).limits


def random_problem(seed):
    """A small problem, with the bandwidth of its optimum limited to between half of it and just
    more."""
    draw = random.Random(seed)
    array = draw.choice(designs(workload("mm"), draw.choice([Edition.EXACT, Edition.ODYSSEY])))
    sizes = (draw.randint(2, 7), draw.randint(2, 7), draw.randint(2, 6))
    objective = draw.choice(
        [
            "latency",
            "latency",
            "latency",
            "dsp",
            "energy",
            "bandwidth",
            "time*bandwidth",
            "-throughput",
        ]
    )
    problem = mm_problem(
        sizes,
        array.dataflow,
        array.permutation,
        array.edition.value,
        dsp=str(draw.randint(10, 200) / 2),
        bram18k=str(draw.randint(8, 100)),
        objective=objective,
        dtype=draw.choice(["fp32", "int16", "int8"]),
        more_limits=()
        if objective == "latency"
        else (Limit("time", Fraction(draw.randint(6, 30), 10_000)),),
    )
    free, share = solve_exact(problem), Fraction(draw.randint(50, 105), 100)
    bound = Fraction(1) if free.value is None else free.metrics["bandwidth"] * share
    return replace(problem, limits=(*problem.limits, Limit("bandwidth", bound)))


@pytest.mark.parametrize("seed", range(8))
def test_every_engine_proves_the_optimum(seed):
    problem = random_problem(seed)
    expected = enumerated_optimum(problem)
    found = [solve(problem) for solve in (solve_exact, engine("cpsat"))]
    assert found[0].value == found[1].value
    for solution in found:
        assert solution.certificate.status is (
            Status.INFEASIBLE if expected is None else Status.OPTIMAL
        )
        assert expected is None or float(solution.value or 0) == pytest.approx(
            float(expected), rel=1e-12
        )


@pytest.mark.parametrize("seed", range(8, 120))
def test_every_engine_proves_the_optimum_of_many(seed):
    test_every_engine_proves_the_optimum(seed)


@pytest.mark.parametrize("seed", range(2))
def test_geometric_programs_bound_it(seed):
    problem = replace(random_problem(seed), objective=parse_objective("latency"))
    expected = enumerated_optimum(problem)
    solution = engine("gp")(problem, SolveOptions(time_limit=1))
    if expected is None:
        assert solution.value is None
        return
    bound = solution.certificate.lower_bound
    assert bound is None or float(bound) <= float(expected) * (1 + 1e-12)
    if solution.configuration is not None:
        assert problem.feasible_value(solution.configuration) is not None
        assert float(solution.value) >= float(expected) * (1 - 1e-12)


def test_a_limited_bandwidth_bounds_the_latency():
    """At 1.5 GB/s and 300 MHz, 5 bytes a cycle: no run is shorter than a fifth of its bytes, and
    programs prove by that."""
    problem = mm_problem(
        (8, 8, 8), dtype="int8", more_limits=(Limit("bandwidth", Fraction("1.5")),)
    )
    (floor,) = problem.floors
    configuration = systolic(problem).configuration(
        mm_tiling(systolic(problem).array, (8, 8, 8), (2, 2), 2, A=2, B=2, C_drain=2)
    )
    values = {name: Fraction(value) for name, value in configuration.items()}
    assert floor.evaluate(values, FRACTION) == Fraction(3 * 64, 5)
    assert mm_problem((8, 8, 8), dtype="int8").floors == ()
    assert replace(problem, objective=parse_objective("dsp")).floors == ()
    expected, solution = solve_exact(problem), engine("gp")(problem)
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == expected.value
    free = solve_exact(mm_problem((8, 8, 8), dtype="int8")).value
    assert free < expected.value


def test_the_platform_that_needs_it():
    """Without it, int8 3000×768×768 on a ZCU102 has its optimum at 28.7 GB/s, more than the 19.2 of
    its memory."""
    free = mm_problem((3000, 768, 768), dsp="1764", bram18k="1276.8", dtype="int8")
    unlimited = solve_exact(free)
    memory = load_platform("zcu102").memory
    limited = solve_exact(
        replace(free, limits=(*free.limits, Limit("bandwidth", memory.bandwidth.limit)))
    )
    assert (unlimited.value, limited.value) == (509189, 512623)
    assert float(unlimited.metrics["bandwidth"]) == pytest.approx(28.69, abs=0.01)
    assert limited.metrics["bandwidth"] <= Fraction("19.2")
    assert limited.certificate.status is Status.OPTIMAL


@pytest.mark.parametrize("dataflow", ["i", "k"])
def test_the_least_bandwidth_that_would_do_is_that_of_enumeration(dataflow):
    options = {"dtype": "int16", "dsp": "4"}
    free = mm_problem((3, 2, 4), (dataflow,), objective="bandwidth", **options)
    least = enumerated_optimum(free)
    low = Limit("bandwidth", least / 2)
    none = solve_design(mm_problem((3, 2, 4), (dataflow,), more_limits=(low,), **options))
    assert none.certificate.status is Status.INFEASIBLE
    (fall,) = [fall for fall in none.shortfalls if fall.metric == "bandwidth"]
    assert fall.proven
    assert fall.others_kept
    assert float(fall.smallest) == pytest.approx(float(least), rel=1e-12)
    for bound, fits in ((fall.smallest, True), (fall.smallest * Fraction(999, 1000), False)):
        limit = Limit("bandwidth", bound)
        problem = mm_problem((3, 2, 4), (dataflow,), more_limits=(limit,), **options)
        assert (solve_exact(problem).value is not None) == fits
