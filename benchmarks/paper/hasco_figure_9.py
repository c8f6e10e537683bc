"""HASCO's Figures 8 and 9: latency, power and area of accelerators for convolutions, over their PEs
and banks."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import correlation

from benchmarks.paper.codesign import ask
from benchmarks.paper.experiment import Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.evaluator import HardwareEvaluator
from ithaca.plugins.codesign.studies.layer_cache import LayerCache

SPACE, OBJECTIVES = "hasco-conv", ("latency", "power", "area")

#: Sides of arrays and banks, in full and in quick mode; what stays.
SIDES, BANKS = range(4, 33), range(1, 9)
QUICK = (4, 8, 31, 32), (1, 8)
FIXED = {"scratchpad_kb": 256, "local_kb": 256, "bus_bits": 128, "burst_bytes": 128}

#: The least and the most multiply-accumulates of the convolutions.
WORK = 86_700_000, 454_200_000

#: The latency up to which powers are compared, of the range.
NEAR = 0.05


def run(how: Run) -> Outcome:
    """Prove the least latency of the convolutions on every accelerator."""
    asked = ask(SPACE, "xception", OBJECTIVES, {})
    least, most = WORK
    works = [work for work in asked.works if least <= work.nest.operations <= most]
    question = replace(asked, works=tuple(replace(work, count=1) for work in works))
    pairs = list(product(*((SIDES, BANKS) if how.full else QUICK)))
    bank = LayerCache(question.space.accelerator)
    evaluator = HardwareEvaluator(question, bank, len(pairs), how.stop, how.seed)
    cells: dict[tuple[int, int], dict[str, float]] = {}
    for side, banks in pairs:
        how.step(f"{side} × {side} PEs, {banks} banks")
        point = Configuration({"x": side, "y": side, **FIXED, "banks": banks})
        hardware = evaluator.evaluate(point).hardware
        assert hardware is not None
        assert all(layer.settled for layer in hardware.layers)
        cells[side, banks] = dict(zip(OBJECTIVES, map(float, hardware.values), strict=True))
    rows: list[dict[str, Cell]] = [
        {"side": side, "banks": banks, **costs} for (side, banks), costs in cells.items()
    ]
    table = Table.of(rows)
    columns = {name: [cell[name] for cell in cells.values()] for name in OBJECTIVES}
    latencies, powers = columns["latency"], columns["power"]
    goal = min(latencies) + NEAR * (max(latencies) - min(latencies))
    near = [power for power, cycles in zip(powers, latencies, strict=True) if cycles <= goal]

    def growth(name: str) -> float:
        """The least that more PEs or more banks multiply a cost by."""
        return min(
            cells[more][name] / cells[less][name]
            for more, less in product(cells, repeat=2)
            if more != less and all(a >= b for a, b in zip(more, less, strict=True))
        )

    measured: Measured = {
        "power": growth("power"),
        "area": growth("area"),
        "together": correlation(powers, columns["area"]),
        "most": cells[max(cells)]["latency"] / min(latencies),
        "spread": max(near) / min(near),
    }
    series = table.series(["banks"], ["side"], "latency")
    chart = LineChart("HASCO's accelerators for convolutions", "side", "cycles", series, log_y=True)
    settings = {"space": SPACE, "layers": [work.name for work in works], **FIXED}
    return Outcome(table, claims("hasco-figure-9", measured), chart, settings)
