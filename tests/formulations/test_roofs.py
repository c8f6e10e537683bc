"""Roofs: what `Design.least` says of metrics, and the floors of objectives, against random
configurations of every kind."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import REGIMES, MemoryTiming
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.ports import MemoryPorts
from ithaca.formulations.systolic.systolic_array import DramAccess, Edition
from ithaca.formulations.technology import Technology
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.editions import (
    DMAZERUNNER,
    EXPLAINABLE,
    INTRINSIC,
    TIMELOOP,
    Setting,
)
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.workloads.library import workload, workload_names
from tests.plugins.hierarchies.formulations.cases import (
    random_architecture,
    random_mapping,
    random_nest,
)
from tests.plugins.hierarchies.formulations.test_trends import drawn, some_configurations
from tests.problems import mm_problem

#: Limits that are roofs' business, by metric.
LIMITED = (
    "dsp",
    "comp",
    "bandwidth",
    "power",
    "pes",
    "latency",
    "time",
    "energy",
    "edp",
)

OBJECTIVES = (
    "latency",
    "energy",
    "edp",
    "latency*latency+3*energy",
    "max(latency, energy/7)",
    "energy-latency",
    "-latency",
    "power",
    "dsp",
    "bandwidth*latency",
)


def objective(text):
    return Objective(text, parse_expression(text, where="objective", allowed=None))


def is_below(design, values, limits=LIMITED):
    """Whether roofs hold for a configuration, within the tightest limits that it meets; and whether
    they say something."""
    values = {name: int(n) for name, n in values.items()}
    metrics = design.metrics({name: Fraction(n) for name, n in values.items()}, FRACTION)
    tight = tuple(Limit(name, metrics[name]) for name in limits if name in metrics)
    for allowed in ((), *((limit,) for limit in tight), tight):
        least = design.least(allowed)
        assert least.keys() <= design.vocabulary.keys()
        for name, bound in least.items():
            assert bound <= metrics[name], (design, values, name, bound, metrics[name])
    for text in OBJECTIVES if design.space.contains(values) else ():
        goal = objective(text)
        if goal.expression.symbols <= metrics.keys():
            floor = Problem(design, tight, goal).floor
            assert floor is None or floor <= goal.value(metrics), (design, values, text, floor)
    return bool(least.get("latency", 0) > 1)


def systolic_design(random, kernel, edition):
    """A design of a kernel with random extents, strides and dilations, type, restrictions and
    memory."""
    whole = workload(kernel)
    sizes = {loop: random.choice((1, 2, 3, 5, 8, 12, 31)) for loop in whole.loops}
    sizes |= {name: random.choice((1, 2, 3)) for name in whole.settings if name not in whole.loops}
    nest = workload(kernel, sizes)
    found = [
        a
        for a in designs(nest, edition)
        if edition is not Edition.CYCLE or (a.buildable and a.hanging is None)
    ]
    if not found:
        return None
    array, memory = (
        random.choice(found),
        MemoryTiming(bandwidth=Fraction(random.choice((0, 1, 7, 64)), 2)),
    )
    data, machine = random.choice([*DATA_TYPES.values()]), random.choice([*REGIMES.values()])
    technology = Technology(machine=machine, memory=memory, mac_pj=Fraction(1, 3))
    kept = (
        ((random.choice([a.tensor for a in nest.accesses]), 100),) if random.random() < 0.3 else ()
    )
    options = SpaceOptions(random.choice((1, 1, 2)), random.random() < 0.3, random.random() < 0.3)
    return SystolicDesign(nest, array, data, options, technology, kept=kept)


def with_ports(random, design):
    """The design without tensors on chip, where each may have several memory ports."""
    ports = MemoryPorts(random.choice((1, 2, 4)), random.choice((4, 8)))
    memory = replace(
        design.technology.memory, port=random.choice((1, 3, 20, 100)), channels=ports.channels
    )
    array = design.array
    array = derive(
        design.nest, array.dataflow, array.permutation, array.edition, DramAccess(ports=True)
    )
    options = replace(design.options, ports=ports, target=None)
    technology = replace(design.technology, memory=memory)
    return replace(design, array=array, options=options, technology=technology, kept=())


@pytest.mark.parametrize("edition", [Edition.CYCLE, Edition.EXACT])
@pytest.mark.parametrize("draws", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_no_array_of_several_ports_is_below_its_roofs(edition, draws):
    random, says = Random(23), 0
    kernels = ("mv", "mm", "batched_mm", "conv2d", "mttkrp")
    for turn in range(draws * len(kernels)):
        design = systolic_design(random, kernels[turn % len(kernels)], edition)
        if design is None:
            continue
        spread = with_ports(random, design)
        for values in some_configurations(spread, random, 4):
            values = spread.space.completed(values)
            says += is_below(spread, values)
            latency = spread.metrics({x: Fraction(int(n)) for x, n in values.items()}, FRACTION)[
                "latency"
            ]
            needed = spread.needed("latency", latency)
            assert all(n <= values[x] for x, n in needed.items() if spread.space.contains(values))
    assert says > 5 * draws


@pytest.mark.parametrize("edition", [*Edition])
@pytest.mark.parametrize("draws", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_no_systolic_array_is_below_its_roofs(edition, draws):
    random, says = Random(20), 0
    for turn in range(draws * len(workload_names())):
        kernel = workload_names()[turn % len(workload_names())]
        design = systolic_design(random, kernel, edition)
        for values in [] if design is None else some_configurations(design, random, 3):
            says += is_below(design, design.space.completed(values))
    assert says > 8 * draws


@pytest.mark.parametrize("edition", [TIMELOOP, DMAZERUNNER, EXPLAINABLE, INTRINSIC])
@pytest.mark.parametrize("draws", [8, pytest.param(120, marks=pytest.mark.slow)])
def test_no_mapping_is_below_its_roofs(edition, draws):
    random, says = Random(21), 0
    for _ in range(draws):
        try:
            design = setting(edition, random).design
        except InputError:  # the edition has no such layers
            continue
        for values in some_configurations(design, random, 3):
            says += is_below(design, design.space.completed(values))
    assert says > draws


def setting(edition, random):
    if edition in (TIMELOOP, DMAZERUNNER):
        return drawn(edition, random, blocks=True)
    names = ("conv2d", "mm") if edition == EXPLAINABLE else ("pointwise_conv2d", "mm")
    nest = workload(random.choice(names))
    nest = workload(nest.name, {loop: random.choice((1, 2, 3, 5, 8)) for loop in nest.loops})
    name = "explainable-edge" if edition == EXPLAINABLE else "hasco-gemm"
    return Setting(find_architecture(name), nest, edition, MappingOptions(random.random() < 0.5))


def test_no_mapping_at_all_is_below_its_roofs():
    """Mappings of any orders, capacities aside: windows, strides, holes, bypasses, levels without
    bandwidths."""
    random, says = Random(22), 0
    for _ in range(100):
        nest = random_nest(random)
        architecture = random_architecture(random, nest)
        mapping = random_mapping(random, nest, architecture)
        design = SpatialDesign(nest, architecture, fixed_orders=tuple(mapping.orders.items()))
        values = {
            slot.quantity(loop): mapping.factor(slot, loop)
            for slot in design.slots
            for loop in design.moving
        }
        model = design.model({name: Fraction(n) for name, n in values.items()}, FRACTION)
        parts = enumerate(architecture.parts)
        if all(model.instances(place) <= part.instances for place, part in parts):  # it has so many
            says += is_below(design, values, ("pes", "latency", "energy"))
    assert says > 15


@pytest.mark.parametrize("edition", ["cycle", "exact", "odyssey"])
@pytest.mark.parametrize("dataflow", [("k",), ("i", "j")])
def test_every_metric_may_be_divided_by(edition, dataflow):
    """The main phase of the cycle edition is a difference, which its roof keeps above 0."""
    problem = mm_problem((4, 4, 8), dataflow, edition=edition)
    for name in problem.design.vocabulary:
        assert replace(problem, objective=objective(f"latency/{name}")).guarded
