"""Edge accelerators of Explainable-DSE: what is proven of the whole space, and what searches find
of it."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from benchmarks.paper.codesign import METHODS, ask, progress, row, searches
from benchmarks.paper.experiment import Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.files.errors import InputError
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.solver.certificate import Certificate
from ithaca.solver.progress import Progress

#: 40 frames a second at 500 MHz (cycles), 75 mm², 4 W.
SPACE, LIMITS = "explainable-edge", {"latency": 12_500_000, "area": 75, "power": 4}

#: Networks; layers of quick runs.
NETWORKS, QUICK = ("resnet18", "mobilenetv2"), ("fc",)

#: Seconds of a proof; trials of a search in full and in quick mode; how often random numbers are
#: drawn anew.
SECONDS, TRIALS, SEEDS = 1200.0, (60, 16), 3

#: Seconds of each search, so that all of full mode ends within an hour.
SEARCH_SECONDS = dict.fromkeys(METHODS, 60.0) | {"explained": 300.0}


def run(how: Run) -> Outcome:
    """Search for the least latency of one inference of each network, by proof and by methods."""
    rows: list[dict[str, Cell]] = []
    charts: list[LineChart] = []
    for network in NETWORKS if how.full else NETWORKS[:1]:
        question = ask(SPACE, network, ["latency"], LIMITS, () if how.full else QUICK)
        how.step(f"proof for {network}")
        seconds, certificate, value = proof(question, how, SECONDS)
        bound = certificate.lower_bound
        assert bound is not None
        if value is None:
            raise InputError(f"nothing was found in {SECONDS:g} s; allowed: a faster machine")
        known: dict[str, Cell] = {
            "network": network,
            "method": "proof",
            "seed": how.seed,
            "evaluations": None,
        }
        known |= {
            "seconds": certificate.seconds,
            "found after": None,
            "seconds until then": seconds,
            "value": value,
        }
        rows.append(known | {"over the bound": float(value / bound)})
        bank = LayerCache(question.space.accelerator)
        traces = searches(question, bank, TRIALS[not how.full], how, SEEDS, SEARCH_SECONDS)
        for trace in (trace for trace in traces if trace.evaluations):
            found = row(trace, bound)
            rows.append(
                {"network": network, **found, "over the bound": found.pop("over the optimum")}
            )
        charts.append(progress(f"Searches of edge accelerators for {network}", traces, bound))
    table = Table.of(rows)
    over, first = (
        [float(record[name]) for record in table.records(method="proof")]  # type: ignore[arg-type]
        for name in ("over the bound", "seconds until then")
    )
    every = [
        float(ratio)
        for record in table.records()
        if (ratio := record["over the bound"]) is not None
    ]
    measured: Measured = {"gap": 100 * (max(over) - 1), "no better": min(every)}
    if how.full:
        measured = {"feasible": max(first), **measured}
    return Outcome(
        table,
        claims("codesign-edge", measured),
        charts[0],
        {"space": SPACE, "trials": TRIALS[not how.full]},
    )


def proof(
    question: CodesignQuestion, how: Run, seconds: float
) -> tuple[float, Certificate, Fraction | None]:
    """Seconds until something feasible was found, what is proven in the end, and the best value."""
    began, found = time.perf_counter(), list[float]()

    def report(told: Progress) -> None:
        if told.value is not None and not found:
            found.append(time.perf_counter() - began)

    search = replace(how.search, time_limit=how.least_seconds(seconds))
    answer = codesign(question, CodesignOptions(search=search, report=report))
    how.check()
    value = None if answer.best is None else answer.best.values[0]
    return min(found, default=answer.certificate.seconds), answer.certificate, value
