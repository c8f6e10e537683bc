"""Proofs in the cycle model edition, against brute force; its results as files and on the command
line."""

import json
import random
import re

import pytest

from ithaca import network, simulate, solve
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from tests.command_line import ithaca
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.solver.known_optima import brute_force


def small_problem(seed):
    """A small matrix multiplication on any design, minimising any of some objectives."""
    draw = random.Random(seed)
    return mm_problem(
        (draw.randint(2, 10), draw.randint(2, 10), draw.randint(2, 9)),
        MM_DATAFLOWS[seed % len(MM_DATAFLOWS)],
        "C",
        Edition.CYCLE.value,
        dsp=str(draw.randint(10, 400) / 2),
        bram18k=str(draw.randint(4, 100)),
        objective=draw.choice(
            [
                "latency",
                "latency",
                "latency*dsp",
                "comm - comp",
                "latency + epilogue",
                "-throughput",
            ]
        ),
        dtype=draw.choice(["fp32", "int16", "int8"]),
    )


def check(problem, *, both):
    expected = brute_force(problem)
    for solver in (solve_exact, solve_cpsat) if both else (solve_exact,):
        solution = solver(problem)
        if expected is None:
            assert solution.certificate.status is Status.INFEASIBLE
        else:
            assert solution.certificate.status is Status.OPTIMAL
            assert float(solution.value) == pytest.approx(float(expected), rel=1e-12)
            assert solution.certificate.lower_bound == solution.value


@pytest.mark.parametrize("seed", range(18))
def test_small_problems(seed):
    check(small_problem(seed), both=seed < 6)


@pytest.mark.parametrize("seed", range(100, 220))
def test_many_small_problems(seed):
    check(small_problem(seed), both=True)


def test_where_outputs_decide_bounds_hold_what_leaves_last():
    found = solve(
        "conv2d", o=64, i=3, r=224, c=224, p=3, q=3, dataflow="o,r", edition="cycle", method="exact"
    )
    assert found.value == 803_410
    (solution,) = found.solutions
    assert solution.certificate.status is Status.OPTIMAL
    assert (
        solution.certificate.nodes < 100_000
    )  # 4.8 million where what is behind and what is drained last were bounded apart


#: Problems whose best arrays have tiles of a few cycles, shorter than what words take along a chain
#: and back.
SHORT_TILES = [
    (("mm", (16, 16, 16)), "int16", "rtl"),
    (("mm", (32, 32, 32)), "int8", "rtl"),
    (("mm", (12, 48, 6)), "int8", "rtl"),
    (("mm", (24, 6, 32)), "int8/16", "hls"),
    (("mm", (6, 32, 32)), "fp16", "hls"),
    (("conv2d", (8, 8, 6, 6, 3, 3)), "int8", "rtl"),
]


def errors_at_optima(kernel, extents, dtype, regime):
    """The errors of the proven optima of all designs against their runs."""
    names = dict(zip("ijk" if kernel == "mm" else "oircpq", extents, strict=True))
    found = solve(kernel, **names, dtype=dtype, edition="cycle", regime=regime)
    designs = [
        (systolic(s.problem), s.configuration)
        for s in found.solutions
        if s.configuration is not None
    ]
    runs = [
        simulate_network(array_network(d, configuration, d.technology.machine)).cycles
        for d, configuration in designs
    ]
    return [float(d.costs(c).latency / run - 1) for (d, c), run in zip(designs, runs, strict=True)]


@pytest.mark.parametrize(("case", "dtype", "regime"), SHORT_TILES)
def test_optima_of_narrow_types_run_as_proven(case, dtype, regime):
    errors = errors_at_optima(*case, dtype, regime)
    assert len(errors) >= 6
    assert sum(map(abs, errors)) / len(errors) <= 0.0015
    assert max(map(abs, errors)) <= 0.08


@pytest.mark.parametrize("regime", ["rtl", "hls"])
@pytest.mark.parametrize("kernel", ["mm", "conv2d"])
def test_optima_of_many_small_problems_run_as_proven(kernel, regime):
    draw, errors = random.Random(3), []
    for _ in range(40):
        outer = [draw.choice([4, 6, 7, 8, 12, 16, 24]) for _ in range(3 if kernel == "mm" else 2)]
        inner = (
            []
            if kernel == "mm"
            else [*[draw.choice([4, 6, 7]) for _ in "rc"], *[draw.choice([1, 3])] * 2]
        )
        errors += errors_at_optima(
            kernel, (*outer, *inner), draw.choice(["int8", "int16", "fp16"]), regime
        )
    assert sum(map(abs, errors)) / len(errors) <= (0.0015 if regime == "rtl" else 0.007)
    assert max(map(abs, errors)) <= 0.09


def test_it_is_the_default_and_what_is_proven_runs():
    """The answers of both doors, without an edition, take as many cycles as `ithaca simulate`
    counts."""
    layer = solve("conv2d", o=16, r=14, c=14, i=16, p=3, q=3, dataflow="o,r")
    assert layer.value == simulate(layer).cycles
    small = ("mm", "-s", "i=16,j=12,k=8", "--dataflow", "i,j")
    document = json.loads(ithaca("solve", *small, "--json").stdout)
    least = simulate(solve("mm", i=16, j=12, k=8, dataflow="i,j")).cycles
    assert (document["edition"], document["objective"]["value"]) == ("cycle", least)
    assert document["best"]["certificate"]["ties_broken"] is True
    (point,) = json.loads(ithaca("whatif", *small, "--vary", "dsp=8000", "--json").stdout)["points"]
    assert point["objective"]["value"] == least
    front = json.loads(ithaca("pareto", *small, "--objectives", "latency,dsp", "--json").stdout)
    assert min(p["values"]["latency"] for p in front["points"]) == least
    assert network("alexnet", layers="conv1", dataflow="o,r").request.edition is Edition.CYCLE


@pytest.mark.parametrize(
    ("kernel", "loops", "size", "least"),
    [("mttkrp", "ijkl", 512, 65_483_002), ("ttmc", "ijklm", 128, 33_558_545)],
)
def test_contractions_of_autosa_are_proven(kernel, loops, size, least):
    """The sizes of AutoSA's Table 4, all designs: three minutes of a processor for TTMc."""
    result = solve(kernel, **dict.fromkeys(loops, size))
    assert all(design.certificate.status is Status.OPTIMAL for design in result.designs)
    assert result.value == simulate(result).cycles == least


def test_what_cannot_be_built_is_compared_in_the_exact_edition():
    asked = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--include-unbuildable")
    document = json.loads(ithaca("solve", *asked, "--json").stdout)
    assert (document["edition"], len(document["designs"])) == ("exact", 3)
    refused = ithaca("solve", *asked, "--edition", "cycle")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "allowed: --edition exact or odyssey" in refused.stderr


def test_designs_left_out_as_they_may_hang_are_named():
    done = ithaca("solve", "mttkrp", "-s", "i=4,j=4,k=4,l=4", "--limit", "dsp=40", "--json")
    assert done.stderr.startswith(
        "ithaca: left out: [k] D, [l] D, [j,k] D, [j,l] D: may hang: C is handed on"
    )
    assert {tuple(d["dataflow"]) for d in json.loads(done.stdout)["designs"]}.isdisjoint(
        {("k",), ("l",), ("j", "k"), ("j", "l")}
    )


def test_plateaus_of_the_exact_edition_are_told_apart():
    exact, cycle = (
        solve("mm", i=64, j=64, k=64, dataflow="i,j", edition=name) for name in ("exact", "cycle")
    )
    simulated = [simulate(found).cycles for found in (exact, cycle)]
    assert simulated[1] == cycle.value
    assert simulated[1] < simulated[0]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ("--edition", "exact", "--regime", "hls"),
            "ithaca: --regime does not go with --edition exact; allowed: --edition cycle",
        ),
        (
            ("--edition", "cycle", "--regime", "asic"),
            "ithaca: --regime is 'asic'; allowed: rtl, hls",
        ),
        (("--edition", "cycle", "--sums", "now"), "ithaca: --sums is 'now'; allowed: first, last"),
    ],
)
def test_bad_input_is_one_line(options, line):
    ran = ithaca("solve", "mm", "-s", "i=8,j=8,k=8", *options)
    assert ran.returncode == 2
    assert ran.stderr == f"{line}\n"


@pytest.mark.parametrize(("sums", "warns"), [("first", True), ("last", False)])
def test_what_sums_that_come_first_cost_is_said(sums, warns):
    words = (
        "solve",
        "conv2d",
        "-s",
        "o=4,i=64,r=2,c=2,p=7,q=7",
        "--edition",
        "cycle",
        "--dataflow",
        "i",
        "--sums",
        sums,
    )
    printed = ithaca(*words).stdout
    assert ("wait for their neighbours' sums" in printed) == warns
    if warns:
        assert re.search(r"design \[i\] cout would be 2\.\d times as fast", printed)
