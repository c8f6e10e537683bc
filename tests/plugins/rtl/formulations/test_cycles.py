"""The cycle model edition: a closed form, against cycles of simulated arrays."""

import csv
import gzip
import json
import random
from io import StringIO
from statistics import mean

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import REGIMES, Machine, Sums
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.points import load_points
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import Technology
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.reference import DATA
from tests.whole_spaces import small_arrays

#: Mean and largest error that the closed form may have, on arrays of all sizes: those of a
#: first trial.
ALLOWED = {"rtl": (0.0015, 0.08), "hls": (0.007, 0.09)}

GOLDEN = {"mm": "mm", "mm_more": "mm", "conv": "conv2d", "conv_sum_last": "conv2d"}

#: The buildable designs.
DESIGNS = [
    (nest, array.dataflow)
    for nest, tensor in (("mm", "C"), ("conv2d", "cout"))
    for array in choose_designs(workload(nest), Edition.CYCLE, None, tensor)
]


@pytest.mark.parametrize("table", GOLDEN)
def test_golden_cycles(table, tmp_path):
    path = tmp_path / "points.csv"
    path.write_bytes(gzip.decompress((DATA / "golden" / f"cycles_{table}.csv.gz").read_bytes()))
    machine = Machine(sums=Sums.LAST if "last" in table else Sums.FIRST)
    points = load_points(path, workload(GOLDEN[table]), data_type("fp32"), Edition.CYCLE, machine)
    errors = {"rtl": [], "hls": []}
    for (design, configuration), row in zip(
        points, csv.DictReader(StringIO(path.read_text())), strict=True
    ):
        error = float(design.costs(configuration).latency / int(row["cycles"]) - 1)
        errors["hls" if int(row["entry"]) else "rtl"].append(error)
    assert all(error == 0 for error in errors["rtl"])
    assert mean(map(abs, errors["hls"])) <= 0.003
    assert max(map(abs, errors["hls"])) <= 0.05


def errors_of(nest, dataflow, machine, count, seed):
    """Errors of the closed form on random arrays of random sizes."""
    draw, found = random.Random(seed), []
    for number in range(count):
        extents = {loop: draw.choice([4, 6, 8, 12, 16, 24]) for loop in workload(nest).loops}
        extents |= {loop: draw.choice([1, 3]) for loop in "pq" if loop in extents}
        sized = workload(nest, extents)
        array = derive(sized, dataflow, sized.output.tensor, Edition.CYCLE)
        design = SystolicDesign(
            sized, array, data_type("fp32"), technology=Technology(machine=machine)
        )
        for configuration in small_arrays(design, 1, seed + number):
            run = simulate_network(array_network(design, configuration, machine))
            assert run.finished
            found.append(float(design.costs(configuration).latency / run.cycles - 1))
    return found


def check_errors(dataflow, nest, regime, count, seed):
    errors = errors_of(nest, dataflow, REGIMES[regime], count, seed)
    most_mean, most = ALLOWED[regime]
    assert mean(map(abs, errors)) <= most_mean, sorted(errors, key=abs)[-5:]
    assert max(map(abs, errors)) <= most


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("nest", "dataflow"), DESIGNS, ids=[f"{nest} {','.join(loops)}" for nest, loops in DESIGNS]
)
def test_fresh_arrays(nest, dataflow, regime):
    check_errors(dataflow, nest, regime, 50, 1)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("nest", "dataflow"), DESIGNS, ids=[f"{nest} {','.join(loops)}" for nest, loops in DESIGNS]
)
def test_many_fresh_arrays(nest, dataflow, regime):
    check_errors(dataflow, nest, regime, 500, 1000)


def test_designs_that_may_hang_are_none_of_the_edition():
    nest = workload("mttkrp")
    found = {a.dataflow for a in choose_designs(nest, Edition.CYCLE)}
    assert found
    last = {a.dataflow for a in choose_designs(nest, Edition.CYCLE, sums=Sums.LAST)}
    # mttkrp [k], [l], [j,k] and [j,l] hang on half of their arrays
    assert last - found == {("k",), ("l",), ("j", "k"), ("j", "l")}
    with pytest.raises(
        InputError, match=r"may hang: \w+ is handed on along the reduction; allowed: --sums last"
    ):
        choose_designs(nest, Edition.CYCLE, ("k",))


def test_designs_that_cannot_be_built_are_none_of_the_edition():
    with pytest.raises(InputError, match="no design is left"):
        choose_designs(workload("mm"), Edition.CYCLE, None, "A", include_unbuildable=True)


def test_points_are_evaluated_in_it(tmp_path):
    path = tmp_path / "points.csv"
    path.write_bytes(gzip.decompress((DATA / "golden" / "cycles_mm_more.csv.gz").read_bytes()))
    ran = ithaca("evaluate", "mm", "--points", path, "--edition", "cycle", "--json")
    assert not ran.returncode, ran.stderr
    rows = list(csv.DictReader(StringIO(path.read_text())))
    found = json.loads(ran.stdout)["points"]
    exact = [
        point["metrics"]["latency"] == int(row["cycles"])
        for point, row in zip(found, rows, strict=True)
    ]
    assert mean(exact) > 0.97


def test_drained_arrays_take_what_the_guide_says():
    """The equation of docs/cost-model.md for one output tile of a 2-D array, on random arrays."""
    draw, d, h, m = random.Random(1), 1, 2, 8
    for _ in range(300):
        t2, simd = {loop: draw.choice((8, 12, 16)) for loop in "ij"}, draw.choice((2, 4, 8))
        lanes, k = {loop: draw.randint(2, 9) for loop in "ij"}, simd * draw.choice((1, 2, 4))
        n, pack, drain = draw.randint(1, 6), simd * draw.choice((1, k // simd)), draw.choice((1, 4))
        t1 = {loop: lanes[loop] * t2[loop] for loop in "ij"} | {"k": k}
        nest = workload("mm").with_sizes(t1 | {"k": k * n})
        array = derive(nest, ("i", "j"), "C", Edition.CYCLE)
        tiling = Tiling(t1, t2, simd, {"A": pack, "B": pack, "C_drain": drain})
        costs = evaluate(array, tiling.quantities(array, nest.sizes), data_type("fp32"), FRACTION)
        trips, w = (k // simd) * t2["i"] * t2["j"], t2["i"] * t2["j"] // drain
        fills = [lanes[loop] * t2[loop] * k // pack for loop in "ij"]
        first = max(fills) + max(h, d) + d + h
        period = max(trips + d, max(fills) + d)
        last = max(lanes["i"] * w, w + 2 * h * (lanes["i"] - 1)) + 3 * h + m - 1
        behind = (lanes["j"] - 1) * max(lanes["i"] * w, 2 * h)
        assert costs.prologue == first
        assert costs.epilogue == last
        assert costs.main == behind + (n - 1) * period + trips
