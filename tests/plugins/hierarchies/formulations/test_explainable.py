"""Edition `explainable`: proofs, and every metric, against a model written apart that walks the
loops of a run."""

from dataclasses import replace
from fractions import Fraction
from math import ceil
from random import Random

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import SYMBOLIC, Product, Symbols, walk
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.accelerator import Trend, Work
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.plugins.codesign.formulations.files import find_space
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.editions import EDITIONS, EXPLAINABLE
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
    StoredLayer,
)
from ithaca.plugins.hierarchies.formulations.published.explainable.design import (
    VOCABULARY,
    ExplainableDesign,
)
from ithaca.plugins.hierarchies.formulations.variation import with_figure, with_figures
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from ithaca.workloads.networks.find import find_network
from tests.command_line import ithaca
from tests.plugins.hierarchies.formulations.test_dmazerunner_proofs import random_layer
from tests.plugins.hierarchies.formulations.trips import MACHINE, cost, mappings, small_machine


def posed(text):
    return Objective(text, parse_expression(text, where="objective", allowed=VOCABULARY))


def pose(design, objective="latency", **limits):
    asked = posed(objective)
    return Problem(
        design, tuple(Limit(name, Fraction(bound)) for name, bound in limits.items()), asked
    )


OBJECTIVES = (
    "latency",
    "latency",
    "latency",
    "energy",
    "edp",
    "energy + 3*latency",
    "latency * pes",
    "max(compute_cycles, 50) + dram_words",
    "latency / pes",
)


def check(seed):
    random = Random(seed)
    exact = random.random() < 0.5
    layer, machine = (
        random_layer(random, surplus=False, most=4 if exact else 3),
        small_machine(random),
    )
    design = ExplainableDesign(machine, layer, exact)
    objective = random.choice(OBJECTIVES if exact else OBJECTIVES[:-1])
    limits = random.choice(
        (
            {},
            {},
            {"dram_words": 60},
            {"input_groups": 2},
            {"spm_banks": 6, "latency": 300},
            {"energy": 9000},
        )
    )
    problem, least = pose(design, objective, **limits), None
    for factors, outer, inner in mappings(layer.nest, exact=exact):
        told, fits = cost(layer.nest, machine, factors, outer, inner)
        found = {name: Fraction(n) for name, n in told.items()}
        if fits and all(found[name] <= bound for name, bound in limits.items()):
            value = problem.objective.value(found)
            least = value if least is None else min(least, value)
    solution = solve_staged(problem)
    assert solution.certificate.status is (Status.INFEASIBLE if least is None else Status.OPTIMAL)
    assert solution.value == least


@pytest.mark.parametrize("seed", range(214))
def test_proofs_against_all_mappings(seed):
    check(seed)


def test_nothing_divides_in_the_model():
    """Mappings are valued in Python's integers."""
    random = Random(3)
    design = ExplainableDesign(small_machine(random), random_layer(random, surplus=False, most=4))
    costs, parts = design.priced(Symbols(), SYMBOLIC, design.orders)
    for expression in (*costs.values(), *parts.values()):
        products = [node for node in walk(expression) if isinstance(node, Product)]
        assert all(exponent > 0 for product in products for _, exponent in product.factors)


@pytest.mark.parametrize("seed", range(12))
def test_metrics_are_those_of_a_run_walked_trip_by_trip(seed):
    random = Random(seed)
    layer, machine = random_layer(random, surplus=False, most=6), small_machine(random)
    design = ExplainableDesign(machine, layer)
    for _ in range(60):
        factors = {}
        for loop, n in layer.nest.extents:
            p, r, s = (random.choice([k for k in range(1, n + 1) if n % k == 0]) for _ in range(3))
            factors[loop] = (ceil(Fraction(n, p * r * s)), p, r, s)
        outer, inner = (
            tuple(random.sample(layer.nest.loops, len(layer.nest.loops))) for _ in range(2)
        )
        told, fits = cost(layer.nest, machine, factors, outer, inner)
        slots = (DRAM, SPM, RF, SPATIAL)
        values = {
            f"{loop}.{slot}": Fraction(n)
            for loop, each in factors.items()
            for slot, n in zip(slots, each, strict=True)
        }
        found, parts = design.priced(values, FRACTION, {DRAM: [outer], SPM: [inner]})
        assert {name: found[name] for name in told} == told
        assert fits == all(found[name] <= most for name, most in design.machine.limits.items())
        assert {name for name in VOCABULARY if "energy" in name} <= told.keys() & parts.keys()
        assert found["latency"] == max(
            parts["computing"], parts["DMA"], *(v for k, v in parts.items() if "network" in k)
        )


@pytest.mark.parametrize("seed", range(24))
def test_bounds_of_layers_at_once_are_those_of_their_problems_and_of_all_mappings(
    seed,
):
    random = Random(seed)
    machine, objective = small_machine(random), ("latency", "2*dma_cycles + latency")[seed % 2]
    accelerator = HierarchyAccelerator(machine, EXPLAINABLE, MappingOptions(seed % 3 == 0))
    layers = [random_layer(random, surplus=False, most=6) for _ in range(3)]
    works = [Work("layer", layer.nest, stored=layer.stored) for layer in layers]
    asked = posed(objective)
    known = [accelerator.problems(work, {}, asked)[0] for work in works]
    assert accelerator.floors(known, {}, posed("energy")) is None
    assert accelerator.floors(known, {}, posed("1 / latency")) is None
    for _ in range(3):
        figures = {
            "RF.mesh_x": Fraction(random.randint(1, 8)),
            "SPM.words": Fraction(random.choice((8, 50, 200))),
            "DRAM.shared_bandwidth": Fraction(random.randint(1, 9), 3),
            "network.width": Fraction(random.randint(1, 40)),
            "network.weight_links": Fraction(random.randint(1, 3)),
        }
        floors = accelerator.floors(known, figures, asked)
        assert floors is not None
        for bound, work in zip(floors, works, strict=True):
            (problem,) = accelerator.problems(work, figures, asked)
            stage = problem.design.stage(problem)
            floor = max(problem.floor or 0, stage.least)  # rounded where it is of a sum
            assert bound == floor or (seed % 2 and floor < bound < 1.00001 * floor)
            best = solve_staged(problem).value
            assert best is None or bound <= best


@pytest.mark.parametrize("seed", range(8))
def test_more_of_any_figure_never_hurts(seed):
    random = Random(seed)
    layer, machine = random_layer(random, surplus=False, most=9), small_machine(random)
    trends, objective = (
        EDITIONS[EXPLAINABLE].trends(machine),
        ("latency", "energy", "edp")[seed % 3],
    )

    def least(hardware):
        return solve_staged(
            pose(ExplainableDesign(hardware, layer, divisors_only=seed % 2 == 0), objective)
        ).value

    assert machine.network is not None
    now = {
        "RF.mesh_x": machine.levels[2].mesh_x,
        "RF.words": machine.levels[2].words,
        "SPM.words": machine.levels[1].words,
    }
    now |= {
        f"network.{name}": n
        for name, n in vars_of(machine.network).items()
        if name not in ("bank_words", "energy")
    }
    now |= {"DRAM.shared_bandwidth": machine.levels[0].shared_bandwidth}
    before = least(machine)
    for name, value in now.items():
        assert trends[name] is Trend.HELPS
        more = value + random.choice((1, 2, 3)) if name != "RF.mesh_x" else value * 2
        after = least(with_figure(machine, name, Fraction(more)))
        if before is not None:
            assert after <= before, name
    everything = with_figures(
        machine, {name: Fraction(value or 1) * 8 for name, value in now.items()}
    )
    best = least(everything)
    assert before is None or best < before or objective == "energy"
    names = (
        "DRAM.read_energy",
        "SPM.read_energy",
        "RF.read_energy",
        "network.energy",
        "mac.energy",
    )
    for name in names:
        assert trends[name] is Trend.HURTS
        after = least(with_figure(machine, name, Fraction(2000)))
        assert before is None or (after is not None and after >= before), name
    assert (
        before is None
        or objective == "latency"
        or least(with_figures(machine, dict.fromkeys(names, Fraction(2000)))) > before
    )


def vars_of(network):
    return {name: getattr(network, name) for name in network.__slots__}


@pytest.mark.parametrize("name", ["resnet18", "mobilenetv2"])
def test_layers_of_networks_are_proven(name):
    kinds = {
        layer.nest.name: layer
        for layer in sorted(find_network(name).layers, key=lambda layer: -layer.operations)
    }
    for layer in kinds.values():
        solution = solve_staged(pose(ExplainableDesign(MACHINE, StoredLayer(layer.nest))))
        assert solution.certificate.status is Status.OPTIMAL
        assert solution.value >= Fraction(layer.nest.operations, 256)


def test_a_result_states_its_networks_and_evaluates_to_the_same(tmp_path):
    asked = (
        "map",
        "--arch",
        "explainable-edge",
        "--edition",
        "explainable",
        "--problem",
        "depthwise_conv2d",
    )
    sizes = [part for size in ("o=6", "r=8", "c=8", "p=3", "q=3") for part in ("-s", size)]
    file = str(tmp_path / "result.json")
    told = ithaca(*asked, *sizes, "--objective", "latency", "-o", file)
    assert "optimal" in told.stdout
    assert ithaca("evaluate", file).stdout.count("yes") == 1


def test_what_nothing_prices_has_no_energy():
    architecture = replace(MACHINE, unpriced=("SPM",))
    layer = random_layer(Random(1), surplus=False, most=3)
    assert {"energy", "edp"} <= ExplainableDesign(MACHINE, layer).vocabulary.keys()
    assert not {"energy", "edp"} & ExplainableDesign(architecture, layer).vocabulary.keys()
    for edition in EDITIONS.values():
        names = {metric.name for metric in edition.metrics(architecture)}
        assert "latency" in names
        assert "energy" not in names


def test_machines_without_networks_are_refused():
    layer = random_layer(Random(1), surplus=False, most=3)
    with pytest.raises(InputError, match="has no field network; allowed in edition explainable"):
        ExplainableDesign(find_architecture("dmazerunner-256"), layer).machine  # noqa: B018
    with pytest.raises(InputError, match=r"network\.width is 0; allowed: a positive integer"):
        replace(MACHINE, network=replace(MACHINE.network, width=0))


def test_the_space_is_the_papers_and_costs_what_its_file_says():
    space = find_space("explainable-edge")
    assert space.box.count == 7 * 8 * 7 * 10 * 16 * 64**4 * 4**4  # 2.7e14
    point = {
        "pes": 256,
        "rf_bytes": 128,
        "spm_kb": 64,
        "off_chip": 25600,
        "width": 32,
        "input_links": 2,
        "weight_links": 1,
    }
    point |= {"read_links": 1, "write_links": 1} | {
        f"{name}_virtual": 64 for name in ("input", "weight", "read", "write")
    }
    figures, costs = space.at(Configuration(point)), space.cost(Configuration(point))
    assert figures["network.input_links"] == 8
    assert figures["DRAM.shared_bandwidth"] == Fraction(256, 10)
    bus = (25.6 + 5 * 4 * 2) * (14.662 * 256 + 28.895)
    arbiter = 1.2886 * 256**2 + 5.5814 * 256 - 23.711
    area = 256 * (4470.9 + 2 * 4505.19) + 2 * 4161.536 + 101.7938 * bus + 395.473 * arbiter
    assert float(costs["area"]) == pytest.approx(area / 1e6)
