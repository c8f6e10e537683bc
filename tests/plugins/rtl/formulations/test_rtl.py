"""Cycles of simulated arrays against those that Icarus Verilog counted of SystemVerilog written by
hand (``tests/data/rtl``): figures that do not come from what is written now, whose cycles are
compared in ``tests/plugins/rtl/exports``."""

import json
import random
from fractions import Fraction

import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.workloads.library import workload
from tests.reference import DATA
from tests.whole_spaces import small_arrays

FOLDER = DATA / "rtl"

#: Dataflows, and their names in those of files.
DATAFLOWS = {"ij": ("i", "j"), "ik": ("i", "k")}

#: The machine that it is.
MACHINE = Machine(swap=1, entry=0, hop=2, mac=1, fifo_depth=2)


def arrays(dataflow):
    """Random arrays of random sizes and several tiles, in half of which several tiles add to an
    output."""
    wanted = {True: 12, False: 12}
    for seed in range(500):
        draw = random.Random(seed)
        nest = workload("mm", {loop: draw.choice([4, 6, 8, 12, 16, 24]) for loop in "ijk"})
        design = SystolicDesign(nest, derive(nest, DATAFLOWS[dataflow], "C"), data_type("fp32"))
        for configuration in small_arrays(design, 1, seed):
            given = parameters(design, configuration)
            if given["TILES"] > given["VISITS"] and wanted[given["VISITS"] > 1]:
                wanted[given["VISITS"] > 1] -= 1
                yield design, configuration


def parameters(design, configuration):
    """The parameters of that SystemVerilog."""
    values = {name: Fraction(value) for name, value in {**design.extents, **configuration}.items()}
    groups = {group.name: group for group in design.array.packed_groups}
    words = {
        name: int((group.size / group.pack).evaluate(values, FRACTION))
        for name, group in groups.items()
    }
    out = groups.get("C_drain") or groups["C"]
    rounds = int(out.modules[0].tiles.evaluate(values, FRACTION))
    tiles = int(design.array.pe.tiles.evaluate(values, FRACTION))
    return {
        "NX": configuration["lanes.i"],
        "NY": configuration[f"lanes.{design.array.dataflow[1]}"],
        "A": words["A"],
        "B": words["B"],
        "C": words[out.name],
        "TRIPS": int(design.array.pe.trips.evaluate(values, FRACTION)),
        "SUMS": configuration["t2.i"] * configuration["t2.j"],
        "TILES": tiles,
        "VISITS": tiles // rounds,
    }


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_simulated_cycles_are_those_of_the_rtl(dataflow):
    file, found = FOLDER / f"mm_{dataflow}_cycles.json", list(arrays(dataflow))
    counted = json.loads(file.read_text())
    assert len(counted) == len(found) == 24
    for row, (design, configuration) in zip(counted, found, strict=True):
        assert parameters(design, configuration) == {
            name: n for name, n in row.items() if name != "cycles"
        }
        assert (
            simulate_network(array_network(design, configuration, MACHINE)).cycles == row["cycles"]
        ), row
    assert len({row["cycles"] for row in counted}) > 15
