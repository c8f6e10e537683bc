"""One budget for all designs: the best of all comes first, and in the end every design is what it
is alone."""

import itertools
import json
import time
from dataclasses import replace
from fractions import Fraction

import pytest

import ithaca
from ithaca.files.writing import document_text
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.results.files import result_document
from ithaca.solver import combination, preparation, proof_state, schedule, steps
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.engines import ENGINES, Method
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.proof_state import ProofState
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution, best_solution
from ithaca.solver.verification import verify
from ithaca.workloads.kernel_files import kernel_nest
from ithaca.workloads.library import workload
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.solver.test_exact import random_problem

#: A depthwise convolution, strided and dilated, whose best array intervals bound badly and
#: geometric programs bound well.
STRIDED = {
    "name": "strided",
    "statement": "out[n][r][c][ch][m] += inp[n][r*s+p*d][c*s+q*d][ch] * w[ch][m][p][q]",
    "loops": ["n", "r", "c", "ch", "m", "p", "q"],
    "extents": {"n": 2, "r": 56, "c": 56, "ch": 96, "m": 2, "p": 3, "q": 3},
    "parameters": {"s": 2, "d": 2},
    "untiled": ["p", "q"],
    "simd": "ch",
}

#: Its proven optimum on the ZCU102 at 70 %, int8, over all 45 designs (of the inputs only every
#: second element is stored).
OPTIMUM = 602_896


def strided_problems(*dataflows):
    nest = kernel_nest(STRIDED, "here")
    limits = (Limit("dsp", Fraction(1764)), Limit("bram18k", Fraction("1276.8")))
    arrays = (choose_designs(nest, Edition.EXACT, tuple(loops), "out")[0] for loops in dataflows)
    return [
        Problem(SystolicDesign(nest, a, data_type("int8")), limits, parse_objective("latency"))
        for a in arrays
    ]


def stopped_before(monkeypatch, name, problems):
    """The solutions of a search that stops when a method of the rounds is first called."""
    reached = []
    method = getattr(schedule.Schedule, name)

    def reach(self, *given):
        reached.append(given)
        return method(self, *given)

    monkeypatch.setattr(schedule.Schedule, name, reach)
    return solve_designs(problems, SolveOptions(stop=lambda: bool(reached)), method=Method.AUTO)


def test_the_best_is_known_before_anything_is_searched(monkeypatch):
    monkeypatch.setattr(schedule, "ALONE", 0.0)
    monkeypatch.setattr(steps, "ALONE", 0.0)
    monkeypatch.setattr(schedule, "MOMENT", 0.0)
    found = stopped_before(monkeypatch, "_able", strided_problems("n", "r", "nr", "rm", "rc"))
    best = best_solution(found)
    assert (best.value, best.design) == (OPTIMUM, "[r,c] out")
    bounds = {s.design: s.certificate.lower_bound for s in found}
    assert None not in bounds.values()
    # only these two are left to be searched, the first of them first
    assert [design for design in bounds if bounds[design] < OPTIMUM] == ["[n,r] out", "[r,c] out"]
    assert 602_000 < bounds["[r,c] out"] < bounds["[n,r] out"]


def test_without_a_limit_every_design_is_what_it_is_alone():
    problems = [mm_problem((48, 40, 32), d) for d in MM_DATAFLOWS]
    any_tie = [solve_exact(p, SolveOptions(any_tie=True)) for p in problems]
    best = best_solution(any_tie)
    alone = [s if s.value != best.value else solve_exact(s.problem) for s in any_tie]
    for threads in (1, 2):
        together = solve_designs(problems, threads=threads)
        assert [(s.configuration, s.value, s.certificate.status) for s in together] == [
            (s.configuration, s.value, Status.OPTIMAL) for s in alone
        ]
        assert [s.certificate.nodes for s in together] == [s.certificate.nodes for s in alone]


@pytest.mark.usefixtures("counted_time")
def test_what_is_not_better_says_so_and_is_verified(monkeypatch, tmp_path):
    monkeypatch.setattr(schedule, "MOMENT", 1e-4)
    found = stopped_before(
        monkeypatch, "_unproven", [mm_problem((1024, 1024, 1024), d) for d in MM_DATAFLOWS]
    )
    result, best = Result("none", best_solution(found), found), best_solution(found)
    assert (best.value, best.certificate.status) == (639876, Status.OPTIMAL)
    beaten = [s for s in result.designs if s.certificate.termination is Termination.BEATEN]
    assert beaten
    for solution in beaten:
        assert best.value <= solution.certificate.lower_bound < solution.value
        assert solution.certificate.status is Status.FEASIBLE
    path = tmp_path / "r.json"
    path.write_text(document_text(result_document(result)), encoding="utf-8")
    assert (
        json.loads(path.read_text())["designs"][result.designs.index(beaten[0])]["certificate"][
            "termination"
        ]
        == "not better"
    )
    loaded = ithaca.load(path)
    again = loaded.designs[result.designs.index(beaten[0])]
    assert again.certificate.termination is Termination.BEATEN
    said, confirmed = verify(again, SolveOptions(time_limit=20.0), "designs")
    assert confirmed, said


@pytest.mark.parametrize("method", [method for method in ENGINES if method != Method.STAGED])
def test_no_design_is_without_a_bound(method):
    problems = [mm_problem((9, 8, 12), d) for d in MM_DATAFLOWS]
    optima = [solve_exact(p).value for p in problems]
    for options in (SolveOptions(time_limit=0.0), SolveOptions(stop=lambda: True)):
        for solution, optimum in zip(
            solve_designs(problems, options, method=method), optima, strict=True
        ):
            bound = solution.certificate.lower_bound
            assert 0 < bound <= optimum


@pytest.mark.parametrize("seed", range(40))
def test_what_needs_no_search_is_a_bound(seed):
    problem = random_problem(seed)
    optimum = solve_exact(problem).value
    assert problem.floor is None or optimum is None or problem.floor <= optimum


def test_rivals_are_those_of_one_key():
    """Two layers each have a best of their own."""
    problems = [
        mm_problem(sizes, d) for sizes in ((64, 64, 64), (16, 16, 16)) for d in (("i",), ("i", "j"))
    ]
    both = solve_designs(problems, SolveOptions(), method=Method.AUTO)
    assert [s.certificate.status for s in both] == [Status.OPTIMAL] * 4
    unsolved = schedule.Schedule(
        problems,
        schedule.Budget(SolveOptions()),
        schedule.InProcess(),
        others=False,
        starts=[s.configuration for s in both],
        rivals=[0, 0, 1, 1],
    )
    unsolved._set_rivals()  # as `run` does first
    entries = unsolved.entries
    values = [s.value for s in both]
    assert [entry.rival for entry in entries] == [
        None if values[n] == min(values[m] for m in group) else min(values[m] for m in group)
        for n, group in enumerate(((0, 1), (0, 1), (2, 3), (2, 3)))
    ]


def test_a_bound_is_beaten_by_its_rival():
    options = SolveOptions(rival=Fraction(5))
    assert options.gap_is_met(None, Fraction(5))
    assert not options.gap_is_met(None, Fraction(4))
    assert not SolveOptions().gap_is_met(None, Fraction(5))


def test_every_workload_has_its_turn_before_any_has_a_second(
    monkeypatch,
):
    """No layer of a network may be left without an incumbent because others have many designs."""
    problems = [mm_problem((n, n, n), d) for n in (48, 40, 32) for d in MM_DATAFLOWS]
    layers = [n // len(MM_DATAFLOWS) for n in range(len(problems))]
    begun = []
    advance = schedule.advance

    def note(entry, step, *rest):
        begun.append(entry.course.problem)
        return advance(entry, step, *rest)

    monkeypatch.setattr(schedule, "advance", note)
    budget = schedule.Budget(SolveOptions(time_limit=600.0, stop=lambda: len(begun) > 3))
    starts = [None] * len(problems)
    found = schedule.Schedule(
        problems, budget, schedule.InProcess(), others=True, starts=starts, rivals=layers
    )
    last = dict(found.run())
    assert [problems.index(p) for p in begun[:3]] == [
        3,
        9,
        15,
    ]  # of each the first of two dimensions
    assert sorted(last) == list(range(len(problems)))
    for layer in range(3):
        solutions = [last[n] for n in range(len(problems)) if layers[n] == layer]
        assert any(isinstance(s, Solution) and s.value is not None for s in solutions)
        assert all(
            isinstance(s, Solution) and s.certificate.lower_bound is not None for s in solutions
        )


def test_processes_come_to_the_same_best_within_a_limit():
    problems = [mm_problem((48, 40, 32), d) for d in MM_DATAFLOWS]
    optimum = min(solve_exact(p).value or 0 for p in problems)
    for threads in (1, 2):
        found = best_solution(
            solve_designs(
                problems, SolveOptions(time_limit=120.0), method=Method.AUTO, threads=threads
            )
        )
        assert (found.value, found.certificate.status) == (optimum, Status.OPTIMAL)


def steps_of(problems, options, monkeypatch):
    """The steps that the default engine takes, with the designs of each."""
    taken = []
    advance = schedule.advance

    def note(entry, step, *rest):
        taken.append((step, entry.course.problem.design.name))
        return advance(entry, step, *rest)

    monkeypatch.setattr(schedule, "advance", note)
    solve_designs(problems, options, method=Method.AUTO)
    return taken


@pytest.mark.usefixtures("counted_time")
def test_what_exact_search_proves_at_once_needs_no_other_engine_under_a_limit(
    monkeypatch,
):
    problems = [mm_problem((48, 40, 32), d) for d in MM_DATAFLOWS]
    taken = steps_of(problems, SolveOptions(time_limit=2.0), monkeypatch)
    assert {step for step, _ in taken} <= {schedule.Step.OPENING, schedule.Step.TIES}


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize("method", [Method.EXACT, Method.AUTO])
@pytest.mark.parametrize("looks", [4000, 6000])
def test_all_designs_are_as_good_as_the_best_of_them_alone(looks, method):
    """Short limits used to be spent on arrays of one dimension, and on arrays that cannot be
    built."""
    limits = (Limit("dsp", Fraction(12288)), Limit("bram18k", Fraction(5376)))
    nest, objective = workload("mm"), parse_objective("latency")
    problems = [
        Problem(SystolicDesign(nest, array, data_type("fp32")), limits, objective)
        for array in designs(nest)
    ]
    own = [p for p in problems if p.design.name == "[i,j] C"]

    def best(problems, looks):
        return solve_designs(problems, SolveOptions(time_limit=looks * 1e-5), method=method)

    (alone,), (part,) = best(own, looks), best(own, looks / len(problems))
    assert part.value is None or part.value > alone.value  # an equal share would not do
    assert best_solution(best(problems, looks)).value == alone.value == 454_593


@pytest.mark.usefixtures("counted_time")
def test_an_opening_that_proves_nothing_ends_and_the_least_bound_evolves_first(
    monkeypatch,
):
    limits = (Limit("dsp", Fraction(10**9)), Limit("bram18k", Fraction("3763.2")))
    objective = parse_objective("energy/latency-dsp")
    nest = workload("mm", {"i": 4096, "j": 4096, "k": 4096})
    arrays = choose_designs(nest, Edition.EXACT)
    problems = [
        Problem(SystolicDesign(nest, a, data_type("fp32")), limits, objective) for a in arrays
    ]
    built = []

    def slow(problem, checkpoint, *more):
        built.append(problem)
        while True:
            checkpoint()

    monkeypatch.setattr(preparation, "build_model", slow)
    monkeypatch.setattr(combination, "solver_start", lambda *_, **__: combination.NOTHING)
    monkeypatch.setattr(combination, "SAMPLES", 400)
    # the contest builds tables again
    taken = steps_of(
        problems, SolveOptions(time_limit=2.0, stop=lambda: len(built) > 2), monkeypatch
    )
    opened = [design for step, design in taken if step is schedule.Step.OPENING]
    assert opened == [
        "[i,j] C"
    ]  # the most promising one has more than a twelfth of the time, which is for all
    evolved = [design for step, design in taken if step is schedule.Step.EVOLUTION]
    assert {"[i,j] C", "[i,k] C", "[j,k] C"} == set(evolved[:3])


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(9)])
@pytest.mark.parametrize("dataflow", [("i",), ("i", "k"), ("i", "j")])
def test_what_a_rival_leaves_out_of_tables_is_not_taken_for_absent(dataflow, share):
    problem = mm_problem((24, 20, 16), dataflow)
    optimum = solve_exact(problem, SolveOptions(any_tie=True)).value
    options = SolveOptions(any_tie=True, rival=optimum * share)
    course = ProofState(problem, others=False)
    beaten = course.solve(options)
    proof = beaten.certificate
    assert not proof.empty
    assert proof.lower_bound <= optimum
    if share > 1:
        assert (beaten.value, proof.status) == (optimum, Status.OPTIMAL)
    else:
        assert proof.lower_bound >= options.rival
        assert beaten.value in (None, optimum) or beaten.value > optimum
    # without the rival, or with one that is less good, the rest is searched, too
    later = course.solve(replace(options, rival=None))
    assert (later.value, later.certificate.status) == (optimum, Status.OPTIMAL)


def test_counts_of_boxes_do_not_depend_on_the_clock(monkeypatch):
    """Without a time limit engines are handed over by work: on a clock that runs ten thousand times
    as fast, the same is done."""

    def counted(step):
        now = itertools.count()
        monkeypatch.setattr(time, "perf_counter", lambda: next(now) * step)
        problems = [
            mm_problem((97, 61, 128), d, objective="latency*energy", edition="cycle")
            for d in (("i", "j"), ("j",))
        ]
        found = solve_designs(problems, SolveOptions(), method=Method.AUTO)
        return [(s.value, s.certificate.nodes, s.certificate.method) for s in found]

    monkeypatch.setattr(schedule, "MOMENT", 1e-4)
    monkeypatch.setattr(schedule, "ALONE", 1e-3)
    monkeypatch.setattr(proof_state, "ALONE", 1e-3)
    assert counted(1e-7) == counted(1e-3)
