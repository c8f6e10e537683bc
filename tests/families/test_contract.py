"""The contract of a family: whatever states a `Space` and metrics gets every engine, study, export
of seeds, page and proof.

The same tests run over the family of systolic arrays and over a toy (`tests.families.fir`), a
filter that shares no quantity, metric or document with them. What is expected comes from
enumeration without the space, its tables and the solver.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

import ithaca
from ithaca.commands.api.explaining import statements
from ithaca.exports.report.page import report_page
from ithaca.files.errors import InputError
from ithaca.files.writing import document_text
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.space import Axis as SpaceAxis
from ithaca.formulations.space import (
    Link,
    Quantity,
    QuantityKind,
    Relation,
    Role,
    make_space,
)
from ithaca.plugins.geometric.solver.search import GpSearch
from ithaca.plugins.geometric.solver.seeds import round_points
from ithaca.plugins.seeds.exports.diverse import diverse_configurations
from ithaca.plugins.seeds.exports.parameters import parameter_space, penalised
from ithaca.refine.grid import best_point, exact_grid
from ithaca.refine.window import window_around
from ithaca.results.datasets import as_table, result_dataset
from ithaca.results.explanation import explain
from ithaca.results.files import result_document
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method, engine, proving
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result
from ithaca.solver.solution import best_solution
from ithaca.solver.verification import verify
from ithaca.studies.best import solve_best
from ithaca.studies.front import pareto_front
from ithaca.studies.grid import StudyAxis
from ithaca.studies.whatif import run_study
from tests.families.enumerated import every_point
from tests.families.fir import Fir, fir_problem
from tests.families.sample import SEARCHES
from tests.families.samples import SAMPLES, each_family
from tests.whole_spaces import every_row


def with_limit(problem, limit):
    return Problem(
        problem.design,
        (*(old for old in problem.limits if old.metric != limit.metric), limit),
        problem.objective,
    )


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda sample: sample.name)
def solved(request):
    """A sample and its result, proven by the exact engine."""
    sample = request.param
    solutions = solve_designs(list(sample.problems), method=Method.EXACT)
    return sample, Result("bench", best_solution(solutions), tuple(solutions))


def check_found(solution):
    """A configuration of the space within the limits, valued by the exact reference."""
    problem, configuration = solution.problem, solution.configuration
    assert configuration is not None
    assert problem.space.contains(configuration)
    value = problem.feasible_value(configuration)
    assert value is not None
    assert value == solution.value
    return value


@each_family
@pytest.mark.parametrize("method", proving())
def test_engines_prove_what_enumeration_finds(sample, method):
    for base in sample.problems:
        for problem in (base, with_limit(base, sample.tight)):
            solution, expected = engine(method)(problem), sample.optimum(problem)
            if expected is None:
                assert solution.certificate.status is Status.INFEASIBLE
            else:
                assert solution.certificate.status is Status.OPTIMAL
                assert check_found(solution) == expected == solution.certificate.lower_bound


@each_family
@pytest.mark.parametrize("method", proving())
def test_engines_say_by_how_much_nothing_is_feasible(sample, method):
    problem = with_limit(sample.problems[0], sample.impossible)
    (solution,) = solve_designs([problem], method=method)
    assert solution.certificate.status is Status.INFEASIBLE
    assert sample.impossible.metric in {shortfall.metric for shortfall in solution.shortfalls}


@each_family
def test_relaxations_bound_from_below(sample):
    for problem in sample.problems:
        solution, optimum = (
            engine("gp")(problem, SolveOptions(time_limit=5)),
            sample.optimum(problem),
        )
        assert solution.certificate.lower_bound <= optimum <= check_found(solution)


@each_family
@pytest.mark.parametrize("method", SEARCHES)
def test_searches_find_configurations(sample, method):
    if method not in sample.searches:
        with pytest.raises(InputError, match="has no smooth program"):
            engine(method)(sample.problems[0], SolveOptions(time_limit=5))
        return
    for problem in sample.problems:
        optimum = sample.optimum(problem)
        # nonlinear programs end by themselves, however slow the machine is
        limit = 60 if method == "nlp" else 5
        assert check_found(engine(method)(problem, SolveOptions(time_limit=limit))) >= optimum


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("objective", ["latency + noise", "latency*noise"])
def test_searches_keep_rules_across_axes(objective, transposed):
    """The best words and bursts by themselves are too wide together for the port."""
    problem = fir_problem(24, 40, objective, transposed=transposed, dsp=9)
    optimum = check_found(engine(Method.EXACT)(problem))
    assert check_found(engine("nlp")(problem)) == optimum
    search = GpSearch(problem)
    search.run(1)
    (configuration,) = round_points(problem, search.points, 1)
    assert problem.feasible_value(configuration) == optimum


class BufferedFir(Fir):
    """A filter with a buffer whose depth follows from its chain and its port, and that is filled
    first."""

    @property
    def space(self):
        bare = super().space
        follows = Link(Symbol("depth"), Relation.EQUAL, Symbol("fold") * Symbol("burst"))
        return make_space(
            (*bare.axes, SpaceAxis("buffer", (Quantity("depth", 1, 100),))), (*bare.links, follows)
        )

    def metrics(self, values, numbers, names=None):
        found = super().metrics(values, numbers, names)
        return (
            {**found, "latency": found["latency"] + values["depth"]}
            if "latency" in found
            else found
        )


def test_searches_compute_what_rules_across_axes_define():
    bare = fir_problem(24, 40, "latency + noise", dsp=9)
    problem = replace(bare, design=BufferedFir(24, 40))
    depths = [(v["fold"] * v["burst"], m) for v, m in every_point(bare) if m["dsp"] <= 9]
    optimum = min(m["latency"] + m["noise"] + depth for depth, m in depths if depth <= 100)
    for method in (Method.EXACT, "nlp", "evolve"):
        assert check_found(engine(method)(problem)) == optimum
    search = GpSearch(problem)
    search.run(1)
    (configuration,) = round_points(problem, search.points, 1)
    assert problem.feasible_value(configuration) == optimum


def test_a_power_of_two_may_have_a_range_that_depends_on_others():
    axis = SpaceAxis(
        "loop", (Quantity("n", 3, 12), Quantity("p", 2, Symbol("n"), QuantityKind.POWER_OF_TWO))
    )
    rows = axis.table()
    expected = {(n, p) for n in range(3, 13) for p in (2, 4, 8) if p <= n}
    assert set(zip(rows["n"].tolist(), rows["p"].tolist(), strict=True)) == expected
    assert axis.powers == {"p": 8}


@pytest.mark.parametrize("transposed", [False, True])
def test_the_space_and_the_metrics_of_the_toy_are_those_enumerated(transposed):
    """The toy alone: `tests.formulations` compares the systolic arrays with published figures."""
    problem = fir_problem(13, 40, transposed=transposed)
    listed = list(every_point(problem))
    for values, metrics in listed:
        assert problem.space.contains(values)
        assert problem.metrics(Configuration(values)) == metrics
    together = every_row(problem.space)
    assert {tuple(sorted(v.items())) for v in together if problem.space.contains(v)} == {
        tuple(sorted(v.items())) for v, _ in listed
    }


def test_results_are_read_back_and_proven_again(solved, tmp_path):
    sample, result = solved
    path = tmp_path / "result.json"
    path.write_text(document_text(result_document(result)))
    read = ithaca.load(path)
    assert read.best.value == sample.least()
    for solution, again in zip(result.designs, read.designs, strict=True):
        assert (again.problem, again.configuration, again.certificate.status) == (
            solution.problem,
            solution.configuration,
            solution.certificate.status,
        )
        assert verify(again, SolveOptions(), "designs[0]")[1]


def test_a_changed_value_is_refused(solved, tmp_path):
    _, result = solved
    document = result_document(result)
    document["best"]["objective"] = 1
    path = tmp_path / "result.json"
    path.write_text(document_text(document))
    with pytest.raises(InputError):
        ithaca.load(path)


def test_results_are_explained_and_reported(solved):
    sample, result = solved
    explanation = explain(
        result, result.solutions, lambda problems, starts: solve_best(problems, starts=starts)
    )
    lines = statements(result, explanation)
    assert str(sample.least()) in "\n".join(lines)
    page = report_page(result, lines, around=2)
    assert result.best.design in page
    assert result.best.configuration is not None
    lines = profile_of(result.best.problem.design).loops(result.best.configuration)
    assert ("Loop nest" in page) == bool(lines)
    assert "optimal" in page.lower()


def test_tables_hold_every_metric(solved):
    sample, result = solved
    table = as_table(result_dataset(result))
    for name, solution in zip(table.index, result.designs, strict=True):
        assert name == solution.design
        assert table["value"][name] == float(solution.value or 0)
        assert {metric: table[metric][name] for metric in solution.metrics} == pytest.approx(
            {metric: float(value) for metric, value in solution.metrics.items()}
        )
    assert float(sample.least()) == table["value"].min()


@each_family
def test_fronts_are_those_enumerated(sample):
    objectives = list(sample.objectives)
    front = pareto_front(sample.problems, objectives)
    assert front.complete
    assert {tuple(map(float, point.values)) for point in front.points} == sample.front(
        sample.problems, objectives
    )


@each_family
def test_studies_answer_every_point(sample):
    def build(values):
        return [
            with_limit(p, Limit(sample.tight.metric, Fraction(values["limit"])))
            for p in sample.problems
        ]

    bounds = (int(sample.tight.bound), 4 * int(sample.tight.bound))
    study = run_study([StudyAxis("limit", bounds)], build, percent=Fraction(50))
    for (index,), point in study.points.items():
        expected = [
            v for p in build({"limit": bounds[index]}) if (v := sample.optimum(p)) is not None
        ]
        assert point.answer.value == min(expected)
        assert point.marginals


def test_grids_hold_the_exact_values(solved):
    sample, result = solved
    for solution in result.designs:
        assert solution.configuration is not None
        ports = any(quantity.role is Role.PORT for quantity in solution.problem.space.free)
        window = window_around(solution.problem, solution.configuration, around=2, free_packs=ports)
        grid = exact_grid(window)
        found = best_point(grid, window)
        assert solution.problem.feasible_value(found.configuration) == sample.optimum(
            solution.problem
        )
        assert float(grid["objective"].where(grid["feasible"]).min()) == pytest.approx(
            float(found.value)
        )


def test_seeds_are_feasible_and_all_different(solved):
    sample, result = solved
    best = result.best
    assert best.configuration is not None
    seeds = diverse_configurations(best.problem, sample.seeds, 0, known=(best.configuration,))
    assert seeds[0] == best.configuration
    assert len(seeds) == len({tuple(sorted(seed.items())) for seed in seeds}) == sample.seeds
    space = parameter_space(best.problem)
    for seed in seeds:
        value = best.problem.feasible_value(seed)
        encoded = space.encode(seed)
        assert space.problem.space.contains(space.decode(encoded))
        assert penalised(space, encoded) == pytest.approx(float(value))
