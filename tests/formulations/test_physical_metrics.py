"""Energy, power, area and throughput against figures worked out by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.metrics import METRICS, activity, metric_values, parse_objective
from ithaca.formulations.systolic.quantities import ACCUMULATORS
from ithaca.formulations.systolic.silicon import silicon
from ithaca.formulations.technology import Technology
from ithaca.solver.exact.engine import solve_exact
from tests.problems import configuration_of, costs_at, mm_problem, mm_tiling
from tests.solver.test_exact import check_against_brute_force

# (i,j)/C on 16×16×8: 4×2 PEs of 2 lanes, one tile of each loop but k, which has 2
PROBLEM = mm_problem((16, 16, 8))
TILING = mm_tiling(systolic(PROBLEM).array, (16, 16, 4), (4, 8), 2, A=4, B=4, C_drain=2)


def test_activity_is_counted_by_hand():
    counts = activity(costs_at(PROBLEM, TILING))
    assert counts["mac"] == 16 * 16 * 8
    assert counts["register"] == 3 * 16 * 16 * 8
    assert counts["dram"] == 16 * 8 + 16 * 8 + 16 * 16
    # per tile, A's 4 buffers take 4·4 words each and feed 2 words a cycle for (4/2)·4·8 = 64
    # cycles; B's 2 buffers take 8·4 and feed the same; C's 8 buffers take 4·8 words in and out,
    # once
    fed = 64 * 2
    a, b, c = 2 * 4 * (16 + fed), 2 * 2 * (32 + fed), 8 * (32 + 32)
    assert counts["buffer"] == a + b + c
    # A: half of 4 chained buffers on the way in, along 2 PEs when fed; one more module at L3. B: 2
    # chained, along 4 PEs. C: half of 4 chained drains, one step from the PE; one module each at L2
    # and L3
    a_hops = 2 * 4 * (16 * Fraction(5, 2) + fed * 2 + 16)
    b_hops = 2 * 2 * (32 * Fraction(3, 2) + fed * 4 + 32)
    c_hops = 8 * (32 * Fraction(5, 2) + 32 + 2 * 32)
    assert counts["hop"] == a_hops + b_hops + c_hops


def test_energy_weighs_activity_with_the_technology():
    counts = activity(costs_at(PROBLEM, TILING))
    expected = (
        200 * counts["dram"]
        + 6 * counts["buffer"]
        + 2 * counts["hop"]
        + counts["register"]
        + counts["mac"]
    )
    assert PROBLEM.metrics(configuration_of(PROBLEM, TILING))["energy"] == expected
    costs = costs_at(
        PROBLEM.with_design(technology=Technology(dram=Fraction(100), mac_pj=Fraction(1, 2))),
        TILING,
    )
    assert metric_values(costs)["energy"] == (expected - 100 * counts["dram"]) / 2


def test_power_and_throughput_follow_from_energy_latency_and_clock():
    costs = costs_at(PROBLEM.with_design(technology=Technology(clock_mhz=Fraction(200))), TILING)
    metrics = metric_values(costs)
    microseconds = costs.latency / 200
    assert metrics["power"] == metrics["energy"] / microseconds / 10**6  # pJ/µs is µW
    assert metrics["throughput"] == 2 * 16 * 16 * 8 / microseconds / 1000
    assert metrics["edp"] == metrics["energy"] * costs.latency
    assert (metrics["comm"], metrics["comp"]) == (costs.off_chip_words, 16)


def test_area_and_power_by_the_regressions():
    costs = costs_at(PROBLEM.with_design(technology=load_platform("asic-28nm").technology), TILING)
    sized = silicon(costs)
    # per PE: 32 accumulators and 32 drained words of 4 bytes; shared: 4·16·2 + 2·32·2 words
    assert (sized.pes, sized.lanes, sized.l1, sized.l2, sized.bandwidth) == (8, 2, 4, 1, 4 + 4 + 2)
    arbiter = 1.2886 * 64 + 5.5814 * 8 - 23.711
    bus = 10 * (14.662 * 8 + 28.895)
    area = 8 * (4470.9 * 2 + 4505.19 * 4) + 4161.536 + 101.7938 * bus + 395.473 * arbiter
    power = 8 * (1.2223 * 2 + 0.2208 * 4) + 4 + 0.0008 * bus + 0.34
    metrics = metric_values(costs)
    # the regressions are of µm² and mW
    assert float(metrics["area"]) == pytest.approx(area / 10**6, rel=1e-12)
    assert float(metrics["power"]) == pytest.approx(power / 1000, rel=1e-12)


def test_area_and_power_see_the_buffers_that_are_given():
    """Block RAM always did; the regressions took the tile's size instead."""
    asic = PROBLEM.with_design(technology=load_platform("asic-28nm").technology)
    buffers = ((ACCUMULATORS, 1000), ("A", 5000), ("B", 1), ("C_drain", 64))
    costs = costs_at(
        asic.with_design(
            hardware=tuple((f"buffer.{name}", (words, None)) for name, words in buffers)
        ),
        TILING,
    )
    sized = silicon(costs)
    # per PE 1000 accumulators and 64 drained words of 4 bytes, in blocks of 64; shared: 4·5000·2
    # words for A, B's tile is larger than what is given; in blocks of 32 KiB
    assert (sized.l1, sized.l2) == (
        -(-4 * 1064 // 64),
        -(-4 * (4 * 5000 * 2 + 2 * 32 * 2) // 32768),
    )
    less, more = metric_values(costs_at(asic, TILING)), metric_values(costs)
    larger = 8 * Fraction("4505.19") * (67 - 4) + Fraction("4161.536") * (5 - 1)
    assert more["area"] - less["area"] == larger / 10**6
    stronger = 8 * Fraction("0.2208") * (67 - 4) + 4 * (5 - 1)
    assert more["power"] - less["power"] == stronger / 1000


def test_area_is_unknown_on_an_fpga():
    assert "area" in METRICS
    assert "area" not in PROBLEM.metrics(configuration_of(PROBLEM, TILING))
    with pytest.raises(InputError, match="asic-28nm"):
        solve_exact(replace(PROBLEM, objective=parse_objective("area")))


@pytest.mark.parametrize(
    ("objective", "platform", "limits"),
    [
        ("energy", "u250", {"dsp": "100", "bram18k": "60"}),
        ("edp", "u250", {"dsp": "100"}),
        ("power", "u250", {"latency": "800"}),
        ("latency", "u250", {"power": "0.12"}),
        ("comm - comp", "u250", {"dsp": "200", "bram18k": "80"}),
        ("-comp", "u250", {"bram18k": "40"}),
        pytest.param("-throughput", "u250", {"energy*latency": "20000000"}, marks=pytest.mark.slow),
        ("latency/comp + max(dsp, bram18k)", "u250", {}),
        ("(comm - 9*comp)*(comm - 9*comp)", "u250", {"dsp": "100"}),
        ("(latency - 2*comm)*dsp", "u250", {"comm - latency": "-40"}),
        ("latency", "asic-28nm", {"area": "0.4", "power": "0.06"}),
        ("area", "asic-28nm", {"latency": "300"}),
        ("power*latency", "asic-28nm", {}),
    ],
)
def test_the_exact_engine_proves_any_of_them(objective, platform, limits):
    bounds = tuple(Limit(metric, Fraction(bound)) for metric, bound in limits.items())
    problem = replace(mm_problem((7, 6, 5), objective=objective), limits=bounds)
    problem = problem.with_design(technology=load_platform(platform).technology)
    check_against_brute_force(problem)
