"""The written text, without running it: its size and names, the order of words, and refusals.

``UPDATE_RTL=1 pytest tests/plugins/rtl/exports`` writes the snapshots anew.
"""

import json
import os
import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.packages import package_bytes
from ithaca.formulations.systolic.systolic_array import Direction, Edition, GroupRole
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import Technology
from ithaca.plugins.rtl.exports.folder import RTL, library, remark, rtl_tool
from ithaca.plugins.rtl.exports.hardware import obstacles
from ithaca.plugins.rtl.formulations.addresses import AddressNest, ArrayAddresses
from ithaca.plugins.rtl.formulations.values import random_tensors
from ithaca.workloads.library import workload, workload_names
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.plugins.rtl.exports.cases import SPARSE, configuration, random_case

SNAPSHOTS = Path(__file__).parents[3] / "data" / "rtl" / "written"

#: A drained array of two dimensions, sums that are handed on, and lanes with sums of their own.
WRITTEN = [("mm", "ij"), ("mttkrp", "ik"), ("depthwise_conv2d", "r")]


@pytest.mark.parametrize(("name", "dataflow"), WRITTEN)
def test_text_is_as_it_was(name, dataflow):
    chosen, sum_bits = configuration(name, dataflow, 1)
    files = rtl_tool(sum_bits).export(chosen)
    for file in ("array.sv", "array_pe.sv"):
        path = SNAPSHOTS / f"{name}_{dataflow}_{file}"
        if os.environ.get("UPDATE_RTL"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[file])
        assert files[file] == path.read_text()


@pytest.mark.parametrize(("name", "dataflow"), WRITTEN)
def test_modules_are_called_as_in_the_list_of_designs(name, dataflow):
    chosen, sum_bits = configuration(name, dataflow, 1)
    text = rtl_tool(sum_bits).export(chosen)["array.sv"]
    for _, module in chosen.design.modules:
        assert re.search(rf"\b{module.name}\b", text)
    for loop in chosen.design.dataflow:
        assert f"LANES_{loop} = 4;" in text


def test_everything_may_be_used_in_any_product():
    chosen, _ = configuration("mm", "k", 1)
    files = RTL.export(chosen)
    for name, text in files.items():
        if name.endswith(".sv"):
            assert text.startswith("// SPDX-License-Identifier: 0BSD\n// Use, change and sell")
    assert {name for name in files if "/" in name and name.endswith(".sv")} == set(library())


# -- addresses ---------------------------------------------------------------------------


def test_nests_are_counters_and_one_adder():
    draw = random.Random(7)
    for _ in range(200):
        axes = tuple((draw.randint(1, 4), draw.randint(-9, 9)) for _ in range(draw.randint(1, 5)))
        nest = AddressNest(axes, draw.randint(0, 99))
        assert nest.merged.addresses.tolist() == nest.addresses.tolist()
        turns, place, found = [0] * len(axes), nest.base, []
        for _ in range(nest.count):  # as ithaca_walk does
            found.append(place)
            for axis in reversed(range(len(axes))):
                if turns[axis] + 1 < axes[axis][0]:
                    turns[axis] += 1
                    place += nest.steps[axis]
                    break
                turns[axis] = 0
        assert found == nest.addresses.tolist()


@pytest.mark.parametrize("name", workload_names())
def test_every_stream_of_the_library_has_few_counters(name):
    nest = workload(name)
    for seed, array in enumerate(a for a in designs(nest) if a.buildable):
        chosen, _ = random_case(seed, name)
        exact = derive(chosen.nest, array.dataflow, array.permutation, Edition.EXACT)
        assert exact.buildable
        places = ArrayAddresses(chosen.nest, chosen.design, chosen.quantities)
        for group in chosen.design.packed_groups:
            assert len(places.stream(group).merged.axes) <= 7
            if group.role is GroupRole.READ:
                words = places.feed(places.access(group.tensor)).addresses
                assert 0 <= words.min() <= words.max() < places.value(group.size)
        assert not list(obstacles(chosen))


def test_every_buildable_design_of_the_library_can_be_written():
    every = [(name, a) for name in workload_names() for a in designs(workload(name)) if a.buildable]
    assert len(every) == 113
    for _, array in every:
        outs = {m.direction for g, m in array.modules if g.role is not GroupRole.READ}
        assert outs == {Direction.OUT}


# -- packages ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2, 6])
def test_packages_are_the_blocks_of_the_tensor(seed):
    """Packages of int16, fp32 and fp32: values, places, and zeros up to a power of two bytes."""
    chosen, sum_bits = random_case(seed, SPARSE[seed % len(SPARSE)], blocks=True)
    blocks, data = chosen.nest.sparse, chosen.data
    lines = rtl_tool(sum_bits, "axi4").export(chosen)[f"vectors/{blocks.tensor}.hex"].split()
    tensor = random_tensors(chosen.nest, data)[blocks.tensor]
    found = []
    for line in lines:
        package = bytes.fromhex(line)[::-1]
        assert len(package) == package_bytes(blocks, data.bytes)
        size = blocks.values * data.bytes
        values = np.frombuffer(
            package[:size], tensor.dtype if data.bits == 32 else f"<i{data.bytes}"
        )
        places = package[size]
        assert places.bit_count() == blocks.values
        assert not any(package[size + 1 :])
        stored = iter(values.tolist())
        found.append([next(stored) if places >> at & 1 else 0 for at in range(blocks.block)])
    assert np.array_equal(np.ravel(found), tensor.ravel())


# -- refusals ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"technology": Technology(machine=Machine(swap=2))},
            r"the machine's swap is 2; allowed: 1 \(as of --platform rtl-open\)",
        ),
        (
            {"technology": Technology(machine=Machine(entry=1))},
            "the machine's entry is 1; allowed: 0",
        ),
        (
            {"technology": Technology(machine=Machine(hop=1))},
            "the machine's hop is 1; allowed: at le",
        ),
        (
            {"technology": Technology(machine=Machine(mac=1))},
            "the machine's mac is 1; allowed: at le",
        ),
    ],
)
def test_what_cannot_be_written_is_refused_with_the_reason(change, reason):
    chosen, _ = configuration("mm", "ij", 1)
    (said,) = obstacles(replace(chosen, **change))
    assert re.match(reason, said)


def test_sums_are_as_wide_as_words():
    chosen, _ = configuration("mm", "ij", 1, "fp32")
    with pytest.raises(InputError, match="accumulator of fp32 is '16'; allowed: 32"):
        rtl_tool(16).export(chosen)
    assert not list(obstacles(chosen))
    assert not list(obstacles(replace(chosen, data=data_type("bf16/16"))))


def test_simd_words_that_straddle_packs_are_refused():
    output, inputs = parse_statement("C[i][j] += A[i][j+k] * B[j][k]")
    nest = LoopNest("window", (("i", 12), ("j", 15), ("k", 16)), output, inputs, "k")
    array = derive(nest, ("i",), "C")
    packs = {"A": 4, "B": 8, "C_drain": 1}
    tiling = Tiling({"i": 4, "j": 5, "k": 8}, {"i": 1, "j": 1}, 4, packs)
    said = list(obstacles(ArrayConfiguration(nest, array, data_type("int8"), tiling)))
    assert said == ["SIMD words of A straddle its packs of 4; allowed: packs that hold them whole"]


def test_designs_that_cannot_be_built_are_refused():
    chosen, _ = configuration("mm", "ij", 1)
    array = derive(chosen.nest, ("i", "j"), "A")
    (said,) = obstacles(replace(chosen, design=array))
    assert said.startswith("partial sums of C are copied in")


@pytest.mark.parametrize(
    ("stated", "platform", "line"),
    [
        ({"simulated": 7, "cycle": 7, "hangs": False}, "u250", ""),
        ({"simulated": None, "cycle": 7, "hangs": None}, "u250", ""),
        (
            {"simulated": 1678, "cycle": 1615, "hangs": False},
            "u250",
            "\nas simulated 1,678 cycles, by the closed form 1,615; to prove this hardware: "
            "--platform rtl-open",
        ),
        (
            {"simulated": 8, "cycle": 7, "hangs": False},
            "rtl-open",
            "\nas simulated 8 cycles, by the closed form 7",
        ),
        (
            {"simulated": 9, "cycle": 9, "hangs": True},
            "u250",
            "\nas simulated it hangs, by the closed form 9; to prove this hardware: "
            "--platform rtl-open",
        ),
    ],
)
def test_what_the_closed_form_does_not_say_is_said(stated, platform, line):
    assert remark({"expected.json": json.dumps({"rtl": stated})}, platform) == line


@pytest.mark.ci
def test_text_is_no_longer_for_more_pes():
    chosen, _ = configuration("mm", "ij", 1)
    tiling = chosen.tiling
    large = replace(
        chosen, tiling=replace(tiling, array_part={**tiling.array_part, "i": 2, "j": 2})
    )
    small, four = (RTL.export(each)["array.sv"].splitlines() for each in (large, chosen))
    assert "LANES_i = 1;" in "".join(small)
    assert len(small) == len(four)
