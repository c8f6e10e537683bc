"""Evolution: against brute force and proven optima, its legality, and when it ends."""

from fractions import Fraction

import numpy as np
import pytest

import ithaca
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.options import ArrayOptions
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.refine.evolution.engine import POPULATION, STAGNATION, Evolution, solve_evolve
from ithaca.refine.evolution.genome import Genome
from ithaca.refine.evolution.variation import _factorized, _redrawn, cross, mutate, step
from ithaca.solver.certificate import Status
from ithaca.solver.combination import NOTHING, solver_start
from ithaca.solver.engines import Method, engine, proving
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions, never
from ithaca.workloads.library import workload
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.solver.known_optima import brute_force
from tests.solver.test_exact import random_problem


def test_the_same_seed_gives_the_same_answer():
    problem = mm_problem((96, 80, 40), objective="latency*dsp - 100*comp")
    runs = [solve_evolve(problem, SolveOptions(seed=seed), samples=1000) for seed in (3, 3)]
    assert runs[0].configuration == runs[1].configuration
    assert runs[0].certificate.nodes == runs[1].certificate.nodes == 1000


@pytest.mark.parametrize("edition", ["exact", "odyssey"])
def test_never_worse_than_its_seeds(edition):
    problem = mm_problem((60, 52, 36), ("i", "k"), "C", edition, dsp="900", bram18k="300")
    known = solver_start(problem, SolveOptions(), never)
    assert known.configurations
    values = [problem.feasible_value(configuration) for configuration in known.configurations]
    best = min(value for value in values if value is not None)
    search = Evolution(problem, 0, POPULATION)
    search.run(known.configurations, known.points)
    # nothing was offered beforehand: the first generation holds the seeds
    assert search.value <= best


def test_never_worse_than_a_given_start():
    problem = mm_problem((96, 80, 40))
    optimum = solve_exact(problem)
    solution = solve_evolve(problem, start=optimum.configuration, samples=200, known=NOTHING)
    assert solution.value == optimum.value
    assert solution.certificate.status is Status.FEASIBLE
    assert solution.certificate.lower_bound is None


def test_repaired_genes_are_in_the_design_space():
    checked = 0
    for seed in range(24):
        problem = random_problem(seed)
        genome, generator = Genome(problem), np.random.default_rng(seed)
        genes, _ = genome.repair(genome.random(30, generator))
        children = cross(
            genome, mutate(genome, genes, generator), step(genome, genes, generator), generator
        )
        genes, legal = genome.repair(children)
        for column in np.flatnonzero(legal):
            configuration = genome.decode(genes[:, column])
            assert problem.space.contains(configuration)
            assert (genome.encode([configuration])[:, 0] == genes[:, column]).all()
            checked += 1
    assert checked > 600


def test_loops_are_found_in_the_space():
    genome = Genome(mm_problem((96, 80, 40)))
    found = [
        (split.trips, split.extent, [genome.names[row] for row in split.factors])
        for split in genome.splits
    ]
    assert found == [
        ("tiles.i", 96, ["t2.i", "lanes.i"]),
        ("tiles.j", 80, ["t2.j", "lanes.j"]),
        ("tiles.k", 40, ["t2.k", "lanes.k"]),
    ]
    assert {genome.names[row] for row in genome.loose} == {"pack.A", "pack.B", "pack.C_drain"}
    given = (("lanes.i", (8, 8)), ("t2.k", (4, 4)))
    genome = Genome(mm_problem((96, 80, 40)).with_design(hardware=given))
    first, _, last = genome.splits
    assert (first.fixed, [genome.names[row] for row in first.factors]) == (8, ["t2.i"])
    assert (last.fixed, [genome.names[row] for row in last.factors]) == (4, ["lanes.k"])


def test_mutation_is_as_published():
    levels, pairs = np.array([[12], [5], [7]]), np.array([[0, 2]])
    for chance in np.linspace(0, 0.999, 50):
        moved = _factorized(levels, pairs, np.array([chance]))[:, 0]
        assert moved[0] * moved[2] == 84
        assert moved[0] != 12
        assert moved[1] == 5
        drawn, kept, rest = _redrawn(levels, pairs, np.array([chance]))[:, 0]
        assert 1 <= drawn <= 84
        assert rest == -(-84 // drawn)
        assert kept == 5


def check_against_brute_force(problem, seed):
    """Whether the optimum was found; that nothing better, or unfeasible, was claimed is
    asserted."""
    expected = brute_force(problem)
    solution = solve_evolve(problem, SolveOptions(seed=seed), samples=3000)
    if expected is None:
        assert solution.configuration is None
        return True
    assert solution.certificate.status is not Status.INFEASIBLE
    if solution.value is None:
        return False
    assert solution.configuration is not None
    assert problem.feasible_value(solution.configuration) == solution.value
    assert float(solution.value) >= float(expected) - 1e-12 * abs(float(expected))
    bound = solution.certificate.lower_bound
    assert bound is None or float(bound) <= float(expected) + 1e-12 * abs(float(expected))
    return float(solution.value) == pytest.approx(float(expected), rel=1e-12)


def test_a_few_small_problems_against_brute_force():
    assert sum(check_against_brute_force(random_problem(seed), seed) for seed in (0, 1)) == 2


def test_small_problems_against_brute_force():
    found = [check_against_brute_force(random_problem(seed), seed) for seed in range(20)]
    assert sum(found) >= 18


def test_it_stops_when_the_bound_is_met():
    problem = mm_problem((32, 32, 32), objective="off_chip_words", edition="odyssey")
    optimum = solve_exact(problem)
    solution = solve_evolve(problem)
    assert solution.value == solution.certificate.lower_bound == optimum.value
    # the geometric program's proof, not evolution's
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.certificate.nodes < POPULATION * STAGNATION


def test_it_stops_at_its_budget_and_when_nothing_improves():
    problem = mm_problem((96, 80, 40))
    search = Evolution(problem, 0, 777)
    search.run()
    assert search.samples == 777
    tiny = Evolution(mm_problem((2, 2, 2)), 0, 10**9)
    tiny.run()
    assert tiny.samples < 10**6


def test_infeasible_problems():
    solution = solve_evolve(mm_problem((8, 8, 8), dsp="1"), samples=400)
    assert solution.configuration is None
    assert solution.certificate.status in (Status.INFEASIBLE, Status.UNKNOWN)


def test_divisors_and_least_lanes_are_kept():
    problem = mm_problem((48, 36, 24), space=SpaceOptions(min_lanes=2, divisors_only=True))
    solution = solve_evolve(problem, samples=2000)
    assert solution.configuration is not None
    assert problem.space.contains(solution.configuration)
    optimum = solve_exact(problem).value
    assert optimum <= solution.value <= optimum * Fraction(11, 10)


def test_the_engine_by_name():
    assert engine("evolve") is solve_evolve
    assert "evolve" not in proving()


def test_refine_finds_what_a_search_cut_off_missed(tmp_path):
    from ithaca.commands.api.solving import answers

    question = ArrayQuestion.read(ArrayOptions(dataflow="i,j", permutation="C"))
    rows = [question.problems(workload("mm", {"i": 96, "j": 80, "k": 40}))]
    (poor,) = answers("u250", rows, SolveOptions(time_limit=1e-6), method="evolve")
    assert poor.best is None
    (good,) = answers("u250", rows, SolveOptions(), method=Method.EXACT)
    paths = tmp_path / "poor.json", tmp_path / "good.json", tmp_path / "refined.json"
    poor.save(paths[0])
    good.save(paths[1])
    refined = ithaca.refine.refine(paths[0], samples=2000)
    assert good.best.value <= refined.best.value <= good.best.value * Fraction(11, 10)
    refined.save(paths[2])
    assert ithaca.load(paths[2]).best is not None
    # what is proven stays as it is
    assert (
        ithaca.refine.refine(paths[1], samples=2000).designs[0].certificate
        == ithaca.load(paths[1]).designs[0].certificate
    )


@pytest.mark.parametrize("permutation", "ABC")
@pytest.mark.parametrize("dataflow", MM_DATAFLOWS)
def test_the_published_size_within_3000_samples(dataflow, permutation):
    problem = mm_problem((1024, 1024, 1024), dataflow, permutation, "odyssey")
    optimum = solve_exact(problem)
    assert optimum.certificate.status is Status.OPTIMAL
    known = solver_start(problem, SolveOptions(), never)
    for seed in range(5):
        solution = solve_evolve(problem, SolveOptions(seed=seed), samples=3000, known=known)
        assert solution.certificate.nodes <= 3000
        assert optimum.value <= solution.value <= optimum.value / Fraction(99, 100)
