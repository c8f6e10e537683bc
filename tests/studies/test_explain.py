"""``ithaca explain``: facts against figures worked out by hand, roofs against every solved
problem."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.commands.api.loading import load
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.insight.cycles import PES
from ithaca.formulations.systolic.insight.facts import facts
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.unreachable import exceeded
from ithaca.results.explanation import (
    Change,
    ChangeKind,
    first_change,
    limit_uses,
    other_designs,
    raised_limits,
    worthless,
)
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.studies.best import solve_best
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.library import workload, workload_names
from ithaca.workloads.nest import LoopNest, footprints
from tests.command_line import ithaca, refused, succeed
from tests.problems import configuration_of, mm_points, mm_problem, mm_tiling
from tests.refusals import refusals


def facts_of(problem, configuration):
    """All facts about a configuration."""
    return facts(systolic(problem).nest, systolic(problem).costs(configuration), problem.limits)


def best_of_1024():
    """The proven optimum of 1024³ on the U250, (205,172,64 | 41,4,8)."""
    problem = mm_problem((1024, 1024, 1024))
    tiling = mm_tiling(systolic(problem).array, (205, 172, 64), (41, 4), 8, A=16, B=16, C_drain=4)
    return problem, configuration_of(problem, tiling)


@pytest.fixture(scope="module")
def known():
    """Facts about that optimum."""
    return facts_of(*best_of_1024())


def test_the_binding_module_and_the_next(known):
    # 5·6·16 = 480 tiles; a PE works (64/8)·41·4 cycles a tile, an L2 buffer of A swaps in one more
    assert (known.binding.first.name, known.binding.first.cycles) == (PES, 480 * 8 * 41 * 4)
    assert known.binding.first.takes == known.binding.main == 480 * (8 * 41 * 4 + 1)
    # A crosses DRAM in tiles of 205·64 words, 16 at a time
    assert (known.binding.second.name, known.binding.second.cycles) == (
        "A_IO_L3_in",
        480 * 205 * 64 // 16,
    )
    assert known.binding.waiting == 480
    assert known.binding.ratio == Fraction(630_240, 393_600)
    assert known.binding.share == Fraction(629_760, 639_876)


def test_where_the_cycles_go(known):
    # 5·43 PEs of 8 MAC units
    assert known.cycles.useful == Fraction(1024**3, 5 * 43 * 8)
    assert known.cycles.useful + known.cycles.padding == 629_760
    assert (known.cycles.partial_sums, known.cycles.waiting) == (0, 480)
    assert (known.cycles.prologue, known.cycles.epilogue, known.cycles.fill) == (821, 8_815, 9_636)
    assert known.cycles.latency == 639_876


def test_padding(known):
    assert known.padding.padded_operations == 1025 * 1032 * 1024
    assert known.padding.share == 1 - Fraction(1024 * 1024, 1025 * 1032)
    i, j, k = known.padding.loops
    # the last tile of i lacks one iteration of 41 a lane, that of j eight of 4 a lane
    assert (i.padded, i.lanes, i.idle_lanes) == (1025, 5, 0)
    assert (j.padded, j.lanes, j.idle_lanes) == (1032, 43, 2)
    assert (k.padded, k.lanes, k.idle_simd) == (1024, 1, 0)


def test_slack_of_the_limits():
    dsp, bram = limit_uses(*best_of_1024())
    assert (dsp.metric, dsp.slack, dsp.slack_share) == (
        "dsp",
        Fraction("1.6"),
        Fraction("1.6") / Fraction("8601.6"),
    )
    assert (bram.metric, bram.slack) == ("bram18k", Fraction("1248.2"))


def test_roofs(known):
    assert (known.roofs.array.units, known.roofs.array.cycles) == (1720, Fraction(1024**3, 1720))
    assert known.roofs.budget.units == 1720  # of five DSP blocks each: 8,600 of 8,601.6
    assert known.roofs.traffic.cycles == 1024 * 1024 // 16
    assert known.roofs.distance(known.roofs.traffic) == Fraction(639_876, 65_536)
    assert known.roofs.traffic.least_words == 3 * 1024 * 1024
    assert known.roofs.traffic.moved == {"A": 6_297_600, "B": 5_283_840, "C": 1_057_800}
    assert known.roofs.intensity == Fraction(1024**3, 12_639_240)


def test_idle_simd_lanes_and_partial_sums():
    problem = mm_problem((8, 8, 13), ("i", "j"), "A")
    tiling = mm_tiling(
        systolic(problem).array,
        (8, 8, 8),
        (4, 4),
        4,
        **dict.fromkeys(["A", "B", "C", "C_drain"], 4),
    )
    found = facts_of(problem, configuration_of(problem, tiling))
    # 13 of 16 iterations: the last vector of 4 has one to do
    assert found.padding.loops[2].idle_simd == 3
    # i and j have one tile, k two: each PE stores its 16 sums once and loads them once
    assert found.cycles.partial_sums == 2 * 16


def check(problem, configuration):
    """Check what holds of every configuration."""
    found = facts_of(problem, configuration)
    costs = systolic(problem).costs(configuration)
    parts = (*found.cycles.shares.values(), found.padding.share, found.binding.share)
    assert all(0 <= share <= 1 for share in parts)
    assert sum(found.cycles.shares.values()) == 1
    assert found.cycles.latency == costs.latency
    assert found.binding.first.takes == costs.main
    assert found.binding.ratio is None or found.binding.ratio >= 1
    assert found.roofs.array.cycles <= costs.latency
    assert found.roofs.traffic.cycles <= costs.main
    for name, words in found.roofs.traffic.moved.items():
        assert words >= found.roofs.traffic.least[name]
    for loop in found.padding.loops:
        assert 0 <= loop.idle_lanes < loop.lanes or loop.idle_lanes == 0
    if not exceeded(problem.limits, problem.metrics(configuration)):
        assert found.roofs.budget.cycles <= found.roofs.array.cycles
        assert all(0 <= use.slack <= use.bound for use in limit_uses(problem, configuration))


@given(mm_points())
def test_shares_and_roofs_of_random_configurations(point):
    check(*point)


@pytest.mark.parametrize("edition", [Edition.EXACT, Edition.ODYSSEY])
def test_roofs_of_a_strided_convolution(edition):
    nest = workload("conv2d", {"r": 5, "c": 4, "o": 3, "i": 8, "p": 3, "q": 1, "s": 4})
    like = mm_problem((2, 2, 2))
    solved = 0
    for array in designs(nest, edition)[::5]:
        problem = Problem(
            SystolicDesign(nest, array, systolic(like).data), like.limits, like.objective
        )
        solution = solve_exact(problem, SolveOptions(gap=0.5))
        if solution.configuration is not None:
            check(problem, solution.configuration)
            solved += 1
    assert solved


access_terms = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 5)),
    min_size=0,
    max_size=3,
    unique_by=lambda t: t[0],
)


@given(st.lists(access_terms, min_size=1, max_size=2), st.tuples(*[st.integers(1, 6)] * 3))
def test_a_footprint_counts_elements(subscripts, extents):
    sizes = dict(zip("abc", extents, strict=True))
    read = Access("X", tuple(Affine(tuple(terms), 1) for terms in subscripts))
    nest = LoopNest(
        "n",
        tuple(sizes.items()),
        Access("Y", (Affine((("a", 1),)),)),
        (read, Access("Z", tuple(Affine(((loop, 1),)) for loop in "bc"))),
        simd="a",
    )
    touched = {
        tuple(sum(c * at[loop] for loop, c in terms) for terms in subscripts)
        for point in product(*map(range, extents))
        for at in (dict(zip("abc", point, strict=True)),)
    }
    counted = footprints(nest)
    assert counted["Y"] == extents[0]
    assert counted["Z"] == extents[1] * extents[2]
    loops = [loop for terms in subscripts for loop, _ in terms]
    independent = len(loops) == len(set(loops)) and all(len(terms) < 3 for terms in subscripts)
    assert counted["X"] == len(touched) if independent else counted["X"] <= len(touched)


@pytest.mark.parametrize("name", list(workload_names()))
def test_every_workload_has_its_facts(name):
    small = workload(name, dict.fromkeys(workload(name).loops, 4))
    like = mm_problem((2, 2, 2))
    solved = 0
    for array in designs(small, Edition.EXACT)[:3]:
        problem = Problem(
            SystolicDesign(small, array, systolic(like).data), like.limits, like.objective
        )
        solution = solve_exact(problem, SolveOptions(gap=0.5))
        if solution.configuration is not None:
            check(solution.problem, solution.configuration)
            solved += 1
    assert solved


def test_raised_limits_are_solved_again():
    problems, solves = [mm_problem((32, 24, 16), ("i", "k"), dsp="155")], []

    def solve(asked, starts):
        solves.append(asked)
        return solve_best(asked, starts=starts)

    changes = raised_limits(problems, solve(problems, [None]), solve)
    assert len(solves) == 1 + 2 + 1  # of 10 % more block RAM nothing comes, nor of 5 % then
    assert [(c.what, c.percent) for c in changes] == [
        ("dsp", 5),
        ("bram18k", 5),
        ("dsp", 10),
        ("bram18k", 10),
    ]
    assert worthless(changes) == ("bram18k",)
    for change in changes:
        assert change.proven
        if change.what == "dsp":
            alone = solve_exact(
                mm_problem((32, 24, 16), ("i", "k"), dsp=str(float(change.raised))), SolveOptions()
            )
            assert (change.before, change.after) == (547, alone.value)
    first = first_change(changes)
    assert (first.what, first.after) == ("dsp", min(c.after for c in changes))


def test_the_largest_proven_gain_comes_first():
    def change(after, proven=True):
        return Change(
            ChangeKind.LIMIT,
            "dsp",
            Fraction(100),
            Fraction(after),
            proven,
            5,
            Fraction(1),
            Fraction(2),
        )

    assert first_change([change(90), change(80), change(10, proven=False)]) == change(80)
    assert first_change([change(100), change(110)]) is None
    assert other_designs(Fraction(5), [("a", Fraction(5)), ("b", Fraction(4))]) == (
        Change(ChangeKind.DESIGN, "b", Fraction(5), Fraction(4), True),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of results."""
    folder = tmp_path_factory.mktemp("results")
    mm = ("solve", "mm", "-s", "i=32,j=24,k=16", "--edition", "exact")
    succeed(*mm, "--limit", "dsp=155,bram18k=3763", "-o", str(folder / "mm.json"))
    assert ithaca(*mm, "--limit", "dsp=4", "-o", str(folder / "infeasible.json")).returncode == 1
    succeed(*mm, "--platform", "asic-28nm", "-o", str(folder / "asic.json"))
    return folder


def test_another_design_is_compared_with_the_best(results):
    whole = json.loads(ithaca("explain", str(results / "mm.json"), "--quick", "--json").stdout)
    done = succeed("explain", str(results / "mm.json"), "--design", "[k] C", "--json")
    document = json.loads(done.stdout)
    assert (document["schema"], document["design"]["dataflow"]) == ("ithaca/2", ["k"])
    assert whole["changes"] is None
    assert whole["first_change"] is None
    found = [c for c in document["changes"] if c["kind"] == "design"]
    assert (
        min(c["after"] for c in found)
        == whole["objective"]["value"]
        < document["objective"]["value"]
    )
    assert document["statements"][-1].startswith("To change first: take design ")


def test_it_is_told_when_no_limit_binds(results):
    words = ("-s", "i=16,j=16,k=16,l=16", "--dataflow", "i,j", "-o", str(results / "mttkrp.json"))
    succeed("solve", "mttkrp", *words)
    lines = ithaca("explain", str(results / "mttkrp.json")).stdout.splitlines()
    assert (
        "Tried: drop all limits: latency stays 2,161 (proven against the file's optimum)." in lines
    )
    assert (
        "No limit binds: the extents and the latency hiding that the accumulators need allow nothing better."
        in lines[-1]
    )
    result = load(results / "mttkrp.json")
    unlimited = solve_exact(replace(result.best.problem, limits=()))
    assert unlimited.value == 2161  # as simulated


def test_no_configuration_and_other_platforms(results):
    done = succeed("explain", str(results / "infeasible.json"))
    assert "limit dsp = 4 cannot be met; the smallest that could be met" in done.stdout
    assert "infeasible.json, not proven again" in done.stdout
    document = json.loads(ithaca("explain", str(results / "infeasible.json"), "--json").stdout)
    assert document["design"] is None
    assert document["failure"].startswith("infeasible: limit dsp = 4")
    done = succeed("explain", str(results / "asic.json"), "--quick", "--json")
    assert json.loads(done.stdout)["roofs"]["budget"] is None


@pytest.mark.parametrize(
    ("arguments", "piece"),
    refusals("studies-explain", "bad_input_is_one_line"),
)
def test_bad_input_is_one_line(results, arguments, piece):
    (results / "notes.json").write_text('{"schema": "ithaca/2"}')
    done = refused("explain", str(results / arguments[0]), *arguments[1:])
    assert piece in done


@pytest.mark.ci
def test_what_to_change_first_is_said_last(results):
    done = succeed("explain", str(results / "mm.json"))
    assert done.stdout.splitlines()[-1].startswith("To change first: raise dsp by ")


@pytest.mark.ci
def test_an_unbuildable_design_is_called_so_by_solve_and_explain(tmp_path):
    design = ("--dataflow", "i,j", "--permutation", "A", "--include-unbuildable")
    words = (*design, "--edition", "exact", "--divisors-only", "-o", tmp_path / "loop.json")
    solved = succeed("solve", "mm", "-s", "i=4,j=4,k=4", *words)
    reason = "not buildable: partial sums of C are copied in (C_IO_L1_in): a feedback loop that HLS does not synthesize"
    assert f"({reason})" in solved.stdout
    assert f"\nDesign: {reason}.\n" in succeed("explain", tmp_path / "loop.json", "--quick").stdout
