"""Random arrays of all ways to data in DRAM, and their simulated cycles."""

import random
from dataclasses import replace
from fractions import Fraction

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import IDEAL
from ithaca.formulations.systolic.derivation import derive, in_edition
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.systolic_array import DramAccess, Edition
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.workloads.library import workload

#: How data lie in DRAM: of several ports each, or of one each and in no order of their own.
SEVERAL_PORTS, IN_PLACE = DramAccess(ports=True), DramAccess(serialized=False)


def random_arrays(
    name,
    dataflow,
    count,
    seed,
    dram=SEVERAL_PORTS,
):
    """Random small arrays of a dataflow; where tensors may have several ports, some have."""
    draw, array = random.Random(seed), None
    while count:
        nest = workload(name)
        array = derive(nest, dataflow, nest.output.tensor, Edition.CYCLE, dram)
        values, sizes = {}, {}
        for x in array.band:
            inner = (
                draw.choice([1, 2, 4])
                if x == array.simd_loop
                else 1
                if x in array.sequential
                else draw.choice([1, 2, 3])
            )
            lanes = draw.choice([1, 2, 4, 6, 8] if x in dataflow else [1, 2, 4, 5])
            tiles = draw.choice([1, 2, 3])
            sizes[x] = inner * lanes * tiles
            values |= {
                f"t2.{x}": inner,
                f"lanes.{x}": lanes,
                f"t1.{x}": inner * lanes,
                f"tiles.{x}": tiles,
            }
        design = SystolicDesign(nest.with_sizes({**nest.sizes, **sizes}), array, DATA_TYPES["fp32"])
        known = {x: Fraction(n) for x, n in (*values.items(), *design.extents.items())}
        for group in array.packed_groups:
            last, least = (
                int(e.evaluate(known, FRACTION))
                for e in (group.packing.last, group.packing.multiple_of)
            )
            most = max(group.packing.max_bytes // 4, least)
            packs = [p for p in (1, 2, 4, 8, 16) if p % least == 0 and last % p == 0 and p <= most]
            values[f"pack.{group.name}"] = draw.choice(packs or [0])
            if group.split is not None:
                lanes = values[f"lanes.{group.split}"]
                values[f"ports.{group.name}"] = draw.choice(
                    [p for p in (1, 2, 3, 4) if lanes % p == 0 and p * 2 <= max(lanes, 2)]
                )
        several = any(n > 1 for x, n in values.items() if x.startswith("ports."))
        if several == dram.ports and all(values[f"pack.{g.name}"] for g in array.packed_groups):
            count -= 1
            yield design, Configuration(values)


def on(design, machine, memory=IDEAL):
    return replace(design, technology=replace(DEFAULT_TECHNOLOGY, machine=machine, memory=memory))


def simulated(
    design,
    configuration,
    machine,
    memory=IDEAL,
):
    exact = replace(design, array=in_edition(design.nest, design.array, Edition.EXACT))
    run = simulate_network(array_network(exact, configuration, machine, memory))
    assert run.finished
    return run.cycles
