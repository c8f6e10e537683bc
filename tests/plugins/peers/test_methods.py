"""All methods of the table, held to the same rules."""

import warnings
from itertools import pairwise

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.peers.studies import methods
from ithaca.plugins.peers.studies.methods import PEERS, run_peer
from ithaca.plugins.peers.studies.recorder import Ended, SampleBudget
from ithaca.solver.exact.engine import solve_exact
from tests.problems import mm_problem

SAMPLES = 60
#: One trial of a Gaussian process takes a second: it gets a few beyond its ten random ones.
FEWER = {"optuna-gp": 12}
#: Geometric programs and Gaussian processes take seconds each.
SLOW = ("evolve", "optuna-gp")
ALL = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in PEERS]
OWN = ("evolve", "evolve-unseeded", "exact")


def needs(name):
    for library in PEERS[name].libraries:
        pytest.importorskip(library)


def budget_of(name):
    return FEWER.get(name, SAMPLES)


@pytest.fixture(scope="module")
def problem():
    """Small enough to prove at once, large enough to search."""
    return mm_problem((64, 48, 32), edition="odyssey")


@pytest.fixture(scope="module")
def optimum(problem):
    solution = solve_exact(problem)
    assert solution.value is not None
    assert solution.configuration is not None
    return solution.value, solution.configuration


@pytest.fixture(scope="module")
def good(problem):
    """A feasible configuration, not the best."""
    found = run_peer("random", problem, SampleBudget(samples=200), seed=11).best
    assert found is not None
    return found


def exact_parts(trace):
    return (
        [(i.samples, i.value) for i in trace.improvements],
        trace.samples,
        trace.best,
        trace.ended,
    )


@pytest.mark.parametrize("name", ALL)
class TestEveryMethod:
    @pytest.mark.ci
    def test_keeps_to_its_samples_and_improves_down_to_a_verified_value(
        self, name, problem, optimum
    ):
        needs(name)
        trace = run_peer(name, problem, SampleBudget(samples=budget_of(name)), seed=3)
        assert 0 < trace.samples <= budget_of(name)
        values = [found.value for found in trace.improvements]
        assert all(later < earlier for earlier, later in pairwise(values))
        places = [(found.samples, found.seconds) for found in trace.improvements]
        assert places == sorted(places)
        assert all(
            found.samples <= trace.samples and found.seconds <= trace.seconds
            for found in trace.improvements
        )
        if trace.best is None:
            assert not values
        else:
            assert problem.feasible_value(trace.best) == trace.value == values[-1]
            assert trace.value >= optimum[0]
        if (
            name not in OWN
        ):  # those end by proof, stagnation, or before a batch that might exceed the budget
            assert (trace.samples, trace.ended) == (budget_of(name), Ended.SAMPLES)

    @pytest.mark.ci
    def test_finds_something_feasible(self, name, problem):
        needs(name)
        assert any(
            run_peer(name, problem, SampleBudget(samples=2 * budget_of(name)), seed).best
            for seed in (0, 1)
        )

    @pytest.mark.ci
    def test_is_decided_by_its_seed(self, name, problem):
        needs(name)
        one, other = (
            run_peer(name, problem, SampleBudget(samples=budget_of(name)), seed=5) for _ in range(2)
        )
        assert exact_parts(one) == exact_parts(other)

    def test_ends_by_the_clock(self, name):
        needs(name)
        trace = run_peer(name, mm_problem((1024, 1024, 1024)), SampleBudget(seconds=0.05), seed=0)
        assert trace.ended is Ended.SECONDS
        assert trace.seconds >= 0.05

    @pytest.mark.ci
    def test_never_makes_a_start_worse(self, name, problem, good):
        needs(name)
        trace = run_peer(
            name, problem, SampleBudget(samples=budget_of(name)), seed=2, starts=(good,)
        )
        assert trace.value <= problem.value(good)

    def test_keeps_the_optimum_it_is_given(self, name, problem, optimum):
        needs(name)
        trace = run_peer(name, problem, SampleBudget(samples=12), seed=2, starts=(optimum[1],))
        assert trace.value == optimum[0]

    def test_refuses_starts_that_are_not_feasible(self, name, problem):
        needs(name)
        tiling = Tiling(
            {"i": 64, "j": 48, "k": 32}, {"i": 1, "j": 1}, 8, {"A": 8, "B": 8, "C_drain": 1}
        )
        wrong = systolic(problem).configuration(tiling)
        with pytest.raises(InputError, match=r"starts\[1\]"):
            run_peer(name, problem, SampleBudget(samples=5), starts=(wrong,))

    def test_is_silent(self, name, problem, capfd):
        needs(name)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run_peer(name, problem, SampleBudget(samples=12))
        assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("edition", ["odyssey", "exact"])
@pytest.mark.parametrize("name", ["exhaustive", "exact"])
def test_ends_with_the_optimum_of_a_tiny_problem(name, edition):
    tiny = mm_problem((3, 2, 4), edition=edition, dsp="80", bram18k="60")
    trace = run_peer(name, tiny, SampleBudget(samples=10**9))
    assert trace.ended is Ended.EXHAUSTED
    assert trace.value == solve_exact(tiny).value


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("dataflow", "permutation", "edition"),
    [(("k",), "A", "exact"), (("i", "k"), "B", "odyssey"), (("j",), "C", "exact")],
)
def test_other_designs(name, dataflow, permutation, edition):
    """Packs of their own, inferred packs, exterior groups."""
    needs(name)
    problem = mm_problem((24, 20, 16), dataflow, permutation, edition)
    trace = run_peer(name, problem, SampleBudget(samples=30))
    assert trace.samples <= 30
    assert trace.best is None or problem.feasible_value(trace.best) == trace.value


def test_settled_methods_begin_again_and_stop_at_last():
    """A space of few configurations: all have been asked for long before the samples are used
    up."""
    tiny = mm_problem((2, 2, 2), ("k",), space=SpaceOptions(divisors_only=True))
    trace = run_peer("annealing", tiny, SampleBudget(samples=10**9))
    assert trace.ended is Ended.STOPPED
    assert trace.value == solve_exact(tiny).value


@pytest.mark.parametrize(
    "name", ["random", "nevergrad-cma", "pymoo-ga", "optuna-tpe", "policy-gradient", "exhaustive"]
)
def test_a_single_configuration_is_found_by_all(name):
    needs(name)
    single = mm_problem(
        (1, 1, 1), ("k",), edition="odyssey", space=SpaceOptions(divisors_only=True)
    )
    trace = run_peer(name, single, SampleBudget(samples=10))
    assert (trace.ended, trace.samples) == (Ended.EXHAUSTED, 1)
    assert trace.value == solve_exact(single).value is not None


def test_infeasible_problems_have_no_best():
    problem = mm_problem((8, 8, 8), dsp="1")
    for name in ("random", "annealing", "exhaustive", "policy-gradient", "exact"):
        trace = run_peer(name, problem, SampleBudget(samples=50))
        assert (trace.best, trace.value) == (None, None)


def test_unknown_methods_and_missing_libraries_are_refused_in_one_line(problem, monkeypatch):
    with pytest.raises(InputError, match="method is 'luck'; allowed: random, exhaustive"):
        run_peer("luck", problem, SampleBudget(samples=1))
    with pytest.raises(InputError, match="seed is -1"):
        run_peer("random", problem, SampleBudget(samples=1), seed=-1)

    def missing(module):
        raise InputError(f"{module} is not installed; get it with: pip install {module}")

    monkeypatch.setattr(methods, "peer", missing)
    with pytest.raises(InputError, match="pip install pymoo"):
        run_peer("pymoo-ga", problem, SampleBudget(samples=1))
