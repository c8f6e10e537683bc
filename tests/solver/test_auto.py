"""The default engine, and engines checked against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.formulations.problem import Problem
from ithaca.solver import auto
from ithaca.solver.agreement import check_agreement, prove_again
from ithaca.solver.certificate import Status
from ithaca.solver.combination import evolve
from ithaca.solver.engines import Method, engine
from ithaca.solver.evolution.seeding import NOTHING
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.frame import build_model
from ithaca.solver.exact.model import BoundModel
from ithaca.solver.exact.search import Search
from ithaca.solver.options import SolveOptions
from ithaca.workloads.errors import DisagreementError
from tests.problems import mm_problem
from tests.solver.test_exact import random_problem


@pytest.mark.parametrize("method", [Method.AUTO, Method.EXACT, Method.CPSAT])
@pytest.mark.parametrize("seed", [0, 7, 13, 22])
def test_every_prover_finds_the_same(method: Method, seed: int) -> None:
    problem = random_problem(seed)
    expected, found = solve_exact(problem), engine(method)(problem)
    assert (found.value, found.certificate.status) == (expected.value, expected.certificate.status)


def test_auto_asks_geometric_programs_and_cpsat_when_search_alone_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "ALONE", 0.01)
    problem = mm_problem((1024, 1024, 1024))
    solution = auto.solve_auto(problem)
    assert solution.certificate.method == "exact+gp"
    assert (solution.value, solution.certificate.status) == (639876, Status.OPTIMAL)
    # with no time for exact search, CP-SAT goes on from what geometric programs found
    monkeypatch.setattr(auto, "CPSAT_SHARE", 1.0)
    short = auto.solve_auto(problem, SolveOptions(time_limit=5))
    assert short.certificate.method.startswith("exact+gp")
    assert short.value is not None
    assert short.certificate.lower_bound is not None
    # the bound of the geometric program is within 2 % of the optimum
    assert Fraction(639876) * Fraction(98, 100) <= short.certificate.lower_bound <= 639876 <= short.value


def test_auto_serves_objectives_that_other_engines_cannot_express(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "ALONE", 0.0)
    problem = mm_problem((24, 20, 16), objective="latency/comp - dsp", dsp="200", bram18k="200")
    assert auto.solve_auto(problem).value == solve_exact(problem).value


def test_evolution_finds_the_incumbent_where_tables_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(problem: Problem, checkpoint: Callable[[], None]) -> BoundModel:
        while True:
            checkpoint()

    monkeypatch.setattr(auto, "PATIENCE", 0.0)
    monkeypatch.setattr(auto, "build_model", endless)
    problem = mm_problem((96, 80, 40))
    optimum = solve_exact(problem).value
    solution = auto.solve_auto(problem, SolveOptions(time_limit=3))
    assert solution.certificate.method == "gp+evolve"
    assert solution.certificate.status is Status.FEASIBLE
    assert optimum is not None
    assert solution.value is not None
    assert solution.certificate.lower_bound is not None
    assert solution.certificate.lower_bound <= optimum <= solution.value <= optimum * Fraction(11, 10)


def test_evolution_improves_the_incumbent_of_an_open_search() -> None:
    problem = mm_problem((1024, 1024, 1024))
    search = Search(build_model(problem), SolveOptions(time_limit=0.0))
    assert evolve(problem, search, SolveOptions(), NOTHING)
    first = search.state.value
    assert first is not None
    assert not evolve(problem, search, SolveOptions(), NOTHING)  # the same seed: nothing better
    assert search.state.value == first


def test_agreement_is_noted_and_contradiction_is_loud() -> None:
    problem = mm_problem((12, 10, 8), dsp="100", bram18k="60")
    solution = solve_exact(problem)
    both = prove_again(solution, Method.CPSAT, SolveOptions())
    assert both.certificate.method == "exact+cpsat"
    assert both.certificate.status is Status.OPTIMAL
    assert solution.value is not None
    wrong = replace(solution, certificate=replace(solution.certificate, lower_bound=solution.value + 1))
    with pytest.raises(DisagreementError, match=r"disagree on design \[i,j\] C"):
        check_agreement(wrong, solution)
    lost = replace(
        solution, value=None, tiling=None, certificate=replace(solution.certificate, status=Status.INFEASIBLE, lower_bound=None)
    )
    with pytest.raises(DisagreementError, match="says infeasible"):
        check_agreement(solution, lost)
    open_ = replace(solution, certificate=replace(solution.certificate, status=Status.FEASIBLE, lower_bound=Fraction(1)))
    assert not check_agreement(open_, solution)
