"""Figure 11: throughput of all 30 designs of the first two convolutions of VGG16."""

from __future__ import annotations

from fractions import Fraction

from benchmarks.paper.convolutions import (
    KEEPING,
    Dataflow,
    dataflow_text,
    layer,
    layer_problem,
    proven,
)
from benchmarks.paper.experiment import PUBLICATION, Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import BRAM18K, DSP
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.systolic.dataflows import dataflows, permutations
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.solution import Solution

#: The paper's words for the permutations.
ORDERINGS = {"cout": "[o,h,w],[i,p,q]", "cin": "[i,h,w,p,q],o", "w": "[o,i,p,q],[h,w]"}

#: The two-dimensional dataflows that the paper names.
HI, WI, OH, OW = ("r", "i"), ("c", "i"), ("o", "r"), ("o", "c")

Designs = dict[tuple[Dataflow, str], Solution]


def run(how: Run) -> Outcome:
    """Prove every design's optimum, in full mode in both model editions."""
    editions = (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,)
    solved: dict[tuple[str, Edition], Designs] = {}
    for name in PUBLICATION["convolutions"]:
        nest = layer(name)
        for edition in editions:
            how.step(f"{name}, {edition.value} model edition")
            solved[name, edition] = {
                (dataflow, permutation): proven(
                    layer_problem(nest, dataflow, edition, permutation), how
                )
                for dataflow in dataflows(nest)
                for permutation in permutations(nest)
            }
    table = Table.of(
        {
            "layer": name,
            "edition": edition.value,
            "dataflow": dataflow_text(dataflow),
            "ordering": ORDERINGS[permutation],
            "latency (cycles)": solution.metrics["latency"],
            "throughput / best": round(float(_least(designs) / solution.metrics["latency"]), 4),
            "DSP": solution.metrics["dsp"],
            "BRAM18K": solution.metrics["bram18k"],
        }
        for (name, edition), designs in solved.items()
        for (dataflow, permutation), solution in designs.items()
    )
    chart = LineChart(
        "The 30 designs on the first two convolutions of VGG16",
        "dataflow",
        "throughput (share of the layer's best)",
        table.series(["layer", "ordering"], ["dataflow"], "throughput / best", edition="odyssey"),
    )
    settings = {
        "sizes": dict(PUBLICATION["convolutions"]),
        "limits": {"dsp": float(DSP), "bram18k": float(BRAM18K)},
    }
    return Outcome(table, claims("figure-11", _measured(solved)), chart, settings)


def _least(designs: Designs) -> Fraction:
    return min(solution.metrics["latency"] for solution in designs.values())


def _measured(
    solved: dict[tuple[str, Edition], Designs],
) -> dict[str, Number | tuple[Number, Number]]:
    first, second = (
        {
            key: solution.metrics["latency"]
            for key, solution in solved[name, Edition.ODYSSEY].items()
        }
        for name in ("CONV1", "CONV2")
    )
    others = [
        latency / layers[dataflow, KEEPING]
        for layers in (first, second)
        for (dataflow, permutation), latency in layers.items()
        if permutation != KEEPING
    ]
    return {
        "ordering": min(others),
        "CONV1": (first[HI, KEEPING], min(first.values())),
        "CONV1 tie": (first[WI, KEEPING], first[HI, KEEPING]),
        "CONV2": (second[OH, KEEPING], min(second.values())),
        "CONV2 tie": (second[OW, KEEPING], second[OH, KEEPING]),
    }
