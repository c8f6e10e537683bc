"""The default engine, and engines checked against each other."""

import time
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.errors import DisagreementError
from ithaca.solver import auto, combination, preparation, proof_state
from ithaca.solver.certificate import Status
from ithaca.solver.combination import NOTHING, Start, better_incumbent, bound_and_seed
from ithaca.solver.engines import Method, engine
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.frame import build_model
from ithaca.solver.verification import check_agreement, prove_again
from tests.problems import mm_problem
from tests.solver.test_exact import random_problem


@pytest.mark.parametrize("method", [Method.AUTO, Method.EXACT, "cpsat"])
@pytest.mark.parametrize("seed", [0, 7, 13, 22])
def test_every_prover_finds_the_same(method, seed):
    problem = random_problem(seed)
    expected, found = solve_exact(problem), engine(method)(problem)
    assert (found.value, found.certificate.status) == (expected.value, expected.certificate.status)


@pytest.mark.usefixtures("counted_time")
def test_auto_asks_geometric_programs_and_cpsat_when_search_alone_is_not_enough(
    monkeypatch,
):
    monkeypatch.setattr(proof_state, "ALONE", 2e-5)
    problem = mm_problem((1024, 1024, 1024))
    solution = auto.solve_auto(problem)
    assert solution.certificate.method == "exact+gp"
    assert (solution.value, solution.certificate.status) == (639876, Status.OPTIMAL)
    # with no time for exact search, CP-SAT goes on from what geometric programs found
    monkeypatch.setattr(proof_state, "PROVERS_SHARE", 1.0)
    short = auto.solve_auto(problem, SolveOptions(time_limit=0.2))
    assert short.certificate.method.startswith("exact+gp")
    # the bound of the geometric program is within 2 % of the optimum
    assert (
        Fraction(639876) * Fraction(98, 100)
        <= short.certificate.lower_bound
        <= 639876
        <= short.value
    )


def test_auto_serves_objectives_that_other_engines_cannot_express(
    monkeypatch,
):
    monkeypatch.setattr(proof_state, "ALONE", 0.0)
    problem = mm_problem((24, 20, 16), objective="latency/comp - dsp", dsp="200", bram18k="200")
    assert auto.solve_auto(problem).value == solve_exact(problem).value


def check_every_engine_at_once(problem, monkeypatch):
    """All engines are asked before exact search has begun, with and without time."""
    monkeypatch.setattr(combination, "SAMPLES", 500)
    monkeypatch.setattr(proof_state, "ALONE", 0.0)
    monkeypatch.setattr(proof_state, "PATIENCE", 0.0)
    expected = solve_exact(problem)
    solution = auto.solve_auto(problem)
    assert (solution.value, solution.certificate.status) == (
        expected.value,
        expected.certificate.status,
    )
    monkeypatch.setattr(proof_state, "PROVERS_SHARE", 1.0)
    for limit in (0.0, 0.01, 0.3):
        found = auto.solve_auto(problem, SolveOptions(time_limit=limit))
        certificate = found.certificate
        if certificate.status in (Status.OPTIMAL, Status.INFEASIBLE):
            assert (found.value, certificate.status) == (
                expected.value,
                expected.certificate.status,
            )
        elif expected.value is not None:
            assert certificate.lower_bound is None or certificate.lower_bound <= expected.value
            assert found.value is None or expected.value <= found.value != certificate.lower_bound
        else:
            assert certificate.status is Status.UNKNOWN


@pytest.mark.parametrize("seed", [2, 7, 13, 22])
def test_engines_together_claim_what_exact_search_proves(seed, monkeypatch):
    check_every_engine_at_once(random_problem(seed), monkeypatch)


@pytest.mark.parametrize("seed", range(60))
def test_engines_together_claim_what_exact_search_proves_of_many(seed, monkeypatch):
    check_every_engine_at_once(random_problem(seed), monkeypatch)


@pytest.fixture
def endless_tables(monkeypatch):
    """Tables of exact search that are never finished."""

    def endless(problem, checkpoint, narrow, tables):
        while True:
            checkpoint()

    monkeypatch.setattr(proof_state, "PATIENCE", 0.0)
    monkeypatch.setattr(preparation, "build_model", endless)


@pytest.mark.usefixtures("endless_tables", "counted_time")
@pytest.mark.parametrize("pace", [1, 1 / 4])
def test_tables_have_their_time_on_a_busy_machine(pace, monkeypatch):
    moments = []

    def looked(course, *_, **__):
        moments.append(now())
        course._looked_ahead = course.state.complete = True

    now = time.process_time
    monkeypatch.setattr(time, "process_time", lambda: pace * now())
    monkeypatch.setattr(proof_state, "PATIENCE", 0.01)
    monkeypatch.setattr(proof_state.ProofState, "_look_ahead", looked)
    began = now()
    proof_state.ProofState(mm_problem((24, 20, 16))).explore(SolveOptions(time_limit=1.0))
    assert 0.01 / pace <= moments[0] - began < 0.012 / pace


@pytest.mark.usefixtures("endless_tables")
def test_tables_are_not_finished_where_the_gap_is_met():
    solution = auto.solve_auto(mm_problem((96, 80, 40)), SolveOptions(gap=0.5))
    assert solution.certificate.method == "gp+evolve"
    assert solution.certificate.status is Status.FEASIBLE
    assert solution.certificate.gap <= 0.5


@pytest.mark.usefixtures("endless_tables")
def test_infeasibility_proven_by_geometric_programs_is_not_lost():
    solution = auto.solve_auto(mm_problem((96, 80, 40), dsp="4"))
    assert (solution.value, solution.certificate.status) == (None, Status.INFEASIBLE)


def test_a_search_ends_where_geometric_programs_prove_infeasibility(
    monkeypatch,
):
    problem = mm_problem((24, 20, 16))
    search = Search(build_model(problem), SolveOptions())
    assert search._parts
    monkeypatch.setattr(combination, "solver_start", lambda *_, **__: Start(None, True, (), ()))
    bound_and_seed(problem, search, SolveOptions())
    assert not search._parts
    start = solve_exact(problem).configuration
    assert start is not None
    search.offer(start)
    with pytest.raises(DisagreementError, match="infeasibility was proven"):
        bound_and_seed(problem, search, SolveOptions())


@pytest.mark.parametrize(
    "wrong", [Start(Fraction(10**9), False, (), ()), Start(None, True, (), ())]
)
def test_a_proof_that_a_configuration_contradicts_is_loud(wrong, monkeypatch, request):
    problem = mm_problem((24, 20, 16))
    start = solve_exact(problem).configuration
    request.getfixturevalue("endless_tables")  # exact search builds the same tables
    monkeypatch.setattr("ithaca.solver.combination.solver_start", lambda *_, **__: wrong)
    with pytest.raises(DisagreementError, match=r"was proven for design \[i,j\] C, yet there is"):
        auto.solve_auto(problem, start=start)


@pytest.mark.usefixtures("counted_time")
def test_evolution_finds_the_incumbent_where_tables_take_too_long(
    request,
):
    problem = mm_problem((96, 80, 40))
    optimum = solve_exact(problem).value
    request.getfixturevalue("endless_tables")  # exact search builds the same tables
    solution = auto.solve_auto(problem, SolveOptions(time_limit=1))
    assert solution.certificate.method == "gp+evolve"
    assert solution.certificate.status is Status.FEASIBLE
    assert (
        solution.certificate.lower_bound <= optimum <= solution.value <= optimum * Fraction(11, 10)
    )


def test_evolution_improves_the_incumbent_of_an_open_search():
    problem = mm_problem((1024, 1024, 1024))
    search = Search(build_model(problem), SolveOptions(time_limit=0.0))
    found = better_incumbent(problem, SolveOptions(), search.state.incumbent, NOTHING)
    assert found is not None
    search.offer(found)
    first = search.state.value
    assert first is not None
    # the same seed: nothing better
    assert (
        better_incumbent(problem, SolveOptions(), search.state.incumbent, NOTHING)
        == search.state.incumbent
    )


def test_agreement_is_noted_and_contradiction_is_loud():
    problem = mm_problem((12, 10, 8), dsp="100", bram18k="60")
    solution = solve_exact(problem)
    both = prove_again(solution, "cpsat", SolveOptions())
    assert both.certificate.method == "exact+cpsat"
    assert both.certificate.status is Status.OPTIMAL
    wrong = replace(
        solution, certificate=replace(solution.certificate, lower_bound=solution.value + 1)
    )
    with pytest.raises(DisagreementError, match=r"disagree on design \[i,j\] C"):
        check_agreement(wrong, solution)
    lost = replace(
        solution,
        value=None,
        configuration=None,
        certificate=replace(solution.certificate, status=Status.INFEASIBLE, lower_bound=None),
    )
    with pytest.raises(DisagreementError, match="says infeasible"):
        check_agreement(solution, lost)
    open_ = replace(
        solution,
        certificate=replace(solution.certificate, status=Status.FEASIBLE, lower_bound=Fraction(1)),
    )
    assert not check_agreement(open_, solution)
