"""The dissertation's Table 4.5 and Figures 4.3, 4.8 and 4.9: sparse accelerators as flow graphs of
components, and what zeros make them faster than the same accelerators without zeros at their
peak."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from benchmarks.paper.experiment import PUBLICATION, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.plugins.flow.formulations.graph import FlowGraph, find_graph
from ithaca.plugins.flow.formulations.run import FlowRun, run_graph

#: Vectors that weights are multiplied with, and most pixels of a layer: how many the operations of
#: Table 4.4 are for is not stated.
VECTORS, PIXELS = 64, 96

#: Multipliers, and bytes of DRAM in a cycle, of each: those of Table 4.5 over its clocks.
PEAKS = {
    "eie": (64, Fraction(256000, 800)),
    "cambricon-x": (256, Fraction(256000, 1024)),
    "cambricon-s": (256, Fraction(256)),
    "zena": (168, Fraction(60)),
}

#: The component that extracts nonzeros of each.
EXTRACTS = {
    "eie": "pe.lookup",
    "cambricon-x": "pe.index",
    "cambricon-s": "select",
    "zena": "workgroup.pe.intersect",
}

#: Assumptions by accelerator: parameters, over columns.
Assumed = Callable[[int], Mapping[str, int]]
ASSUMED: Mapping[str, Mapping[str, Assumed]] = {
    "cambricon-x": {
        "waits after every output": lambda columns: {"every": -(-columns // 256)},
        "waits after every window": lambda columns: {"every": 1},
        "291 cycles a burst": lambda columns: {"every": -(-columns // 256), "start": 291},
        "291 cycles a burst, 16 bursts": lambda columns: {
            "every": -(-columns // 256),
            "start": 291,
            "bursts": 16,
        },
    },
    "cambricon-s": {"blocks of 16 outputs": lambda columns: {}},
    "eie": {
        f"queues of {queue}, {'at least 1 cycle' if least else 'no cycle without weights'}": (
            lambda columns, queue=queue, least=least: {"queue": queue, "least": least}
        )
        for queue in (8, 4, 16)
        for least in (1, 0)
    },
    "zena": {
        f"{window} positions a cycle": lambda columns, window=window: {"window": window}
        for window in (16, 4)
    },
}

#: Rows, columns, vectors and how often a model has such a layer.
Layer = tuple[int, int, int, int]


def pointwise(network: str) -> list[Layer]:
    """The convolutions of 1 × 1 of a network."""
    layers = []
    for work in find_workloads([network]):
        sizes = work.nest.sizes
        if work.nest.name == "conv2d" and sizes["p"] * sizes["q"] == 1:
            pixels = min(sizes["r"] * sizes["c"], PIXELS)
            layers.append((sizes["o"], sizes["i"], pixels, work.count))
    return layers


def measure(
    name: str, assumed: Assumed, layers: Iterable[Layer], density: Fraction, more: Mapping[str, Any]
) -> dict[str, Any]:
    """The gain by zeros, and where the time goes, over all layers of a model."""
    graph: FlowGraph = find_graph(name)
    multipliers, bandwidth = PEAKS[name]
    inputs = Fraction(more.get("activations", 1))
    dense = ideal = balanced = waited = took = dram = energy = Fraction(0)
    for rows, columns, vectors, count in layers:
        stated = {"rows": rows, "columns": columns, "vectors": vectors, **assumed(columns), **more}
        known = {n: Fraction(v) for n, v in stated.items()} | {"density": density}
        done: FlowRun = run_graph(graph, known)
        operations = Fraction(rows * columns * vectors)
        words = rows * columns + (rows + columns) * vectors
        dense += count * max(operations / multipliers, 2 * words / bandwidth)
        ideal += count * operations * density * inputs / multipliers
        parts = {part.name: part for part in done.parts}
        balanced += count * parts[EXTRACTS[name]].cycles
        meets = [part.cycles for part in done.parts if part.component == "synchronise"]
        waited += count * max([parts[EXTRACTS[name]].cycles, *meets])
        took += count * done.cycles
        dram += count * (parts["dram"].energy or 0)
        energy += count * done.energy
    return {
        "speedup": dense / took,
        "at its peak": dense / ideal,
        "compute": ideal / took,
        "extraction": (balanced - ideal) / took,
        "imbalance": (waited - balanced) / took,
        "DMA": (took - waited) / took,
        "DRAM's energy": dram / energy,
    }


def run(how: Run) -> Outcome:
    """Run every model on every accelerator under every assumption, in quick mode on EIE under the
    first."""
    stated = PUBLICATION["dissertation table 4.4"]
    rows: list[dict[str, Any]] = []

    def add(
        name: str,
        model: str,
        layers: list[Layer],
        density: Fraction,
        names: Iterable[str] = (),
        **more: Any,
    ) -> None:
        known = list(ASSUMED[name])
        for assumption in names or known[: None if how.full or name != "eie" else 1]:
            how.step(f"{model} on {name}: {assumption}")
            found = measure(name, ASSUMED[name][assumption], layers, density, more)
            rows.append({"accelerator": name, "model": model, "assumed": assumption} | found)

    for model in ("Transformer", "BERT"):
        own = stated[model]
        layers = [(j, k, VECTORS, n) for j, k, n in own["layers"]]
        for name in ("eie", "cambricon-x", "cambricon-s"):
            add(name, model, layers, 1 - Fraction(own["weights"], 100))
    one = [(3072, 768, VECTORS, 1)]
    add("cambricon-x", "Figure 4.9", one, Fraction(8, 100), list(ASSUMED["cambricon-x"])[:2])
    outputs = list(ASSUMED["cambricon-x"])[:1]
    for zeros in range(55, 100, 10):
        layer = [(4096, 4096, VECTORS, 1)]
        add(
            "cambricon-x",
            f"VGG-16's fc7, {zeros} % zeros",
            layer,
            1 - Fraction(zeros, 100),
            outputs,
        )
    add("cambricon-x", "VGG-16's fc7, 1 vector", [(4096, 4096, 1, 1)], Fraction(1, 4), outputs)
    waits = []
    for layer, (j, k, weights, activations, peak, actual) in PUBLICATION["EIE table IV"].items():
        density, share = Fraction(str(weights)), Fraction(str(activations))
        queues = list(ASSUMED["eie"])[:1]
        add("eie", f"EIE's {layer}", [(j, k, 1, 1)], density, queues, activations=share)
        took = rows[-1]
        over = 1 + (took["extraction"] + took["imbalance"]) / took["compute"]
        waits.append(abs(over * Fraction(str(peak)) / Fraction(str(actual)) - 1))
    if how.full:
        own = stated["MobileNetV2"]
        layers, zeros = pointwise("mobilenetv2"), 1 - Fraction(own["weights"], 100)
        add("cambricon-x", "MobileNetV2", layers, zeros, outputs)
        sparse = 1 - Fraction(own["inputs"], 100)
        add("cambricon-s", "MobileNetV2", layers, zeros, activations=sparse)
        add("zena", "MobileNetV2", layers, zeros, activations=sparse)
    table = Table.of(rows)

    def of(name: str, model: str, what: str = "speedup") -> list[Fraction]:
        return [r[what] for r in rows if (r["accelerator"], r["model"]) == (name, model)]

    figure = {row["assumed"]: row for row in rows if row["model"] == "Figure 4.9"}
    every = figure["waits after every output"]
    measured: Measured = {
        "peak": of("cambricon-x", "BERT", "at its peak")[0],
        "BERT on Cambricon-X": min(of("cambricon-x", "BERT")[:2]),
        "BERT on Cambricon-S": of("cambricon-s", "BERT")[0],
        "BERT on EIE": of("eie", "BERT")[0],
        "Transformer on Cambricon-X": of("cambricon-x", "Transformer")[0],
        "Transformer on Cambricon-S": of("cambricon-s", "Transformer")[0],
        "Transformer on EIE": of("eie", "Transformer")[0],
        "blocks": min(
            of("cambricon-s", model)[0] / of("cambricon-x", model)[0]
            for model in ("BERT", "Transformer")
        ),
        "layer": every["speedup"],
        "extraction": every["extraction"],
        "imbalance": every["imbalance"],
        "transfers": of("cambricon-x", "BERT", "DMA")[0],
        "bursts": of("cambricon-x", "BERT")[2] / of("cambricon-x", "BERT")[0],
        "queues": sum(waits) / len(waits),
        "energy": of("cambricon-x", "VGG-16's fc7, 1 vector", "DRAM's energy")[0],
    }
    if how.full:
        best = of("cambricon-x", "MobileNetV2")[0]
        measured |= {
            "activations": of("cambricon-s", "MobileNetV2")[0] / best,
            "activations in PEs": of("zena", "MobileNetV2")[0] / best,
        }
    series = table.series(["accelerator", "model"], ["assumed"], "speedup")
    chart = LineChart("Sparse accelerators", "assumed", "speedup over no zeros at the peak", series)
    return Outcome(
        table, claims("dsaprof-table-5", measured), chart, {"vectors": VECTORS, "pixels": PIXELS}
    )
