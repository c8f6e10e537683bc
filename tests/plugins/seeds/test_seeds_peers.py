"""Seeds in the tools themselves: optuna, pymoo and nevergrad minimise Ithaca's exact model.

Each test skips where its tool is not installed (extra ``peers``).
"""

import json

import numpy as np
import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.extras import peer
from ithaca.plugins.seeds.exports.diverse import diverse_configurations
from ithaca.plugins.seeds.exports.for_nevergrad import (
    nevergrad_loss,
    nevergrad_parametrization,
    nevergrad_text,
    seed_nevergrad,
)
from ithaca.plugins.seeds.exports.for_optuna import optuna_objective, optuna_text, seed_optuna
from ithaca.plugins.seeds.exports.for_pymoo import pymoo_problem, pymoo_sampling, pymoo_text
from ithaca.plugins.seeds.exports.parameters import (
    INFEASIBLE,
    Seeds,
    parameter_space,
    penalised,
    result_space,
)
from ithaca.solver.exact.engine import solve_exact
from tests.problems import mm_problem

RUNS = range(3)
BUDGET = 40


@pytest.fixture(scope="module")
def seeds():
    """Six seeds of a small problem; the first is its proven optimum."""
    problem = mm_problem((48, 40, 32))
    return Seeds(parameter_space(problem), diverse_configurations(problem, 6))


def run_optuna(space, start, seed):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    seed_optuna(study, start)
    study.optimize(optuna_objective(space), n_trials=BUDGET)
    assert [t.value for t in study.trials] == [penalised(space, t.params) for t in study.trials]
    return [dict(t.params) for t in study.trials]


def run_pymoo(space, start, seed):
    pytest.importorskip("pymoo")
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.operators.repair.rounding import RoundingRepair
    from pymoo.operators.sampling.rnd import IntegerRandomSampling
    from pymoo.optimize import minimize

    problem = pymoo_problem(space)
    evaluated = []
    objective = problem.objs[0]

    def recorded(x):
        evaluated.append(space.named([round(v) for v in x]))
        return objective(x)

    problem.objs[0] = recorded
    algorithm = GA(
        pop_size=8,
        sampling=pymoo_sampling(space, start) if start else IntegerRandomSampling(),
        crossover=SBX(vtype=float, repair=RoundingRepair()),
        mutation=PM(vtype=float, repair=RoundingRepair()),
    )
    minimize(problem, algorithm, ("n_eval", BUDGET), seed=seed)
    return evaluated[:BUDGET]


def run_nevergrad(space, start, seed):
    ng = pytest.importorskip("nevergrad")
    parametrization = nevergrad_parametrization(space)
    parametrization.random_state = np.random.RandomState(seed)
    optimizer = ng.optimizers.TwoPointsDE(parametrization, budget=BUDGET)
    seed_nevergrad(optimizer, start)
    evaluated = []
    loss = nevergrad_loss(space)

    def recorded(**parameters):
        evaluated.append(dict(parameters))
        return loss(**parameters)

    optimizer.minimize(recorded)
    return evaluated


TOOLS = {"optuna": run_optuna, "pymoo": run_pymoo, "nevergrad": run_nevergrad}


def best(space, evaluated):
    return min(penalised(space, point) for point in evaluated)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tool", TOOLS)
def test_seeds_are_evaluated_first_and_never_make_a_run_worse(tool, seeds):
    run, space, start = TOOLS[tool], seeds.space, seeds.parameters
    optimum = solve_exact(space.problem).value
    for seed in RUNS:
        unseeded = run(space, (), seed)
        seeded = run(space, start, seed)
        assert len(unseeded) == len(seeded) == BUDGET
        assert seeded[: len(start)] == list(start)
        # nothing beats the proven optimum, and the seeds hold it
        assert best(space, seeded) == optimum <= best(space, unseeded)
    # nor do the seeds owe it to the optimum alone
    assert best(space, run(space, start[1:], 0)) <= best(space, run(space, (), 0))


def test_files_hold_what_the_calls_take(seeds):
    expected = list(seeds.parameters)
    assert json.loads(optuna_text(seeds)) == expected
    assert json.loads(nevergrad_text(seeds)) == expected
    document = json.loads(pymoo_text(seeds))
    assert document["names"] == list(seeds.space.names)
    assert document["X"] == pymoo_sampling(seeds.space, expected).tolist()
    for row in document["X"]:
        assert all(
            low <= value <= high
            for low, value, high in zip(document["xl"], row, document["xu"], strict=True)
        )


SOLVE = {"i": 24, "j": 20, "k": 16, "dataflow": "i,j", "permutation": "C"}


@pytest.fixture(scope="module")
def result():
    """A result in Python, whose optimum is its first seed."""
    return ithaca.solve("mm", **SOLVE)


def test_a_study_has_its_seeds_enqueued(result):
    optuna = pytest.importorskip("optuna")
    study = ithaca.seed(result, "optuna", count=4)
    assert isinstance(study, optuna.study.Study)
    space = result_space(result)
    fixed = [trial.system_attrs["fixed_params"] for trial in study.trials]
    assert len(fixed) == 4
    study.optimize(optuna_objective(space), n_trials=6)
    assert [dict(trial.params) for trial in study.trials[:4]] == fixed
    assert study.trials[0].value == study.best_value == result.value


@pytest.mark.filterwarnings("ignore")
def test_an_optimizer_is_told_of_candidates(result):
    ng = pytest.importorskip("nevergrad")
    space = result_space(result)
    candidates = result.seed("nevergrad", count=5)
    assert [penalised(space, c.kwargs) for c in candidates] == [c.loss for c in candidates]
    for name in ("TwoPointsDE", "NGOpt", "OnePlusOne"):
        optimizer = ng.optimizers.registry[name](nevergrad_parametrization(space), budget=20)
        for candidate in candidates:
            optimizer.tell(candidate, candidate.loss)
        assert nevergrad_loss(space)(**optimizer.provide_recommendation().kwargs) == result.value


def test_a_population_of_pymoo_is_its_first_generation(result):
    pytest.importorskip("pymoo")
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.optimize import minimize

    population, space = ithaca.seed(result, "pymoo", count=5), result_space(result)
    algorithm = GA(pop_size=5, sampling=population)
    outcome = minimize(pymoo_problem(space), algorithm, ("n_eval", 5), seed=0)
    assert sorted(outcome.pop.get("F").ravel()) == sorted(
        penalised(space, space.named([int(x) for x in row])) for row in population.get("X")
    )
    assert outcome.F[0] == result.value


def test_dictionaries_and_tables_are_what_files_hold(result, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = result_space(result)
    dictionaries = ithaca.seed(result, "opentuner", count=3)
    assert penalised(space, dictionaries[0]) == result.value
    ithaca.seed(result, "opentuner", "folder", count=3)
    files = sorted((tmp_path / "folder").iterdir())
    assert [json.loads(file.read_text()) for file in files] == dictionaries
    odyssey = ithaca.seed(result, "odyssey", count=3)
    assert [one["i_t1"] for one in odyssey] == [one["t1_i"] for one in dictionaries]
    table = ithaca.seed(result, "csv", count=3)
    assert table["latency"].min() == table["latency"][0] == result.value
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_seeds_of_another_design_have_its_parameters():
    result = ithaca.solve("mm", i=8, j=8, k=8)
    other = next(s for s in result.solutions if s.design != result.best.design)
    dataflow, permutation = other.design.strip("[").split("] ")
    seeds = ithaca.seed(result, "opentuner", count=2, dataflow=dataflow, permutation=permutation)
    assert penalised(result_space(result, other.design), seeds[0]) == other.value
    with pytest.raises(InputError, match=r"no configuration of \[x\] Y; it has: "):
        result_space(result, "[x] Y")


def test_layers_have_seeds_by_name(tmp_path):
    path = tmp_path / "two.yaml"
    layers = [
        f"{{op: kernel, name: {n}, kernel: mm, sizes: {{i: 8, j: 8, k: {k}}}}}"
        for n, k in (("first", 4), ("last", 8))
    ]
    path.write_text(f"name: two\nlayers: [{', '.join(layers)}]\n")
    network = ithaca.network(path, dataflow="i,j")
    seeds = ithaca.seed(network, "opentuner", count=2)
    assert [*seeds] == [layer.layer.name for layer in network.layers]
    assert all(len(each) == 2 for each in seeds.values())


def test_pymoo_sees_limits_as_constraints(seeds):
    pytest.importorskip("pymoo")
    space = seeds.space
    problem = pymoo_problem(space)
    inside = pymoo_sampling(space, seeds.parameters)
    # one iteration per PE everywhere: far more PEs than DSP blocks
    outside = np.array(
        [[96 if n.startswith("t1") else 1 if n.startswith("t2") else 0 for n in space.names]]
    )
    values, violations = problem.evaluate(
        np.concatenate([inside, outside]), return_values_of=["F", "G"]
    )
    assert values[:-1, 0].tolist() == [penalised(space, p) for p in seeds.parameters]
    assert (violations[:-1, 0] == 0).all()
    assert violations[-1, 0] > 0
    assert penalised(space, space.named(outside[0].tolist())) >= INFEASIBLE


def test_a_tool_that_is_not_installed_is_named():
    with pytest.raises(InputError, match="pip install no_such_tool"):
        peer("no_such_tool.module")
