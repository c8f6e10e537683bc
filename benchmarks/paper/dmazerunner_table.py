"""The dissertation's Table 2.1: sizes of the spaces of mappings, counted exactly beside the powers of
ten that it prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import factorial, prod

from benchmarks.paper.dmazerunner import MACHINE
from benchmarks.paper.dmazerunner_spaces import FIT, TILINGS, products
from benchmarks.paper.experiment import PUBLICATION, Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import divisors
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.design import DmazerunnerDesign
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    ORDERED,
    SLOTS,
    StoredLayer,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.model import reuse
from ithaca.workloads.layer_files import KINDS
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

#: Layers of quick runs.
QUICK = ("MobileNetV2", "Transformer", "BERT", "Wav2Vec2")

#: Slots of a loop whose factors are chosen; the last follows.
CHOSEN = len(SLOTS) - 1

#: Columns in the order in which powers are published, and those that say nothing of a machine.
COLUMNS = ("sizings", "of divisors", FIT, "orders", "space", "factored space", "reuse-aware")
SPACES = (*COLUMNS[:2], *COLUMNS[4:])

#: Of a column, the power of ten that is published.
PUBLISHED = "{}, published power"

#: Orders of unique reuse that are published, by all orders.
ORDERS = {5040: 15, 6: 3}

UNIQUE, MOST = "orders of unique reuse", "orders of most reuse"


def nest_of(sizes: Mapping[str, int]) -> LoopNest:
    """A convolution or a matrix product of given extents; S is the stride."""
    kind = "conv" if "M" in sizes else "gemm"
    statement, simd = KINDS[kind]
    strides = {"S": sizes.get("S", 1)} if kind == "conv" else {}
    output, inputs = parse_statement(statement, strides)
    extents = tuple((loop, n) for loop, n in sizes.items() if loop != "S")
    return LoopNest(kind, extents, output, inputs, simd=simd)


def count(nest: LoopNest) -> dict[str, int]:
    """The columns of a layer, exactly."""
    layer = StoredLayer(nest, ())
    design = DmazerunnerDesign(find_architecture(MACHINE), layer, divisors_only=True)
    extents = [extent for _, extent in nest.extents]
    sizings = prod(extents) ** CHOSEN
    factored = prod(len(divisors(extent)) for extent in extents) ** CHOSEN
    orders, most = factorial(len(extents)), len(design.orders[DRAM])
    trips = dict(zip(nest.loops, (2, 3, 5, 7, 11, 13, 17), strict=False))
    unique = {
        tuple(reuse(layer, trips, order, NUMPY).reused.items())  # type: ignore[arg-type]
        for order in permutations(nest.loops)
    }
    levels = len(ORDERED)
    pairs, best = orders**levels, most**levels
    spaces = (sizings * pairs, factored * pairs, factored * best)
    counted = dict(
        zip(COLUMNS, (sizings, factored, design.tables.count(), orders, *spaces), strict=True)
    )
    tilings = prod(products(extent, len(SLOTS)) for extent in extents)
    return {**counted, TILINGS: tilings, UNIQUE: len(unique), MOST: most}


def power(number: int) -> int:
    """The least power of ten that is not below a number."""
    return len(str(number - 1))


def run(how: Run) -> Outcome:
    """Count the mappings of every layer."""
    rows: list[dict[str, Cell]] = []
    for stated in PUBLICATION["dissertation table 2.1"]:
        if how.full or stated["model"] in QUICK:
            how.step(stated["model"])
            named = dict(zip(map(PUBLISHED.format, COLUMNS), stated["powers"], strict=True))
            rows.append(
                {name: stated[name] for name in ("model", "layer", "assumed")}
                | count(nest_of(stated["sizes"]))
                | named
            )
    table = Table.of(rows)
    measured: Measured = {
        "stated": agree(table.records(assumed=False), SPACES),
        "assumed": agree(table.records(assumed=True), SPACES),
        "orders": (
            Fraction(sum(row[UNIQUE] == ORDERS[row["orders"]] for row in rows)),  # type: ignore[index]
            Fraction(len(rows)),
        ),
        "most": max(row[MOST] for row in rows),  # type: ignore[type-var]
        "fit": agree(rows, (FIT,)),
        "multiply": max(Fraction(row[TILINGS], row[COLUMNS[1]]) for row in rows),  # type: ignore[arg-type]
    }
    series = [
        replace(line, name=column)
        for column in (COLUMNS[1], TILINGS, FIT)
        for line in table.series([], ["model"], column)
    ]
    chart = LineChart(
        "Tilings of Table 2.1's layers", "layer", "tilings", tuple(series), log_y=True
    )
    return Outcome(table, claims("dmazerunner-table", measured), chart, {"architecture": MACHINE})


def agree(rows: Sequence[Mapping[str, Cell]], columns: Sequence[str]) -> tuple[Fraction, Fraction]:
    """The number of counts that have the published power of ten, and the number of all."""
    pairs = [(row[name], row[PUBLISHED.format(name)]) for row in rows for name in columns]
    same = sum(power(count) == published for count, published in pairs)  # type: ignore[arg-type]
    return Fraction(same), Fraction(len(pairs))
