"""One array for all layers, and several, whose tensors have several memory ports, against every
array there is."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.data_types import data_type
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.channels import beside
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.ports import memory_ports
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.codesign.studies.arrays.common import common_designs
from ithaca.results.network_verification import verify_network
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.modes import mode
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer, Network
from tests.plugins.codesign.studies.several_arrays import least, pipelines
from tests.solver.enumeration import packed, tile_values, within_dsp


def question(dtype, most, dsp, **stated):
    platform = replace(load_platform("u280"), resources={})
    ports = memory_ports(platform, most, Edition.CYCLE)
    return ArrayQuestion(
        data=data_type(dtype),
        platform=platform,
        bounds={"dsp": Fraction(dsp)},
        objective=parse_objective("latency"),
        space=SpaceOptions(divisors_only=True, ports=ports),
        **stated,
    )


def network(sizes):
    layers = (
        Layer(f"l{n}", workload("mm", dict(zip("ijk", size, strict=True))), count, (f"l{n}",))
        for n, (size, count) in enumerate(sizes)
    )
    return Network("products", tuple(layers))


def least_by_hardware(problem, most):
    """The least latency of a layer by lanes, SIMD factor, packs and ports."""
    design = systolic(problem)
    array, least = design.array, {}
    names = [*(f"lanes.{loop}" for loop in array.dataflow), f"t2.{array.simd_loop}"]
    names += [f"pack.{group.name}" for group in array.packed_groups]
    powers = [1 << e for e in range(most.bit_length())]
    for point in packed(problem, within_dsp(problem, tile_values(problem))):
        many = len(point[f"t1.{array.band[0]}"])
        keys = np.stack([np.broadcast_to(point[name], many) for name in names], axis=1)
        for ports in product(powers, repeat=len(array.split_groups)):
            split = zip(array.split_groups, ports, strict=True)
            values = point | {f"ports.{group.name}": np.full(many, n) for group, n in split}
            legal = np.ones(many, bool)
            for group in array.split_groups:  # several serve as many lanes each, at least two
                lanes, n = point[f"lanes.{group.split}"], values[f"ports.{group.name}"]
                legal &= (lanes % n == 0) & (2 * n <= lanes + 1)
            costs = evaluate(array, values, design.data, NUMPY, design.technology)
            latency = np.broadcast_to(costs.latency, many)[legal]
            for key, value in zip(map(tuple, keys[legal].tolist()), latency, strict=True):
                least[key + ports] = min(value, least.get(key + ports, np.inf))
    return least


def enumerated(inquiry, layers, most):
    best = []
    for problems in common_designs(layers, inquiry, "shared-array"):
        each = [least_by_hardware(problem, most) for problem in problems]
        counts = [layer.count for layer in layers.layers]
        for hardware in set.intersection(*map(set, each)):
            best.append(sum(n * own[hardware] for n, own in zip(counts, each, strict=True)))
    return min(best)


CASES = [
    ("int8", 4, 8, [((2, 16, 1), 3), ((4, 1, 8), 3)]),
    ("int8", 4, 64, [((1, 32, 16), 1), ((1, 16, 32), 3)]),
]


@pytest.mark.parametrize(("dtype", "most", "dsp", "sizes"), CASES)
def test_one_array_with_ports_is_the_best_there_is(dtype, most, dsp, sizes):
    inquiry, layers = question(dtype, most, dsp), network(sizes)
    answer = mode("shared-array")(layers, inquiry, RunOptions())
    assert answer.status == "optimal"
    assert answer.total.value == enumerated(inquiry, layers, most)
    assert all(check.confirmed for check in verify_network(answer, SolveOptions()))


def test_ports_pay_where_weights_are_read_once():
    """Bound by the memory, an array with more ports takes less time."""
    layers = network([((1, 512, 512), 1), ((1, 512, 256), 2)])
    one, four = (
        mode("shared-array")(layers, question("int8", most, 800), RunOptions()).total.value
        for most in (1, 4)
    )
    assert four < 0.7 * one


def slow_memory(inquiry):
    """The question where each channel moves a byte a cycle, so that ports pay for little work."""
    memory = inquiry.platform.memory
    peak = replace(memory.bandwidth, total=Fraction(96, 10), usable=Fraction(1))
    platform = replace(inquiry.platform, memory=replace(memory, bandwidth=peak))
    return replace(inquiry, platform=platform)


@pytest.mark.parametrize("minimise", list(Minimise))
@pytest.mark.parametrize(
    ("flow", "pays"), [("k", False), pytest.param("j", True, marks=pytest.mark.slow)]
)
def test_two_arrays_with_ports_are_the_best_there_are(flow, pays, minimise):
    """Arrays at work at the same time have half of the channels each, in turn all."""
    layers = network([((1, 16, 32), 1), ((1, 8, 32), 1)])
    stated = {"arrays": 2, "minimise": minimise, "dataflow": (flow,)}
    answer = mode("multi-array")(
        layers, slow_memory(question("int8", 2, 2, **stated)), RunOptions()
    )
    ports = [layer.answer.configuration["ports.B"] for layer in answer.layers]
    assert max(ports) == (2 if pays and minimise is Minimise.TOTAL else 1)
    assert answer.request.space.ports.channels == 32
    own = beside(answer.request, 2)
    assert own.space.ports.channels == (32 if minimise is Minimise.TOTAL else 16)
    designs = common_designs(layers, own, "multi-array")
    rows = pipelines(designs, [0, 1], 2, slowest=minimise is Minimise.SLOWEST)
    assert answer.total.value == answer.total.certificate.lower_bound == least(rows, np.inf)
    assert all(check.confirmed for check in verify_network(answer, SolveOptions()))


def few_channels(channels, sizes, arrays, dsp, flow):
    """The question about layers on a memory of some channels that move a byte a cycle each, and
    the layers."""
    inquiry = question("int8", 1, dsp, arrays=arrays, minimise=Minimise.SLOWEST, dataflow=(flow,))
    memory = inquiry.platform.memory
    peak = replace(memory.bandwidth, total=Fraction(3 * channels, 10), usable=Fraction(1))
    platform = replace(inquiry.platform, memory=replace(memory, channels=channels, bandwidth=peak))
    ports = memory_ports(platform, channels, Edition.CYCLE)
    inquiry = replace(inquiry, platform=platform, space=replace(inquiry.space, ports=ports))
    return inquiry, network([(size, 1) for size in sizes])


@pytest.mark.ci
@pytest.mark.parametrize(
    ("channels", "sizes", "flow", "better"),
    [
        (4, [(1, 16, 4), (1, 4, 4)], "k", 1),  # with half of the channels each, two take longer
        (2, [(1, 8, 4), (1, 6, 4)], "j", 2),
        (1, [(1, 8, 4), (1, 6, 4)], "j", 1),  # two have no channel each
    ],
)
def test_more_arrays_allowed_are_never_worse(channels, sizes, flow, better, tmp_path):
    """The number of arrays that take least is used: of each number all are enumerated."""
    inquiry, layers = few_channels(channels, sizes, 2, 4, flow)
    answer, best = mode("multi-array")(layers, inquiry, RunOptions()), {}
    for number in range(1, min(channels, 2) + 1):
        designs = common_designs(layers, beside(inquiry, number), "multi-array")
        rows = pipelines(designs, [0, 1], number, slowest=True)
        best[number] = least(rows, np.inf)
    assert answer.total.value == answer.total.certificate.lower_bound == min(best.values())
    assert len(answer.arrays) == better
    assert better == min(best, key=best.get)
    assert beside(inquiry, channels + 1) is None
    file = tmp_path / "result.json"
    file.write_text(json.dumps(answer.document))
    assert ithaca.load(file).document == answer.document
    assert all(check.confirmed for check in verify_network(ithaca.load(file), SolveOptions()))


def test_channels_of_a_file_agree(tmp_path):
    layer = "{op: kernel, name: a, kernel: mm, sizes: {i: 2, j: 4, k: 8}}"
    (tmp_path / "n.yaml").write_text(f"name: n\nlayers: [{layer}]")
    terms = {"ports": 2, "dataflow": "i", "dtype": "int8", "limit": {"dsp": 4}}
    document = ithaca.network(tmp_path / "n.yaml", platform="u280", **terms).document
    file = tmp_path / "result.json"
    file.write_text(json.dumps(document))
    assert ithaca.load(file).document == document
    document["space"]["ports"]["channels"] = 9
    file.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"space.ports.channels is 9; allowed: 32, as technology"):
        ithaca.load(file)
