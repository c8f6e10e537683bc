"""Timeloop's counts of exported folders, by the rules of `tests.plugins.hierarchies.exports.timeloop_rules`, against
Ithaca's.

`tests/data/timeloop_exports.json.gz` has the figures of some 45 cases; `tests/data/README.md` says
how they were made. ``UPDATE_TIMELOOP=1 pytest tests/plugins/hierarchies/exports/test_timeloop_counts.py`` writes them
anew, of the same tilings.
"""

import gzip
import json
import os
from dataclasses import replace
from fractions import Fraction
from math import ceil, prod
from random import Random

import pytest
import yaml

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.metrics import tensor_words
from ithaca.formulations.systolic.systolic_array import Direction
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.plugins.hierarchies.exports.timeloop.folder import TIMELOOP
from ithaca.plugins.hierarchies.exports.timeloop.levels import TimeloopHierarchy
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.exports.timeloop_rules import (
    Storage,
    count,
    read_export,
)
from tests.reference import DATA

PATH = DATA / "timeloop_exports.json.gz"
CASES = json.loads(gzip.decompress(PATH.read_bytes()))


def chosen(case):
    nest = workload(case["workload"], case["sizes"])
    array, tiling = derive(nest, tuple(case["dataflow"]), case["permutation"]), case["tiling"]
    packs = group_packs(array, tiling["pack"])
    factors = Tiling(tiling["array_part"], tiling["latency_hiding"], tiling["simd"], packs)
    return ArrayConfiguration(nest, array, data_type(case["dtype"]), factors)


def modelled(configuration):
    return evaluate(configuration.design, configuration.quantities, configuration.data, FRACTION)


def off_chip(mapped, found):
    dram = found.levels["DRAM"]
    return {
        tensor.name: dram.reads[tensor.name] + dram.updates.get(tensor.name, 0)
        for tensor in mapped.tensors
    }


def kept_apart(mapped):
    return {
        getattr(node, "name", "lanes"): sorted(node.no_reuse)
        for node in mapped.nodes
        if node.no_reuse
    }


def figures(configuration):
    mapped = read_export(TIMELOOP.export(configuration))
    found = count(mapped)
    assert found.overfull == {}
    return {
        "words": off_chip(mapped, found),
        "compute_cycles": found.compute_cycles,
        "cycles": found.cycles,
        "macs": found.macs,
        "multipliers": found.multipliers,
        "utilization": str(found.utilization),
        "no_reuse": kept_apart(mapped),
    }


def test_figures_can_be_written_anew():
    found = [{**case, "figures": figures(chosen(case))} for case in CASES]
    if os.environ.get("UPDATE_TIMELOOP"):
        PATH.write_bytes(gzip.compress(json.dumps(found, indent=1).encode(), mtime=0))
    assert found == CASES


def name(case):
    sizes = ",".join(f"{loop}={n}" for loop, n in case["sizes"].items())
    return f"{case['workload']} {sizes} {case['dtype']} [{','.join(case['dataflow'])}] {case['permutation']}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_figures_are_ithacas(case):
    configuration, expected = chosen(case), case["figures"]
    nest, array, costs = configuration.nest, configuration.design, modelled(configuration)
    assert tensor_words(array, costs) == expected["words"]
    assert costs.comp == expected["multipliers"]
    assert expected["compute_cycles"] == costs.pe - array.pe.moves.evaluate(
        configuration.quantities, FRACTION
    )
    assert expected["macs"] == prod(configuration.padded[loop] for loop in nest.loops)
    # every multiplier works in every cycle of the PEs
    assert expected["macs"] == expected["compute_cycles"] * expected["multipliers"]
    assert Fraction(expected["utilization"]) == Fraction(
        expected["compute_cycles"], expected["cycles"]
    )
    assert expected["cycles"] <= ceil(costs.main)
    if array.buildable:
        assert expected["cycles"] == max(
            expected["compute_cycles"], ceil(transfers(configuration, costs))
        )


def transfers(configuration, costs):
    """Cycles that the slowest module moves data, by Ithaca's model."""
    tiles = {
        m.name: m.tiles.evaluate(configuration.quantities, FRACTION)
        for _, m in configuration.design.modules
    }
    return max(cost.transfer * tiles[name] for name, cost in costs.modules.items())


def test_the_cases_are_many_sided():
    assert len(CASES) >= 45
    assert {case["workload"] for case in CASES} == {
        "mm",
        "conv2d",
        "depthwise_conv2d",
        "pointwise_conv2d",
    }
    assert {case["dtype"] for case in CASES} == {"fp32", "int8"}
    reuse = [case["figures"]["no_reuse"] for case in CASES]
    assert sum(map(bool, reuse)) >= 15
    assert any("lanes" in found for found in reuse)
    assert sum(case["figures"]["cycles"] > case["figures"]["compute_cycles"] for case in CASES) >= 5


@pytest.mark.ci
@pytest.mark.parametrize("case", [c for c in CASES if c["figures"].get("no_reuse")], ids=name)
def test_without_no_reuse_fewer_words_would_be_counted(case):
    mapped = read_export(TIMELOOP.export(chosen(case)))
    words = off_chip(mapped, count(mapped))
    for index, node in enumerate(mapped.nodes):
        for tensor in node.no_reuse:
            nodes = (
                *mapped.nodes[:index],
                replace(node, no_reuse=node.no_reuse - {tensor}),
                *mapped.nodes[index + 1 :],
            )
            fewer = replace(mapped, nodes=nodes)
            # a window may stand still where it could overlap
            shared = off_chip(fewer, count(fewer))[tensor]
            assert shared <= words[tensor]
            if not any(
                len(rank) > 1 for t in mapped.tensors if t.name == tensor for rank in t.ranks
            ):
                assert shared < words[tensor]


# -- any configuration of any design --------------------------------------------------------

SIZES = {
    "mm": {"i": 40, "j": 24, "k": 36},
    "conv2d": {"o": 12, "r": 14, "c": 14, "i": 16, "p": 3, "q": 3, "s": 2},
    "depthwise_conv2d": {"o": 16, "r": 14, "c": 14, "p": 3, "q": 3},
    "pointwise_conv2d": {"o": 16, "r": 14, "c": 14, "i": 24, "s": 2},
    "mttkrp": {"i": 12, "j": 10, "k": 8, "l": 9},
}


def some_of_every_design(kernel, count):
    nest, random = workload(kernel, SIZES[kernel]), Random(1)
    for array in designs(nest):
        for _ in range(count):
            simd = random.choice([1, 2, 4])
            hidden = {loop: random.choice([1, 1, 2, 3]) for loop in array.latency_hiding_loops}
            inner = {
                loop: simd if loop == array.simd_loop else hidden.get(loop, 1) for loop in nest.band
            }
            parts = {
                x: t2 * random.choice([1, 2, 3, 4, -(-nest.sizes[x] // t2)])
                for x, t2 in inner.items()
            }
            packs = {group.name: simd for group in array.packed_groups}
            yield ArrayConfiguration(
                nest, array, data_type("int8"), Tiling(parts, hidden, simd, packs)
            )


@pytest.mark.parametrize("kernel", SIZES)
def test_any_configuration_counts_the_same(kernel):
    for configuration in some_of_every_design(kernel, 1 if kernel == "mttkrp" else 2):
        array, costs = configuration.design, modelled(configuration)
        mapped = read_export(TIMELOOP.export(configuration))
        inexact = {
            tensor
            for tensor, stated in TimeloopHierarchy(configuration).kept_longer.items()
            if not stated
        }
        found = count(mapped)
        words, expected = off_chip(mapped, found), tensor_words(array, costs)
        for tensor, moved in words.items():
            assert moved < expected[tensor] if tensor in inexact else moved == expected[tensor], (
                array.name,
                configuration.tiling,
            )
        if array.buildable and kernel != "mttkrp":
            assert not inexact
        assert found.overfull == {}
        assert found.multipliers == costs.comp
        assert found.compute_cycles == costs.pe - array.pe.moves.evaluate(
            configuration.quantities, FRACTION
        )
        assert found.cycles <= ceil(costs.main)


def test_a_coefficient_that_only_names_elements_is_dropped():
    """A strided layer without a window: no buffer holds what lies between its elements."""
    nest = workload("pointwise_conv2d", {"o": 16, "r": 28, "c": 28, "i": 8, "s": 2})
    array = derive(nest, ("o", "r"), "cout")
    packs = {group.name: 1 for group in array.packed_groups}

    def terms(rows, columns):
        tiling = Tiling(
            {"o": 8, "r": 14 * rows, "c": columns, "i": 4},
            {"o": 8, "r": rows, "c": columns},
            1,
            packs,
        )
        files = TIMELOOP.export(ArrayConfiguration(nest, array, data_type("int8"), tiling))
        document = yaml.safe_load(files["problem.yaml"])["problem"]
        return document["shape"]["data_spaces"][0]["projection"], count(read_export(files)).overfull

    for rows, columns in ((1, 1), (2, 1), (1, 4)):
        assert terms(rows, columns) == ([[["r"]], [["c"]], [["i"]]], {})


def test_bandwidths_are_the_packs_the_ports_and_the_memorys():
    nest = workload("mm", {"i": 64, "j": 64, "k": 64})
    array = derive(nest, ("i", "j"), "C")
    tiling = Tiling(
        {"i": 32, "j": 32, "k": 32}, {"i": 8, "j": 4}, 2, {"A": 4, "B": 2, "C_drain": 4}
    )
    configuration = ArrayConfiguration(
        nest, array, data_type("fp32"), tiling, bandwidth=Fraction(48, 5)
    )
    levels = {
        node.name: node
        for node in read_export(TIMELOOP.export(configuration)).nodes
        if isinstance(node, Storage)
    }
    # a pack per cycle and chain; 9.6 GB/s at 300 MHz are 8 words of 4 bytes a cycle, and without it
    # ports have 64 bytes each
    assert (levels["A_IO_L2_in"].write_bandwidth, levels["B_IO_L2_in"].write_bandwidth) == (4, 2)
    dram = levels["DRAM"]
    assert (dram.read_bandwidth, dram.write_bandwidth, dram.shared_bandwidth) == (8, 4, 8)
    alone = read_export(TIMELOOP.export(replace(configuration, bandwidth=None))).nodes[0]
    assert (alone.read_bandwidth, alone.write_bandwidth, alone.shared_bandwidth) == (32, 4, None)
    ways = [module.direction for _, module in array.modules if module.dram]
    assert ways == [Direction.IN, Direction.IN, Direction.OUT]
