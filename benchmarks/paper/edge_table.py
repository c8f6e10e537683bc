"""Explainable-DSE's Tables 3.2 and 3.3: least latencies of eleven networks by ten methods, beside what is
proven here of the same space under other costs, and what searches find of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from statistics import geometric_mean
from typing import Any

from benchmarks.paper.codesign import METHODS, OWN_METHODS, ask, ending
from benchmarks.paper.codesign_edge import LIMITS, QUICK, SECONDS, SPACE, proof
from benchmarks.paper.experiment import PUBLICATION, Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.codesign.studies.evaluator import HardwareTrace
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.methods import search_hardware
from ithaca.plugins.codesign.studies.question import CodesignQuestion

#: Cycles of a millisecond; trials of a search in full and in quick mode.
CYCLES, TRIALS = 500_000, (100, 8)

#: What proofs minimise under, and what the rate adds to it.
HARDWARE = {name: bound for name, bound in LIMITS.items() if name != "latency"}


def run(how: Run) -> Outcome:
    """Prove the least latency of each network under area and power, and search within its rate."""
    stated = PUBLICATION["explainable-dse table 3.3"]
    rows: list[dict[str, Cell]] = []
    for name, each in list(stated["networks"].items())[: None if how.full else 1]:
        rows += _published(stated["methods"], name, each)
        rows += _ours(name, int(Fraction(each["most"]) * CYCLES), how)
    table = Table.of(rows)
    bounds = {str(row["network"]): row["bound"] for row in table.records(method="proof")}
    chance = [float(row["feasible"]) for row in table.records(method="random")]  # type: ignore[arg-type]

    def over(**equal: Cell) -> list[float]:
        """Latencies over the proven bounds."""
        pairs = ((row["ms"], bounds[str(row["network"])]) for row in table.records(**equal))
        return [float(ms / bound) for ms, bound in pairs if ms and bound]  # type: ignore[operator]

    measured: Measured = {"no better": min(over(by="here"), default=1), "chance": max(chance)}
    if how.full:
        theirs = geometric_mean(over(method="ExplainableDSE-Codesign"))
        measured = {**measured, "theirs": theirs}
    chart = LineChart(
        "Least latencies of edge accelerators, published (their costs) and here",
        "network",
        "ms",
        Table.of(row for row in rows if row["ms"]).series(["method"], ["network"], "ms"),
    )
    return Outcome(table, claims("edge-table", measured), chart, {"space": SPACE, **HARDWARE})


def _seconds(how: Run) -> float:
    """The limit of a proof or search (seconds)."""
    return how.least_seconds(SECONDS) or SECONDS


def _row(network: str, by: str, method: str, **known: Cell) -> dict[str, Cell]:
    names = (
        "ms",
        "bound",
        "seconds",
        "evaluations",
        "hardware fits",
        "feasible",
        "reduction",
        "rate",
    )
    return {"network": network, "by": by, "method": method} | {n: known.get(n) for n in names}


def _published(
    methods: Sequence[str], network: str, each: Mapping[str, Any]
) -> list[dict[str, Cell]]:
    def exact(value: float | None, over: int = 1) -> Fraction | None:
        return None if value is None else Fraction(str(value)) / over

    every = zip(methods, each["ms"], each["reduction"], strict=True)
    return [
        _row(network, "published", method, ms=exact(ms), reduction=exact(share, 100))
        for method, ms, share in every
    ]


def _ours(network: str, most: int, how: Run) -> list[dict[str, Cell]]:
    """The proof under area and power, and searches that keep the rate, too."""
    layers = () if how.full else QUICK
    question = ask(SPACE, network, ["latency"], HARDWARE, layers)
    how.step(f"proof for {network}")
    _, certificate, value = proof(question, how, _seconds(how))
    bound = certificate.lower_bound or Fraction(0)
    rate = "kept" if value is not None and value <= most else "open"
    known: dict[str, Cell] = {
        "ms": None if value is None else value / CYCLES,
        "bound": bound / CYCLES,
        "seconds": certificate.seconds,
        "rate": "impossible" if bound > most else rate,
    }
    rows = [_row(network, "here", "proof", **known)]
    limited = ask(SPACE, network, ["latency"], {**HARDWARE, "latency": most}, layers)
    bank = LayerCache(limited.space.accelerator)
    return rows + [
        _searched(network, method, limited, bank, how)
        for method in (METHODS if how.full else OWN_METHODS)
    ]


def _searched(
    network: str, method: str, question: CodesignQuestion, bank: LayerCache, how: Run
) -> dict[str, Cell]:
    how.step(f"{method} for {network}")
    trials, over = TRIALS[not how.full], ending(how, _seconds(how))
    trace = search_hardware(method, question, bank, trials, how.seed, over)
    how.check()
    best, count = trace.best(), len(trace.evaluations)
    feasible = sum(each.feasible for each in trace.evaluations)
    fits = sum(each.hardware is not None for each in trace.evaluations)
    return _row(
        network,
        "here",
        method,
        ms=None if best is None or best.value is None else best.value / CYCLES,
        seconds=max((each.seconds for each in trace.evaluations), default=None),
        evaluations=count,
        feasible=Fraction(feasible, max(count, 1)),
        rate=None if best is None else "kept",
        reduction=reduction(trace),
        **{"hardware fits": Fraction(fits, max(count, 1))},
    )


def reduction(trace: HardwareTrace) -> float | None:
    """The factor by which a feasible accelerator reduces the objective, against the least before
    it, on average; None where there are fewer than two."""
    values = [each.value for each in trace.evaluations if each.value is not None]
    shares = [float(1 - v / min(values[:place])) for place, v in enumerate(values) if place]
    return sum(shares) / len(shares) if shares else None
