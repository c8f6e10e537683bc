"""Bursts of rows that adjoin in DRAM, counted in the addresses that memory ports move, and channels
that tensors share."""

import random
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import MemoryTiming
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.systolic_array import DramAccess, Edition
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY
from ithaca.plugins.rtl.formulations.addresses import ArrayAddresses
from ithaca.workloads.library import workload

SEVERAL_PORTS = DramAccess(ports=True)
KERNELS = ("mv", "mm", "batched_mm", "conv2d", "mttkrp")


def drawn(name, count, seed):
    """Drawn arrays of a kernel, one lane of SIMD and words one by one, each with a configuration of
    which a tensor has several ports."""
    draw = random.Random(seed)
    while count:
        nest = workload(name)
        sizes, values = {x: draw.choice([1, 2, 3]) for x in nest.loops}, {}
        for x in nest.band:
            alone = x in nest.sequential_loops or x == nest.simd
            inner, lanes, tiles = (
                1 if alone else draw.choice([1, 2, 4]),
                *draw.choices([1, 2, 4], k=2),
            )
            sizes[x] = inner * lanes * tiles
            values |= {f"t2.{x}": inner, f"lanes.{x}": lanes, f"tiles.{x}": tiles}
            values[f"t1.{x}"] = inner * lanes
        nest = nest.with_sizes(sizes)
        flow = draw.choice(dataflows(nest))
        array = derive(nest, flow, nest.output.tensor, Edition.EXACT, SEVERAL_PORTS)
        values |= {f"pack.{g.name}": 1 for g in array.packed_groups}
        for group in array.split_groups:
            lanes = values[f"lanes.{group.split}"]
            values[f"ports.{group.name}"] = draw.choice([1, lanes // 2 or 1])
        if any(values[f"ports.{g.name}"] > 1 for g in array.split_groups):
            count -= 1
            yield SystolicDesign(nest, array, DATA_TYPES["fp32"]), values


@pytest.mark.parametrize("name", KERNELS)
def test_no_port_opens_fewer_bursts_than_its_addresses_need(name):
    """A port moves its chains of a tile one after the other: where the next element is not at the
    next address, a burst ends."""
    as_needed = joined = 0
    for design, values in drawn(name, 60, 5):
        known = {x: Fraction(n) for x, n in (*values.items(), *design.extents.items())}
        places = ArrayAddresses(design.nest, design.array, known)
        for group in design.array.packed_groups:
            if group.beside_dram or len(group.modules) < 2:
                continue
            chain = group.buffers[0].chain
            chains = places.value(group.modules[-1].tiles * group.count / chain)
            moved = places.stream(group).addresses.reshape(chains, -1)
            needed = int((np.diff(moved) != 1).sum(axis=1).max()) + 1
            counted = places.value(group.opened(chain))
            assert counted >= needed, (group.name, design.name, values)
            as_needed += counted == needed
            joined += counted < places.value(chain * group.size / group.last)
    assert joined > 2
    assert as_needed > 40


def test_tensors_share_channels_where_they_have_more_ports():
    nest = workload("mm", {"i": 2, "j": 256, "k": 16})
    values = {"pack.A": 4, "pack.B": 8, "pack.C_drain": 4}
    values |= {"ports.A": 1, "ports.B": 4, "ports.C_drain": 4}
    for x, t1, t2 in (("i", 2, 1), ("j", 64, 8), ("k", 16, 4)):
        values |= {f"t1.{x}": t1, f"t2.{x}": t2, f"lanes.{x}": t1 // t2, f"tiles.{x}": 1}
    values["tiles.j"] = 4
    # bytes of the first ports of A, which comes with each tile, B and C
    moved = 4 * 4 * (2 * 16 + 64 * 16 / 4 + 2 * 64 / 4)
    for edition in (Edition.CYCLE, Edition.EXACT):
        array = derive(nest, ("i", "j"), "C", edition, SEVERAL_PORTS)
        latencies = []
        for channels in (0, 9, 8):
            memory = MemoryTiming(port=1, channels=channels)
            technology = replace(DEFAULT_TECHNOLOGY, memory=memory)
            costs = SystolicDesign(nest, array, DATA_TYPES["fp32"], technology=technology).costs(
                values
            )
            latencies.append(costs.latency if edition is Edition.CYCLE else costs.main)
        assert latencies[0] == latencies[1]
        assert latencies[2] == max(latencies[0], ceil(moved)) > latencies[0]


def test_channels_are_of_ports():
    with pytest.raises(InputError, match="channels needs port; allowed: both, or port alone"):
        MemoryTiming(channels=4)
