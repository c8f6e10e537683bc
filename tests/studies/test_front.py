"""Pareto fronts: equal to brute force, proven point by point, honest when partial."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from ithaca.files.clock import running
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import REGIMES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.solver.options import SolveOptions
from ithaca.studies import scale
from ithaca.studies.best import solve_best
from ithaca.studies.front import pareto_front
from ithaca.studies.region import admits
from ithaca.studies.store import Store, Trust
from ithaca.workloads.library import workload
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.studies.brute_front import brute_front

DATAFLOWS = (("i", "j"), ("i", "k"), ("k",))

#: Sizes, whether only divisors are tried, dataflows, permutation, edition, objectives.
CASES = {
    "two objectives": ((5, 4, 4), False, (("i", "j"), ("k",)), "C", "exact", ("latency", "dsp")),
    "larger, without padding": (
        (12, 16, 16),
        True,
        DATAFLOWS,
        "C",
        "exact",
        ("latency", "bram18k"),
    ),
    "one of them constant": (
        (12, 8, 16),
        True,
        (("i",),),
        "C",
        "exact",
        ("latency", "latency-latency+1"),
    ),
    "traffic against memory": (
        (16, 32, 32),
        True,
        (("i", "j"), ("i", "k")),
        "C",
        "exact",
        ("off_chip_words", "bram18k"),
    ),
    "a maximised objective": (
        (12, 8, 16),
        True,
        (("i", "j"), ("j",)),
        "C",
        "exact",
        ("latency", "-dsp"),
    ),
    "expressions": (
        (12, 8, 16),
        True,
        (("i", "k"),),
        "C",
        "exact",
        ("latency+2*dsp", "max(bram18k, dsp)"),
    ),
    "the published edition": ((6, 4, 8), False, DATAFLOWS, "C", "odyssey", ("latency", "bram18k")),
    "the cycle edition": ((4, 4, 4), True, MM_DATAFLOWS, "C", "cycle", ("latency", "bram18k")),
    "the cycle edition, padded": (
        (3, 5, 2),
        False,
        (("i", "k"), ("k",)),
        "C",
        "cycle",
        ("off_chip_words", "latency"),
    ),
    "partial sums carried": (
        (4, 6, 8),
        True,
        (("i", "j"), ("k",)),
        "A",
        "exact",
        ("latency", "bram18k"),
    ),
    "three objectives": (
        (5, 4, 4),
        True,
        (("i", "j"), ("i", "k")),
        "C",
        "exact",
        ("latency", "dsp", "bram18k"),
    ),
    "three, another order": (
        (8, 8, 6),
        True,
        (("j",), ("k",)),
        "C",
        "exact",
        ("off_chip_words", "latency", "dsp"),
    ),
    "four": (
        (4, 4, 4),
        True,
        (("i", "j"), ("k",)),
        "C",
        "exact",
        ("off_chip_words", "bram18k", "latency", "dsp"),
    ),
}


#: Cases that take ten seconds each.
SLOW = {"larger, without padding", "the cycle edition", "four"}


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c in SLOW else c for c in CASES]
)
def test_the_front_is_what_brute_force_finds(case):
    sizes, divisors, dataflows, permutation, edition, objectives = CASES[case]
    space = SpaceOptions(divisors_only=divisors)
    problems = [
        mm_problem(sizes, d, permutation, edition, dsp="80", bram18k="100", space=space)
        for d in dataflows
    ]
    front = pareto_front(problems, objectives)
    assert front.complete
    vectors = [tuple(float(v) for v in p.values) for p in front.points]
    assert vectors == sorted(vectors)
    assert len(set(vectors)) == len(vectors)
    assert set(vectors) == brute_front(problems, objectives)
    check_points(front)


@pytest.mark.parametrize("regime", REGIMES)
def test_fed_tiles_are_divided_among_their_turns_on_a_grid(regime):
    nest = workload("mttkrp", {"i": 4, "j": 4, "k": 2, "l": 2})
    array = derive(nest, ("j",), "D", Edition.CYCLE)
    assert any(buffer.intra != array.pe.trips for group in array.groups for buffer in group.buffers)
    limits = (Limit("dsp", Fraction(80)), Limit("bram18k", Fraction(60)))
    technology, objective = Technology(machine=REGIMES[regime]), parse_objective("latency")
    space = SpaceOptions(divisors_only=True)
    problem = Problem(
        SystolicDesign(nest, array, data_type("fp32"), space, technology=technology),
        limits,
        objective,
    )
    front = pareto_front([problem], ("latency", "bram18k"))
    assert front.complete
    assert {tuple(map(float, p.values)) for p in front.points} == brute_front(
        [problem], ("latency", "bram18k")
    )
    check_points(front)


def check_points(front):
    """Values are the reference's, limits are met, and the proof says what it must."""
    for point in front.points:
        metrics = point.problem.metrics(point.configuration)
        assert point.values == tuple(o.value(metrics) for o in front.objectives)
        assert point.problem.feasible_value(point.configuration) is not None
        assert {step.objective for step in point.proof} == set(range(len(front.objectives)))
        for step in point.proof:
            assert step.value == point.values[step.objective]
            assert admits(step.region, point.values)
            # each minimum is under the minima of the steps before
        for before, after in pairwise(point.proof):
            bound = after.region[before.objective]
            assert (bound.value, bound.strict) == (before.value, False)


@pytest.mark.parametrize(
    ("sizes", "objectives"),
    [
        ((2, 3, 4), ("latency", "power")),
        ((2, 3, 2), ("power", "latency")),
        ((2, 3, 4), ("dsp", "power")),
        pytest.param(
            (2, 2, 4), ("latency", "dsp/latency", "-throughput/dsp"), marks=pytest.mark.slow
        ),
    ],
)
def test_fronts_of_true_quotients_are_what_brute_force_finds(sizes, objectives):
    space = SpaceOptions(divisors_only=True)
    problems = [
        mm_problem(sizes, d, dsp="80", bram18k="100", space=space) for d in (("i", "j"), ("k",))
    ]
    front = pareto_front(problems, objectives)
    assert front.complete
    found = [tuple(f"{float(v):.9g}" for v in p.values) for p in front.points]
    assert len(set(found)) == len(found)
    assert set(found) == {
        tuple(f"{v:.9g}" for v in vector) for vector in brute_front(problems, objectives)
    }
    check_points(front)


class Stop:
    """Says stop once so many proofs are in a folder."""

    def __init__(self, folder, count):
        self.folder = folder
        self.count = count

    def __call__(self):
        return len(list(self.folder.glob("*.json"))) >= self.count


def timeless(front):
    def step(proof):
        return replace(proof, seconds=0.0)

    points = tuple(replace(p, proof=tuple(map(step, p.proof))) for p in front.points)
    return replace(
        front, points=points, completeness=tuple(map(step, front.completeness)), seconds=0.0
    )


@pytest.mark.parametrize(
    ("sizes", "objectives", "count"),
    [
        ((6, 5, 4), ("latency", "dsp"), 1),
        ((6, 5, 4), ("latency", "dsp"), 7),
        ((2, 3, 2), ("-throughput", "power"), 4),
    ],
)
def test_an_interrupted_front_resumes_to_the_same_front(tmp_path, sizes, objectives, count):
    problems = [
        mm_problem(sizes, d, dsp="60", space=SpaceOptions(divisors_only=True)) for d in DATAFLOWS
    ]
    alone = pareto_front(problems, objectives)
    store = Store(tmp_path / "kept")
    part = pareto_front(
        problems, objectives, SolveOptions(stop=Stop(store.folder, count)), store=store
    )
    assert part.unfinished == "interrupted"
    kept = {path.name: path.stat().st_mtime_ns for path in store.folder.iterdir()}
    assert len(kept) == count
    assert timeless(pareto_front(problems, objectives, store=store)) == timeless(alone)
    assert all(
        (store.folder / name).stat().st_mtime_ns == changed for name, changed in kept.items()
    )
    # all is known now: no search needs to begin
    again = pareto_front(problems, objectives, SolveOptions(time_limit=1e-9), store=store)
    assert timeless(again) == timeless(alone)


def test_a_partial_front_begins_with_the_minimum_of_every_objective():
    problems = [
        mm_problem((4, 3, 4), d, dsp="60", space=SpaceOptions(divisors_only=True))
        for d in DATAFLOWS
    ]
    objectives = ("latency", "off_chip_words", "dsp")
    front = pareto_front(problems, objectives, max_points=3)
    for number, text in enumerate(objectives):
        least = solve_best([replace(p, objective=parse_objective(text)) for p in problems]).value
        assert min(p.values[number] for p in front.points) == least


def test_no_time_gives_no_points_and_says_so():
    front = pareto_front(
        [mm_problem((16, 12, 8))], ("latency", "dsp"), SolveOptions(time_limit=1e-9)
    )
    assert (front.points, front.unfinished) == ((), "time was up")


def test_interruption_keeps_the_points_found():
    problems = [mm_problem((8, 6, 4), d, dsp="60") for d in DATAFLOWS]
    found = 0

    def report(points, design, progress):
        nonlocal found
        found = points

    front = pareto_front(
        problems, ("latency", "dsp"), SolveOptions(stop=lambda: found >= 3), report=report
    )
    assert front.unfinished == "interrupted"
    assert len(front.points) >= 3
    check_points(front)


def test_an_infeasible_front_is_complete_and_names_the_limit():
    front = pareto_front([mm_problem((6, 5, 4), d, dsp="4") for d in DATAFLOWS], ("latency", "dsp"))
    assert front.complete
    assert not front.points
    assert {s.metric for s in front.shortfalls} == {"dsp"}


def test_limits_on_an_objective_hold():
    problem = mm_problem(
        (6, 5, 4),
        more_limits=(Limit("latency", Fraction(200)),),
        space=SpaceOptions(divisors_only=True),
    )
    front = pareto_front([problem], ("latency", "dsp"))
    assert front.complete
    assert max(p.values[0] for p in front.points) <= 200
    assert {tuple(map(float, p.values)) for p in front.points} == brute_front(
        [problem], ("latency", "dsp")
    )


@pytest.mark.parametrize(
    ("objectives", "told"),
    [
        (("latency",), "2 to 5"),
        (("latency", "latency"), "twice"),
        (("latency", " latency + 0"), "twice"),
        (("latency", "speed"), "speed"),
        (("latency", "area"), "area"),
    ],
)
def test_bad_objectives_are_refused(objectives, told):
    with pytest.raises(InputError, match=told):
        pareto_front([mm_problem((6, 5, 4))], objectives)


def test_nothing_is_built_for_a_front_once_time_is_over(monkeypatch):
    # so that of a network of many layers those after the limit cost nothing
    built = []
    monkeypatch.setattr(scale, "in_quantities", lambda *part: built.append(part))
    with running(0.0):
        front = pareto_front([mm_problem((4, 4, 4))], ("latency", "dsp"))
    assert (front.unfinished, front.points, built) == ("time was up", (), [])


@pytest.mark.ci
def test_a_spoilt_proof_is_made_anew(tmp_path):
    notes = []
    space = SpaceOptions(divisors_only=True)
    problems = [mm_problem((6, 4, 4), ("k",), dsp="60", space=space)]
    store = Store(tmp_path / "kept", notes.append, trust=Trust(foreign=True))
    front = pareto_front(problems, ("latency", "dsp"), store=store)
    paths = sorted(store.folder.iterdir())
    for path in paths:
        text = path.read_text()
        if '"status": "infeasible"' in text:
            path.write_text(text.replace('"status": "infeasible"', '"status": "optimal"'))
        else:
            path.write_text(text.replace('"lower_bound": "', '"lower_bound": "-'))
    again = pareto_front(problems, ("latency", "dsp"), store=store)
    assert len(notes) == len(paths) > 0
    assert timeless(again) == timeless(front)


@pytest.mark.ci
def test_a_front_of_two_points_at_most_is_labelled_partial_and_holds_the_extremes():
    space = SpaceOptions(divisors_only=True)
    problems = [mm_problem((6, 4, 4), ("k",), dsp="60", space=space)]
    whole = pareto_front(problems, ("latency", "dsp"))
    part = pareto_front(problems, ("latency", "dsp"), max_points=2)
    assert whole.complete
    assert not part.complete
    assert "2 points" in str(part.unfinished)
    vectors = [p.values for p in whole.points]
    assert len(vectors) > 2
    assert [p.values for p in part.points] == [vectors[0], vectors[-1]]
    check_points(part)
    assert pareto_front(problems, ("latency", "dsp"), max_points=len(vectors)).complete
