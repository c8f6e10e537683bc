"""False results: refused when loaded, or found out by ``ithaca verify``."""

import copy
from dataclasses import replace
from fractions import Fraction

import pytest

import ithaca
from ithaca.commands.api.verifying import verify
from ithaca.files.errors import DisagreementError, InputError
from ithaca.files.writing import document_text
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.results.files import result_document
from ithaca.solver import verification
from ithaca.solver.again import provers
from ithaca.solver.certificate import Status, Termination
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method, engine
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_design
from ithaca.solver.result import Result
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution, make_solution
from ithaca.workloads.library import workload
from tests.problems import mm_problem

SECONDS = 20.0


def problem(dsp=40):
    """A small matrix product: 8 × 8 × 8 on few DSPs."""
    nest = workload("mm", {"i": 8, "j": 8, "k": 8})
    limits = (Limit("dsp", Fraction(dsp)), Limit("bram18k", Fraction(100)))
    return Problem(
        SystolicDesign(nest, derive(nest, ("i", "j"), "C"), DATA_TYPES["fp32"]),
        limits,
        parse_objective("latency"),
    )


def write(path, solution, edit=lambda design: None):
    """A result of one solution, each of its copies edited."""
    best = solution if solution.configuration is not None else None
    document = copy.deepcopy(result_document(Result("u250", best, (solution,))))
    for design in (document["best"], *document["designs"]):
        if design is not None:
            edit(design)
    path.write_text(document_text(document))
    return path


def feasible(bound):
    """The optimum, as one that is not proven."""
    best = solve_exact(problem())
    lower = None if bound is None else Fraction(bound)
    return replace(best, certificate=conclude(best.value, lower, method="exact", exhausted=True))


def test_a_bound_above_the_optimum_is_found_out(tmp_path):
    best = solve_exact(problem())
    worse = next(
        c
        for c in (
            systolic(best.problem).configuration(
                replace(best.tiling, pack={**best.tiling.pack, "A": p})
            )
            for p in (1, 2, 4)
        )
        if (best.problem.feasible_value(c) or 0) > best.value
    )
    value = best.problem.value(worse)
    bound = (best.value + value) / 2
    claimed = make_solution(
        best.problem, worse, conclude(value, bound, method="exact", exhausted=True)
    )
    path = write(tmp_path / "r.json", claimed)
    assert ithaca.load(path).designs[0].certificate.status is Status.FEASIBLE
    with pytest.raises(
        InputError,
        match=r"r.json: designs\[0\].certificate: nothing below .* is said to be possible, yet there is .* the file was edited",
    ):
        verify(path, time_limit=SECONDS)
    optimal = replace(claimed, certificate=conclude(value, value, method="cpsat"))
    with pytest.raises(
        InputError,
        match=r"nothing below .* is said to be possible, yet there is a .* the file was edited",
    ):
        verify(write(path, optimal), time_limit=SECONDS)


def test_engines_that_disagree_are_told_from_an_edited_file(tmp_path, monkeypatch):
    best = solve_exact(problem())
    assert best.value is not None
    false = conclude(None, None, complete=True, method="cpsat")
    path = write(tmp_path / "r.json", make_solution(best.problem, None, false))
    with pytest.raises(
        InputError, match=r"nothing is said to be possible, yet there is a .* the file was edited"
    ):
        verify(path, time_limit=SECONDS)

    def broken(method):
        return (
            (lambda problem, *_, **__: make_solution(problem, None, false))
            if method == "cpsat"
            else engine(method)
        )

    monkeypatch.setattr(verification, "engine", broken)
    with pytest.raises(DisagreementError, match="please report"):
        verify(path, time_limit=SECONDS)


def test_a_bound_is_proven_again_or_called_unchecked(tmp_path):
    found = feasible(80)  # above what the roof proves in no time, below the optimum, 90
    again = verify(write(tmp_path / "r.json", found), time_limit=SECONDS)
    assert again.confirmed
    assert "lower bound 80; proven again" in str(again)
    hurried = verify(write(tmp_path / "r.json", found), time_limit=1e-9)
    assert not hurried.confirmed
    assert "lower bound 80; bound not checked" in str(hurried)
    unclaimed = verify(write(tmp_path / "r.json", feasible(None)), time_limit=SECONDS)
    assert unclaimed.confirmed
    assert "no proof is claimed" in str(unclaimed)


def test_what_is_not_better_is_proven_so_however_bad_its_value_is():
    """A claimed gap is met early by configurations that are better than the recorded one."""
    best = solve_exact(mm_problem((96, 96, 96)))
    own = best.problem
    small = {name: 8 if name in ("t2.i", "t2.j") else 1 for name in best.configuration}
    worse = Configuration(
        small | {"t1.i": 8, "t1.j": 8, "tiles.i": 12, "tiles.j": 12, "tiles.k": 96}
    )
    value = own.feasible_value(worse)
    assert value > 10 * best.value
    proof = conclude(value, best.value, method="exact", exhausted=True)
    proof = replace(proof, termination=Termination.BEATEN)
    line, confirmed = verification.verify(
        make_solution(own, worse, proof), SolveOptions(time_limit=SECONDS), "designs[0]"
    )
    assert confirmed, line


def test_limits_that_help_are_not_missed_where_another_design_is_open(tmp_path):
    none = replace(solve_design(problem(4)), shortfalls=())
    nest = none.problem.design.nest
    own = replace(none.problem.design, array=derive(nest, ("i",), "C"))
    unproven = conclude(None, Fraction(0), SolveOptions(time_limit=0.0), method="exact")
    other = Solution(replace(none.problem, design=own), None, None, unproven)
    document = result_document(Result("u250", None, (none, other)))
    (tmp_path / "r.json").write_text(document_text(document))
    assert verify(tmp_path / "r.json", time_limit=SECONDS).checks[0].confirmed


def test_shortfalls_are_checked(tmp_path):
    none = solve_design(problem(4))
    (real,) = none.shortfalls
    assert (real.metric, real.smallest) == ("dsp", 5)
    path = tmp_path / "r.json"
    found = verify(write(path, none), time_limit=SECONDS)
    assert found.confirmed
    assert "confirmed by enumeration" in str(found)
    for invented, words in (
        (
            replace(real, smallest=Fraction(6)),
            "nothing below 6 is said to be possible, yet there is a configuration with 5",
        ),
        (
            replace(real, smallest=Fraction(9, 2)),
            "4.5 is said to be possible, yet nothing below 5 is",
        ),
        (
            Shortfall("bram18k", Fraction(100), Fraction(200), True, True, "[i,j] C"),
            "raising bram18k is said to help, yet nothing is",
        ),
        (
            replace(real, smallest=Fraction(6), proven=False),
            "nothing below 6 is said to be possible, yet there is a configuration with 5",
        ),
    ):
        with pytest.raises(InputError, match=words):
            verify(write(path, replace(none, shortfalls=(invented,))), time_limit=SECONDS)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"power": 0.01, "latency": 300}, {"power"}),
        ({"bandwidth": 0.1, "latency": 300}, {"bandwidth"}),
        ({"power": 0.02, "dsp": 4}, set()),
        ({"energy": 1000, "bandwidth": 0.01}, set()),
    ],
)
def test_limits_said_to_help_alone_do(limits, kept, tmp_path):
    result = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", limit=limits)
    falls = [fall for each in result.designs for fall in each.shortfalls]
    # of a limit without a smallest value it is open whether raising it alone would do
    known = [fall for fall in falls if fall.smallest is not None]
    assert {fall.metric for fall in known if fall.others_kept} == kept
    assert kept or {fall.metric for fall in falls} == {*limits}
    result.save(tmp_path / "r.json")
    assert ithaca.verify(tmp_path / "r.json", time_limit=SECONDS).confirmed


@pytest.mark.parametrize(
    ("recorded", "last"),
    [("exact", Method.EXACT), ("gp+exact", Method.AUTO), ("exact+cpsat", Method.AUTO)],
)
def test_what_one_search_proved_is_proven_again_without_others(recorded, last):
    assert provers(problem(), recorded)[-1] is last


@pytest.mark.ci
def test_without_other_engines_a_proof_is_made_once(monkeypatch):
    monkeypatch.setattr("ithaca.solver.again.PROVERS", ("exact",))
    assert provers(problem(), "exact") == ("exact",)
