"""Cycles of simulated arrays against SystemVerilog (``tests/data/rtl``), run by Icarus where it is installed.

`UPDATE_RTL=1` writes the cycles that are committed; it needs Icarus.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.simulation.activity import simulate_network
from ithaca.simulation.arrays import array_network
from ithaca.workloads.library import workload
from tests.formulations.test_cycles import configurations
from tests.reference import DATA

SOURCE, CYCLES = DATA / "rtl" / "mm_ij.sv", DATA / "rtl" / "mm_ij_cycles.json"

#: The machine that the SystemVerilog is.
MACHINE = Machine(swap=1, entry=0, hop=2, mac=1, fifo_depth=2)

ICARUS = shutil.which("iverilog")


def arrays() -> Iterator[tuple[SystolicDesign, Mapping[str, int]]]:
    """Random arrays of random sizes."""
    for seed in range(24):
        draw = random.Random(seed)
        nest = workload("mm", {loop: draw.choice([4, 6, 8, 12, 16, 24]) for loop in "ijk"})
        design = SystolicDesign(nest, derive(nest, ("i", "j"), "C"), data_type("fp32"))
        for configuration in configurations(design, 1, seed):
            yield design, configuration


def parameters(design: SystolicDesign, configuration: Mapping[str, int]) -> dict[str, int]:
    """Those of the SystemVerilog."""
    values = {name: Fraction(value) for name, value in {**design.extents, **configuration}.items()}
    groups = {group.name: group for group in design.array.packed_groups}
    words = {name: int((group.size / group.pack).evaluate(values, FRACTION)) for name, group in groups.items()}
    rounds = int(groups["C_drain"].modules[0].tiles.evaluate(values, FRACTION))
    tiles = int(design.array.pe.tiles.evaluate(values, FRACTION))
    return {
        "NX": configuration["lanes.i"],
        "NY": configuration["lanes.j"],
        "A": words["A"],
        "B": words["B"],
        "C": words["C_drain"],
        "TRIPS": int(design.array.pe.trips.evaluate(values, FRACTION)),
        "SUMS": configuration["t2.i"] * configuration["t2.j"],
        "TILES": tiles,
        "VISITS": tiles // rounds,
    }


def rtl_cycles(given: Mapping[str, int], folder: Path) -> int:
    """What Icarus counts."""
    assert ICARUS is not None
    options = [f"-Ptop.{name}={value}" for name, value in given.items()]
    made = folder / "array"
    subprocess.run([ICARUS, "-g2012", "-s", "top", *options, "-o", made, SOURCE], check=True)
    ran = subprocess.run(["vvp", "-n", made], check=True, capture_output=True, text=True)
    return int(ran.stdout.splitlines()[0])


def test_simulated_cycles_are_those_of_the_rtl(tmp_path: Path) -> None:
    all_arrays = list(arrays())
    if "UPDATE_RTL" in os.environ:
        rows = [(given := parameters(*array)) | {"cycles": rtl_cycles(given, tmp_path)} for array in all_arrays]
        CYCLES.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    counted = json.loads(CYCLES.read_text())
    assert len(counted) == len(all_arrays)
    for row, (design, configuration) in zip(counted, all_arrays, strict=True):
        assert parameters(design, configuration) == {name: n for name, n in row.items() if name != "cycles"}
        assert simulate_network(array_network(design, configuration, MACHINE)).cycles == row["cycles"], row
    assert len({row["cycles"] for row in counted}) > 15


@pytest.mark.skipif(ICARUS is None, reason="Icarus Verilog is not installed")
def test_icarus_counts_the_cycles_that_are_committed(tmp_path: Path) -> None:
    for row in json.loads(CYCLES.read_text())[:6]:
        given = {name: value for name, value in row.items() if name != "cycles"}
        assert rtl_cycles(given, tmp_path) == row["cycles"]
