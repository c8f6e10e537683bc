"""Products of sums over layers, such as a network's energy-delay product, against every mapping of
every layer and every combination."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.plugins.hierarchies.formulations.editions import Setting
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.fused import solve_fused
from ithaca.studies.network.layers import solve_per_layer
from ithaca.studies.network.products import factors_of
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, Network
from tests.command_line import refused, succeed
from tests.studies.network.chains import asked as of_chain
from tests.studies.network.chains import chains
from tests.studies.network.chains import points as every
from tests.studies.network.test_fused import BUDGETS
from tests.studies.network.tiny import TINY, limited, tiny_request
from tests.whole_spaces import every_row


@cache
def points(problem):
    """Energy and latency of every configuration."""
    found = set()
    for values in every_row(problem.space):
        if problem.feasible_value(values) is not None:
            fractions = {name: Fraction(number) for name, number in values.items()}
            metrics = problem.design.metrics(fractions, FRACTION, {"energy", "latency"})
            found.add((metrics["energy"], metrics["latency"]))
    return frozenset(found)


def front(found):
    """The points that no other dominates."""
    kept = []
    for energy, latency in sorted(found):
        if not kept or latency < kept[-1][1]:
            kept.append((energy, latency))
    return kept


def least(network, request, power=1):
    """The least (Σ energy) · (Σ latency)^power over all choices of a mapping of every layer."""
    sums = [(Fraction(0), Fraction(0))]
    for part in request.pose(network):
        bare = [replace(problem, objective=parse_objective("latency")) for problem in part.problems]
        own = front([point for problem in bare for point in points(problem)])
        count = part.layer.count
        sums = front([(e + count * f, t + count * u) for e, t in sums for f, u in own])
    return min((e * t**power for e, t in sums), default=None)


SIZES = st.sampled_from([2, 3, 4, 6])


@st.composite
def networks(draw, nests=(), most=4):
    layers = []
    for number in range(draw(st.integers(2, most))):
        sizes = draw(st.sampled_from(nests) if nests else st.tuples(SIZES, SIZES, SIZES))
        nest = workload("mm", dict(zip("ijk", sizes, strict=True)))
        layers.append(Layer(f"layer{number}", nest, draw(st.integers(1, 3)), (f"layer{number}",)))
    return Network("random", tuple(layers))


def asked(objective, dsp, **others):
    request = tiny_request(objective, **{"space": SpaceOptions(divisors_only=True), **others})
    return limited(request, Limit("dsp", Fraction(dsp)))


@settings(max_examples=4, deadline=None)
@given(
    networks(), st.sampled_from([20, 60, 400]), st.sampled_from([("edp", 1), ("edp*latency", 2)])
)
def test_products_are_the_least_of_all_combinations(network, dsp, objective):
    check_products_are_the_least_of_all_combinations(network, dsp, objective)


@settings(max_examples=60, deadline=None)
@given(
    networks(), st.sampled_from([20, 60, 400]), st.sampled_from([("edp", 1), ("edp*latency", 2)])
)
def test_products_are_the_least_of_all_combinations_of_many(network, dsp, objective):
    check_products_are_the_least_of_all_combinations(network, dsp, objective)


def check_products_are_the_least_of_all_combinations(network, dsp, objective):
    text, power = objective
    request = asked(text, dsp, dataflow=("i", "j"))
    found = solve_per_layer(network, request, RunOptions())
    assert found.total.value == least(network, request, power)
    assert found.total.certificate.lower_bound == found.total.value
    assert found.total.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)
    factors = factors_of(request.objective)
    if found.total.value is not None:
        assert factors.value(factors.sums(found)) == found.total.value


def keeping(problem, bram18k, kept):
    """Energy and latency of every configuration with tensors on chip (`test_fused.least`)."""
    blocks = sum(15 * ceil(Fraction(words, 16 * 512)) for words in kept.values())
    technology = systolic(problem).technology
    less = (technology.dram - technology.buffer) * technology.mac_pj
    for metrics, words in every(replace(problem, limits=(), objective=parse_objective("latency"))):
        moved = sum((words[tensor] for tensor in kept), Fraction(0))
        if metrics["dsp"] <= 400 and metrics["bram18k"] + blocks <= bram18k:
            yield metrics["energy"] - moved * less, metrics["latency"]


def mapped(network, objective):
    """A question about a network on a small hierarchy."""
    architecture, options = find_architecture("simple"), MappingOptions(divisors_only=True)
    posed = []
    for layer in network.layers:
        own = fitted(architecture, layer.nest)
        design = Setting(own, layer.nest, "timeloop", options).design
        posed.append(Problem(design, (), parse_objective(objective)))
    return MappingQuestion(
        architecture=architecture,
        edition="timeloop",
        space=options,
        objective=posed[0].objective,
        layers=tuple(posed),
    )


#: Nests whose mappings are counted once.
NESTS = ((2, 3, 3), (3, 2, 2), (2, 2, 3))


@settings(max_examples=1, deadline=None)
@given(networks(NESTS, 3), st.sampled_from([("edp", 1), ("energy*latency*latency", 2)]))
def test_products_on_a_hierarchy(network, objective):
    check_products_on_a_hierarchy(network, objective)


@settings(max_examples=20, deadline=None)
@given(networks(NESTS, 3), st.sampled_from([("edp", 1), ("energy*latency*latency", 2)]))
def test_products_on_a_hierarchy_of_many(network, objective):
    check_products_on_a_hierarchy(network, objective)


def check_products_on_a_hierarchy(network, objective):
    text, power = objective
    request = mapped(network, text)
    found = solve_per_layer(network, request, RunOptions(Method.AUTO))
    assert found.total.certificate.status is Status.OPTIMAL
    assert found.total.value == least(network, request, power)
    assert found.total.certificate.lower_bound == found.total.value
    cycles = sum(r.layer.count * r.answer.metrics["latency"] for r in found.layers)
    done = sum(r.layer.count * r.layer.nest.operations for r in found.layers)
    assert found.efficiency == done / (request.architecture.compute.instances * cycles)


@settings(max_examples=2, deadline=None)
@given(chains(), st.sampled_from(BUDGETS))
def test_fused_products_are_the_least_of_all_choices(network, bram18k):
    check_fused_products_are_the_least_of_all_choices(network, bram18k)


@settings(max_examples=40, deadline=None)
@given(chains(), st.sampled_from(BUDGETS))
def test_fused_products_are_the_least_of_all_choices_of_many(network, bram18k):
    check_fused_products_are_the_least_of_all_choices(network, bram18k)


def check_fused_products_are_the_least_of_all_choices(network, bram18k):
    request = of_chain("edp", bram18k)
    found = solve_fused(network, request, RunOptions())
    posed = {part.layer.nest: part.problems for part in request.pose(network)}
    runs, values = network.order, []
    for choice in product(*((False, True) if run.follows else (False,) for run in runs)):
        sums = [(Fraction(0), Fraction(0))]
        for number, run in enumerate(runs):
            kept = {}
            if choice[number]:
                before = runs[number - 1]
                kept["A"] = before.count * before.nest.sizes["i"] * before.nest.sizes["j"]
            if number + 1 < len(runs) and choice[number + 1]:
                kept["C"] = run.count * run.nest.sizes["i"] * run.nest.sizes["j"]
            own = [p for problem in posed[run.nest] for p in keeping(problem, bram18k, kept)]
            each = front([(e, t) for e, t in own])
            sums = front([(e + run.count * f, t + run.count * u) for e, t in sums for f, u in each])
        values += [(e * t, any(choice)) for e, t in sums]
    assert found.total.value == min((value for value, _ in values), default=None)
    assert found.total.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)
    assert found.fusing.without.value == min((v for v, any_ in values if not any_), default=None)


def test_a_file_states_what_layers_are_least_in_and_verify_searches_again(tmp_path):
    path, network = tmp_path / "edp.json", tmp_path / "tiny.yaml"
    network.write_text(TINY.replace("i: 4, j: 6, k: 8", "i: 2, j: 3, k: 3"))
    mapping = ("--arch", "simple", "--divisors-only")
    told = succeed("network", str(network), *mapping, "--objective", "edp", "-o", str(path))
    assert "of all layers together; each is least in" in told.stdout
    document = json.loads(path.read_text())
    total, layers = document["total"], document["layers"]
    assert document["layer_objective"] in told.stdout
    assert total["value"] == pytest.approx(total["energy"] * total["latency"])
    runs = [(each["count"], each["best"]["metrics"]) for each in layers]
    assert total["energy"] == pytest.approx(sum(n * metrics["energy"] for n, metrics in runs))
    assert all(0 < each["utilisation"] <= 1 for each in (*layers, total))
    assert "found again by the same search" in succeed("verify", str(path)).stdout
    for change in ("value", "lower_bound"):
        forged = json.loads(path.read_text())
        place = forged["total"] if change == "value" else forged["total"]["certificate"]
        place[change] = (place.get(change) or total["value"]) * 0.9
        path.write_text(json.dumps(forged))
        assert "total" in refused("verify", str(path))
        path.write_text(json.dumps(document))
    claimed = json.loads(path.read_text())
    claimed["total"]["certificate"] |= {
        "status": "feasible",
        "lower_bound": total["value"] * 0.75,
        "gap": 0.25,
    }
    path.write_text(json.dumps(claimed))
    assert "found again" in succeed("verify", str(path)).stdout


@pytest.mark.parametrize("objective", ["latency*dsp", "edp*dsp", "energy*latency*off_chip_words"])
def test_other_products_are_refused_before_a_search(objective, monkeypatch):
    monkeypatch.setattr("ithaca.studies.network.layers.run_problems", None)
    with pytest.raises(InputError, match="products over layers"):
        solve_per_layer(
            Network("one", (Layer("one", workload("mm"), 1, ("one",)),)),
            tiny_request(objective),
            RunOptions(),
        )


@pytest.mark.slow
def test_bounds_are_honest_where_the_time_is_over(tmp_path):
    network = Network(
        "two",
        tuple(
            Layer(name, workload("mm", dict.fromkeys("ijk", size)), 2, (name,))
            for name, size in (("large", 96), ("small", 3))
        ),
    )
    request = asked("edp", 400)
    whole = solve_per_layer(network, request, RunOptions()).total
    assert whole is not None
    assert whole.certificate.status is Status.OPTIMAL
    for limit in (0.0, 0.02, 0.2):
        early = solve_per_layer(network, request, RunOptions(search=SolveOptions(time_limit=limit)))
        assert early.total is not None
        bound, value = early.total.certificate.lower_bound, early.total.value
        assert bound is None or bound <= whole.value
        assert value is None or value >= whole.value


def test_powers_of_sums_beyond_doubles_are_refused(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY)
    words = ("network", "tiny.yaml", "--layers", "mm", "--divisors-only", "--objective")
    line = refused(*words, "*".join(["latency"] * 900), cwd=tmp_path)
    assert "computes a number that is too large; allowed: products between" in line
