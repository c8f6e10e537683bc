"""HASCO's accelerators for matrix products: the proven front against searches of 20 and 40
trials."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from benchmarks.paper.codesign import TRIALS, ask, searches
from benchmarks.paper.experiment import Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign
from ithaca.plugins.codesign.studies.evaluator import HardwareTrace
from ithaca.plugins.codesign.studies.hypervolume import hypervolume
from ithaca.plugins.codesign.studies.layer_cache import LayerCache

SPACE, OBJECTIVES = "hasco-gemm", ("latency", "power", "area")

#: The paper's limits (cycles; 1e4 mW).
LIMITS = {
    "resnet50": {"latency": 2 * 10**9, "power": 10},
    "mobilenetv2": {"latency": 10**10, "power": 10},
    "xception": {"latency": 10**11, "power": 10},
}

#: Networks and layers of quick runs, and how often random numbers are drawn anew in full ones.
QUICK, QUICK_LAYERS, SEEDS = ("mobilenetv2",), ("fc",), 5

#: The hypervolume's reference: so many times the worst of the proven front.
REFERENCE = Fraction(11, 10)

VOLUME = "share of the proven hypervolume"


def run(how: Run) -> Outcome:
    """Prove each network's front, and measure the fronts of searches against it."""
    rows: list[dict[str, Cell]] = []
    for network in LIMITS if how.full else QUICK:
        question = ask(
            SPACE, network, OBJECTIVES, LIMITS[network], () if how.full else QUICK_LAYERS
        )
        how.step(f"proven front of {network}")
        bank = LayerCache(question.space.accelerator)
        proof = codesign(question, CodesignOptions(search=how.search), bank)
        how.check()
        assert proof.settled
        front = [point.values for point in proof.front]
        reference = tuple(REFERENCE * max(values) for values in zip(*front, strict=True))
        whole = hypervolume(front, reference)
        proven: dict[str, Cell] = {
            "network": network,
            "method": "proof",
            "seed": how.seed,
            "trials": None,
        }
        rows.append(
            proven
            | {"seconds": proof.certificate.seconds, "points": len(front), VOLUME: 1.0}
            | _least(front)
        )
        for trace in searches(question, bank, TRIALS[-1], how, SEEDS):
            for trials in TRIALS:
                rows.append({"network": network, **_row(trace, trials, reference, whole)})
    table = Table.of(rows)
    measured: Measured = {
        "never more": max(float(record[VOLUME]) for record in table.records()),  # type: ignore[arg-type]
        "left": 100 * (1 - min(_mean(table, VOLUME, name, TRIALS[0]) for name in _methods(table))),
    }
    if how.full:
        bayesian = {name: _mean(table, name, "random", 40, "tpe") for name in OBJECTIVES}
        measured = {**measured, **bayesian, "bayesian": 100 * (1 - _mean(table, VOLUME, "tpe", 40))}
    series = table.series(["method", "trials"], ["network"], VOLUME)
    chart = LineChart("Fronts of searches over HASCO's accelerators", "network", VOLUME, series[1:])
    return Outcome(
        table, claims("codesign-hasco", measured), chart, {"space": SPACE, "trials": TRIALS}
    )


def _least(front: Sequence[tuple[Fraction, ...]]) -> dict[str, Cell]:
    """The least of every objective."""
    return {
        name: min((point[place] for point in front), default=None)
        for place, name in enumerate(OBJECTIVES)
    }


def _row(
    trace: HardwareTrace, trials: int, reference: tuple[Fraction, ...], whole: Fraction
) -> dict[str, Cell]:
    front, last = trace.front(trials), trace.evaluations[:trials][-1]
    found: dict[str, Cell] = {
        "method": trace.method,
        "seed": trace.seed,
        "trials": trials,
        "seconds": last.seconds,
    }
    return (
        found
        | {"points": len(front), VOLUME: float(hypervolume(front, reference) / whole)}
        | _least(front)
    )


def _methods(table: Table) -> list[str]:
    return list(
        dict.fromkeys(
            str(record["method"]) for record in table.records() if record["trials"] is not None
        )
    )


def _mean(table: Table, column: str, method: str, trials: int, over: str | None = None) -> float:
    """The mean of a column over networks and seeds of a method, as it is or over that of another
    method."""
    found = [float(record[column]) for record in table.records(method=method, trials=trials)]  # type: ignore[arg-type]
    if over is not None:
        other = [float(record[column]) for record in table.records(method=over, trials=trials)]  # type: ignore[arg-type]
        found = [one / two for one, two in zip(found, other, strict=True)]
    return sum(found) / len(found)
