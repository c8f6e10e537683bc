"""Metrics split among the parts of an array: DSP blocks, block RAM and cycles by module."""

import json
from fractions import Fraction
from itertools import product

import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.families import profile_of
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import by_part
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from tests.command_line import ithaca

SIZES = {"i": 1024, "j": 1024, "k": 1024}


def design(dataflow, permutation, edition):
    nest = workload("mm", SIZES)
    return SystolicDesign(nest, derive(nest, dataflow, permutation, edition), data_type("fp32"))


def point(of):
    """A configuration of a design, with packs of 8."""
    groups = of.array.packed_groups
    t2 = dict.fromkeys(of.array.latency_hiding_loops, 16)
    return of.configuration(
        Tiling(dict.fromkeys("ijk", 64), t2, 8, {group.name: 8 for group in groups})
    )


@pytest.mark.parametrize(
    ("dataflow", "permutation", "edition"),
    list(
        product([("i",), ("k",), ("i", "j"), ("j", "k")], "ABC", [Edition.EXACT, Edition.ODYSSEY])
    ),
)
def test_parts_add_up(dataflow, permutation, edition):
    of = design(dataflow, permutation, edition)
    costs = of.costs(point(of))
    parts = by_part(costs)
    assert sum(parts["dsp_by_module"].values()) == costs.dsp
    assert sum(parts["bram18k_by_module"].values()) == costs.bram18k
    assert sum(parts["off_chip_words_by_array"].values()) == costs.off_chip_words
    modules = {module.name: module for _, module in of.array.modules}
    assert set(parts["cycles_by_module"]) == {"PE", *modules}
    assert max(parts["cycles_by_module"].values()) == costs.main
    holding = {name for name, module in modules.items() if module.buffer}
    assert set(parts["bram18k_by_module"]) - {"PE"} == holding


def test_published_split_of_table_6():
    """Dataflow [i] of 1024³: 3,621 blocks, of which A takes 76 %, B 1 %, C 19 % and the PEs 5 %."""
    of = design(("i",), "C", Edition.ODYSSEY)
    tiling = Tiling(
        {"i": 171, "j": 171, "k": 32}, {"i": 1, "j": 171}, 8, {"A": 8, "B": 16, "C_drain": 4}
    )
    blocks = by_part(of.costs(of.configuration(tiling)))["bram18k_by_module"]
    assert blocks == {"A_IO_L1_in": 2736, "B_IO_L2_in": 30, "C_drain_IO_L1_out": 684, "PE": 171}
    assert sum(blocks.values()) == 3621
    shares = {name[0]: round(100 * n / 3621) for name, n in blocks.items()}
    assert shares == {"A": 76, "B": 1, "C": 19, "P": 5}


def test_a_tensor_on_chip_has_blocks_of_its_own():
    of = design(("i", "j"), "C", Edition.CYCLE)
    keeping = of.keeping((("C", 1024 * 1024),))
    own, kept = (by_part(each.costs(point(of)))["bram18k_by_module"] for each in (of, keeping))
    assert kept == {**own, "C on chip": Fraction(15 * 128)}
    metrics = keeping.metrics(
        {name: Fraction(n) for name, n in (*of.extents.items(), *point(of).items())}, FRACTION
    )
    breakdown = profile_of(keeping).breakdown(point(of), metrics)
    assert [row[0][1] for row in breakdown.rows][-1] == "C on chip"


def test_a_result_states_its_parts(tmp_path):
    path = tmp_path / "mm.json"
    done = ithaca(
        *("solve", "mm", "-s", "i=16,j=16,k=16", "--dataflow", "i,j"),
        *("--limit", "dsp=80", "--verbose", "-o", str(path)),
    )
    assert done.returncode == 0, done.stderr
    metrics = json.loads(path.read_text())["best"]["metrics"]
    assert metrics["dsp_by_module"] == {"PE": metrics["dsp"]}
    assert sum(metrics["bram18k_by_module"].values()) == metrics["bram18k"]
    modules = set(metrics["cycles_by_module"])
    explained = ithaca("explain", str(path), "--quick")
    evaluated = ithaca("evaluate", str(path))
    assert all(name in done.stdout for name in modules)
    assert all(name in evaluated.stdout for name in modules)
    assert f"Block RAM: {metrics['bram18k']} blocks are " in explained.stdout
    document = json.loads(ithaca("explain", str(path), "--quick", "--json").stdout)
    assert document["parts"]["bram18k_by_module"] == metrics["bram18k_by_module"]
