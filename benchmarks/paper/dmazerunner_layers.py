"""dMazeRunner's layers: proven optima against its published search and dataflows that are fixed
beforehand."""

from __future__ import annotations

from fractions import Fraction

from benchmarks.paper.dmazerunner import BATCH, LAYERS, MACHINE, layer_problem
from benchmarks.paper.experiment import Cell, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    ORDERED,
    RF,
    SLOTS,
    SPATIAL,
    SPM,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.plugins.peers.studies.methods import run_peer
from ithaca.plugins.peers.studies.recorder import SampleBudget
from ithaca.solver.staged.engine import solve_staged

#: What is minimised, and how the table calls the best of all mappings, without and with padding.
OBJECTIVES, PROVEN, PADDED, PUBLISHED = (
    ("latency", "energy", "edp"),
    "proven",
    "proven, padded",
    "pruned",
)

RATIO = "times the proven optimum"

#: The worked example for conv5_2: 4 × 7 × 7 PEs, register files with 36 words of I, 144 of W and 64 of
#: O, of 4 images and 16 filters, eight passes of which O stays in all.
EXAMPLE = {
    SPATIAL: {"M": 4, "Ox": 7, "Oy": 7},
    RF: {"N": 4, "M": 16, "Fx": 3, "Fy": 3},
    SPM: {"C": 8},
    DRAM: {"M": 8, "C": 64},
}
INNERMOST = ("N", "M", "Ox", "Oy", "Fx", "Fy", "C")


def run(how: Run) -> Outcome:
    """Prove every layer and objective, and take the best of each narrower space; in full mode with
    padding, too."""
    rows: list[dict[str, Cell]] = []
    ratios: dict[tuple[str, str], dict[str, Fraction]] = {}
    values: dict[tuple[str, str, str], Fraction] = {}
    for name in LAYERS:
        for objective in OBJECTIVES:
            how.step(f"{name}, {objective}")
            problem = layer_problem(name, objective, divisors_only=True)
            found: dict[str, Fraction] = {PROVEN: _proven(problem, how)}
            for method in profile_of(problem.design).baselines():
                best = run_peer(method, problem, SampleBudget(seconds=600)).value
                assert best is not None  # small tiles fit every one of these
                found[method] = best
            if how.full:
                found[PADDED] = _proven(layer_problem(name, objective, divisors_only=False), how)
            for method, value in found.items():
                ratio = value / found[PROVEN]
                ratios.setdefault((method, objective), {})[name] = ratio
                values[name, method, objective] = value
                rows.append(
                    {
                        "layer": name,
                        "objective": objective,
                        "space": method,
                        "value": value,
                        RATIO: float(ratio),
                    }
                )
    fixed = [method for method, _ in ratios if method.endswith("stationary")]

    def mean(objective: str) -> Fraction:
        every = [
            ratio for method in dict.fromkeys(fixed) for ratio in ratios[method, objective].values()
        ]
        return sum(every, Fraction(0)) / len(every)

    def worst(objective: str, layer: str) -> Fraction:
        return max(ratios[method, objective][layer] for method in dict.fromkeys(fixed))

    example = layer_problem("conv5_2", "latency", divisors_only=True).design
    assert isinstance(example, TilingDesign)
    factors = {
        f"{loop}.{slot}": FRACTION.number(Fraction(EXAMPLE[slot].get(loop, 1)))
        for slot in SLOTS
        for loop in example.nest.loops
    }
    costs, parts = example.priced(factors, FRACTION, {level: [INNERMOST] for level in ORDERED})
    measured = {
        "worked": costs["latency"],
        "registers": costs["rf_words"],
        "pass": parts["array"],
        "bursts": parts["DMA"],
        "example": values["conv5_2", PROVEN, "latency"],
        "search": Fraction(round(values["conv2_2", PUBLISHED, "edp"] / 10**9)),
        "cycles of search": max(ratios[PUBLISHED, "latency"].values()),
        "energy of search": (max(ratios[PUBLISHED, "energy"].values()) - 1) * 100,
        "edp of search": (max(ratios[PUBLISHED, "edp"].values()) - 1) * 100,
        "edp of dataflows": mean("edp"),
        "cycles of dataflows": mean("latency"),
        "conv5_2 edp": worst("edp", "conv5_2"),
        "conv5_2 cycles": worst("latency", "conv5_2"),
    }
    if how.full:
        measured["padding"] = (
            values["conv5_1", PROVEN, "latency"] / values["conv5_1", PADDED, "latency"]
        )
    table = Table.of(rows)
    series = table.series(["space"], ["layer"], RATIO, objective="edp")
    chart = LineChart("EDP of narrower spaces over the proven optimum", "layer", RATIO, series)
    return Outcome(
        table,
        claims("dmazerunner-layers", measured),
        chart,
        {"architecture": MACHINE, "batch": BATCH},
    )


def _proven(problem: Problem, how: Run) -> Fraction:
    solution = solve_staged(problem, how.search)
    how.check()
    assert solution.value is not None
    assert solution.settled
    return solution.value
