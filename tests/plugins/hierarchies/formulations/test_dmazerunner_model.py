"""Edition `dmazerunner` against evaluations by the published model."""

import csv
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import SYMBOLIC, Product, Symbol, walk
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NUMPY
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.design import DmazerunnerDesign
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.layers import evaluate_layers
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    SLOTS,
    StoredLayer,
)
from ithaca.workloads.layer_files import read_layers
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.reference import golden_text
from tests.refusals import refusals

#: Columns of the golden file by metric.
COLUMNS = {
    "latency": "cycles",
    "energy": "energy_pJ",
    "pes": "pes",
    "rf_words": "rf_words",
    "spm_banks": "spm_banks",
}
FILE = (
    Path(__file__).parents[4]
    / "plugins/hierarchies/formulations/architectures"
    / "dmazerunner-256.yaml"
)


@pytest.fixture(scope="module")
def architecture():
    return read_architecture(FILE)


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    path = tmp_path_factory.mktemp("golden") / "dmazerunner.csv"
    path.write_text(golden_text("dmazerunner"), encoding="utf-8")
    return path


def random_values(layer, random):
    """A random padded mapping with random orders."""
    values = {}
    for loop, extent in layer.nest.extents:
        factors = [random.choice((1, 1, 2, 3)) for _ in range(3)]
        values |= {
            f"{loop}.{slot}": factor for slot, factor in zip(SLOTS[1:], factors, strict=True)
        }
        values[f"{loop}.{DRAM}"] = -(-extent // (factors[0] * factors[1] * factors[2]))
    return values | {
        f"order.{level}": random.randint(1, len(layer.orders)) for level in ("DRAM", "SPM")
    }


def test_all_golden_rows(architecture, golden):
    points = evaluate_layers(golden, architecture, DmazerunnerDesign)
    rows = list(csv.DictReader(golden_text("dmazerunner").splitlines()))
    assert len(points) == len(rows) == 400
    for point, row in zip(points, rows, strict=True):
        assert {name: point["metrics"][name] for name in COLUMNS} == {
            n: float(row[c]) for n, c in COLUMNS.items()
        }
        fits = (
            int(row["pes"]) <= 256 and int(row["rf_words"]) <= 256 and int(row["spm_banks"]) <= 32
        )
        assert point["valid"] == fits == (point["reason"] is None)


def test_number_systems_agree(architecture, golden):
    random = Random(1)
    for row in read_layers(golden)[::25]:
        layer = StoredLayer(row.nest, row.stored)
        values = random_values(layer, random)
        fractions = {n: Fraction(v) for n, v in values.items()}
        offered = dict.fromkeys(("DRAM", "SPM"), layer.orders)
        design = DmazerunnerDesign(architecture, layer)
        exact, _ = design.priced(fractions, FRACTION, offered)
        orders = {level: [layer.orders[values[f"order.{level}"] - 1]] for level in ("DRAM", "SPM")}
        assert design.priced(fractions, FRACTION, orders)[0] == exact
        arrays = design.priced(
            {n: np.array([v, v], dtype=float) for n, v in values.items()}, NUMPY, offered
        )[0]
        intervals = {n: Interval(v, v) for n, v in fractions.items()}
        symbols = design.priced(_Names(), SYMBOLIC, offered)[0]
        for name, value in exact.items():
            assert arrays[name].tolist() == [float(value)] * 2
            assert symbols[name].evaluate(fractions, FRACTION) == value
            assert as_interval(symbols[name].evaluate(intervals, INTERVAL)).low == value
            assert divides_by_nothing(symbols[name])


def divides_by_nothing(expression):
    """Whether Python's integers value an expression exactly: only ceilings are quotients."""
    products = [node for node in walk(expression) if isinstance(node, Product)]
    return all(exponent > 0 for product in products for _, exponent in product.factors)


class _Names(dict[str, Any]):
    def __missing__(self, name):
        return Symbol(name)


def test_orders_that_suffice_are_one_for_each_stationary_tensor(golden):
    by_kind = {
        row.cells["kind"]: StoredLayer(row.nest, row.stored).orders for row in read_layers(golden)
    }
    assert [order[-1] for order in by_kind["conv"]] == ["M", "Oy", "Fy"]  # I, W, O stay
    assert [order[-1] for order in by_kind["dw"]] == ["Oy", "Fy", "C"]  # W, O, none
    assert [order[-1] for order in by_kind["gemm"]] == ["Y", "X", "K"]


def test_nests_with_a_loop_that_two_tensors_lack_are_refused():
    output, inputs = parse_statement("D[i][j] += A[i][k][l] * B[k][j] * C[l][j]")
    nest = LoopNest("mttkrp", (("i", 4), ("j", 4), ("k", 4), ("l", 4)), output, inputs, simd="l")
    with pytest.raises(InputError, match="loop 'i' indexes neither B nor C"):
        StoredLayer(nest)


@pytest.mark.parametrize(
    ("change", "complaint"),
    refusals("formulations-spatial-dmazerunner_model", "bad_rows_are_refused_by_row_and_column"),
)
def test_bad_rows_are_refused_by_row_and_column(architecture, tmp_path, change, complaint):
    row = next(
        r for r in csv.DictReader(golden_text("dmazerunner").splitlines()) if r["kind"] == "gemm"
    )
    path = tmp_path / "points.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row | change)
    with pytest.raises(InputError, match=complaint.replace("(", r"\(")):
        evaluate_layers(path, architecture, DmazerunnerDesign)
