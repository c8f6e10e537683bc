"""HASCO's two spaces: their sizes as published, what an accelerator of them is, and optima of toy
layers over a whole space."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.accelerator import Work
from ithaca.formulations.hardware.silicon import Silicon
from ithaca.formulations.problem import Objective
from ithaca.formulations.region import listed
from ithaca.plugins.codesign.formulations.files import find_space, read_space, space_fields
from ithaca.plugins.codesign.studies.codesign import codesign
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.workloads.library import workload

LATENCY = Objective("latency", parse_expression("latency", where="objective", allowed=None))


@pytest.mark.parametrize(
    ("name", "points", "mixed"),
    [
        ("hasco-gemm", 1_728, 6),
        ("hasco-gemv", 864, 3),
        ("hasco-conv", 968_832, 841),
        ("hasco-dot", 968_832, 841),
        ("hasco-gemm-large", 4 * 6 * 4 * 2 * 8, 8),  # Ithaca's own, for Table III
        ("hasco-conv-large", 8 * 8 * 6 * 4 * 8, 64),
        ("hasco-units", 864, 12),  # Ithaca's own: the released machines' four units as one question
    ],
)
def test_spaces_have_the_published_sizes(name, points, mixed):
    space = find_space(name)
    assert space.box.count == points
    boxes = 1
    for quantity in space.quantities:
        boxes *= len(quantity.values) if quantity.name in space.mixed else 1
    assert boxes == mixed  # those that have to be opened: arrays and dataflows
    assert read_space(space_fields(space), "again") == space


def test_an_accelerator_of_the_space():
    """int8: words are bytes; area and power by the regressions, local memory shared out among
    PEs."""
    space = find_space("hasco-gemm")
    point = dict(space.box.corner(high=True)) | {"side": 16, "banks": 3, "dataflow": 1}
    machine = space.accelerator.architecture_with(space.at(point))
    assert [level.words for level in machine.levels] == [None, 512 * 1024, 256 * 1024]
    assert all(level.word_bits == 8 for level in machine.levels)
    assert (machine.compute.mesh_x, machine.compute.mesh_y) == (16, 16)
    assert (
        machine.tensorized.banks,
        machine.tensorized.bus_bits,
        machine.tensorized.burst_bytes,
    ) == (
        3,
        128,
        128,
    )
    assert machine.tensorized.dataflows[machine.tensorized.dataflow - 1][0] == "weight-stationary"
    silicon = Silicon(
        FRACTION,
        pes=Fraction(256),
        lanes=Fraction(1),
        l1=Fraction(16),
        l2=Fraction(16),
        bandwidth=Fraction(6),
    )
    cost = space.cost(point)
    assert cost == {"area": silicon.area, "power": silicon.power}


@pytest.mark.parametrize(
    "name",
    ["hasco-gemm", "hasco-conv", "hasco-gemv", "hasco-dot", "hasco-units", "hasco-gemm, off chip"],
)
def test_optima_are_those_of_every_accelerator(name):
    """Small parts of the spaces: all accelerators, all matches, all layers, one after the other."""
    few = {
        "side": (8, 32),
        "x": (4, 7),
        "y": (5, 6),
        "scratchpad_kb": (1, 128),
        "banks": (1, 3),
        "dataflow": (1, 2),
    }
    whole = find_space(name.partition(",")[0])
    if "," in name:
        machine = replace(whole.accelerator, options=MappingOptions(off_chip=True))
        whole = replace(whole, accelerator=machine)
        few |= {"bus_bits": (64, 128), "burst_bytes": (64, 128)}
    quantities = tuple(
        listed(q.name, few.get(q.name, q.values[:1]), q.labels) for q in whole.quantities
    )
    space = replace(whole, quantities=quantities)
    nests = (
        workload("conv2d").with_sizes({"o": 40, "r": 9, "c": 9, "i": 20, "p": 3, "q": 3}),
        workload("depthwise_conv2d").with_sizes({"o": 12, "r": 9, "c": 9, "p": 3, "q": 3, "s": 2}),
        workload("mm").with_sizes({"i": 3, "j": 50, "k": 70}),
        workload("mttkrp").with_sizes({"i": 9, "j": 8, "k": 7, "l": 6}),
    )
    works = tuple(Work(f"layer{n}", nest, count=n + 1) for n, nest in enumerate(nests))
    stages = tuple(part for work in works for part in space.accelerator.stages(work))
    assert [work.name for work in stages] == ["layer0", "layer1", "layer2", "layer3.1", "layer3.2"]
    best = {}
    for values in product(*(q.values for q in quantities)):
        point = dict(zip((q.name for q in quantities), values, strict=True))
        total = Fraction(0)
        for work in stages:
            found = solve_designs(space.accelerator.problems(work, space.at(point), LATENCY))
            total += work.count * min(
                solution.value for solution in found if solution.value is not None
            )
        best[values] = total
    result = codesign(make_question(space, works, ["latency"], {}))
    assert result.best.values[0] == min(best.values())
    assert best[tuple(result.best.point[q.name] for q in quantities)] == min(best.values())


@pytest.mark.parametrize(
    ("choices", "allowed"),
    [
        (["weight_stationary", "output_stationary"], True),
        (["weight_stationary"], True),
        (["output_stationary"], False),
        (["output_stationary", "weight_stationary"], False),
    ],
)
def test_names_of_dataflows_are_those_that_the_figure_counts(choices, allowed):
    """A choice counts 1, 2, …: by another order a mapping would bear the other's name."""
    fields = space_fields(find_space("hasco-gemm"))
    fields["quantities"]["dataflow"]["choices"] = choices
    if allowed:
        assert read_space(fields, "space").box.count % len(choices) == 0
        return
    with pytest.raises(InputError, match=r"quantities.dataflow.choices are output.*in this order"):
        read_space(fields, "space")
