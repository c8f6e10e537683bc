"""HASCO's Tables II and III: what is published beside what is proven under the same constraints."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from statistics import geometric_mean

from benchmarks.paper.codesign import ask
from benchmarks.paper.experiment import PUBLICATION, Cell, Measured, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.files.errors import InputError
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign
from ithaca.solver.certificate import Status

#: The network of quick mode, and what it has of it; its accelerators are those for GEMM.
QUICK, LAYERS = "mobilenetv2", ("fc",)

#: Most seconds of a search over a whole space.
SECONDS = 300.0

BEST, BOUND = "best accelerator found", "proven bound"
THEIRS = "proven, published accelerator"

#: Numbers by name, so that questions can be told apart.
Numbers = tuple[tuple[str, int], ...]


@cache
def least(
    how: Run, space: str, network: str, objective: str, limits: Numbers, fixed: Numbers = ()
) -> tuple[Fraction, Fraction | None]:
    """The least found of an objective over a space, and what is proven to be a bound of it; where
    some quantities are fixed, the least over the rest, proven."""
    how.step(f"{space}, {network}, {objective}, {dict(limits + fixed)}")
    layers = () if how.full else LAYERS
    question = ask(space, network, (objective,), dict(limits), layers)
    quantities = tuple(
        replace(q, values=(value,)) if (value := dict(fixed).get(q.name)) else q
        for q in question.space.quantities
    )
    question = replace(question, space=replace(question.space, quantities=quantities))
    search = replace(how.search, time_limit=None if fixed else how.least_seconds(SECONDS))
    answer = codesign(question, CodesignOptions(search=search))
    how.check()
    assert not fixed or answer.certificate.status is Status.OPTIMAL
    if answer.value is None:
        raise InputError(f"nothing was found for {network} on {space}; allowed: more --run-seconds")
    return answer.value, answer.certificate.lower_bound


def run(how: Run) -> Outcome:
    """Prove the best accelerator under the constraints, and the best mappings on the published."""
    rows: list[dict[str, Cell]] = []
    for row in PUBLICATION["hasco tables"]:
        if not how.full and row["network"] != QUICK:
            continue
        limits = tuple(row["limits"].items())
        for by, stated in row["by"].items():
            if not how.full and "CONV2D" in by:
                continue
            for objective, published in stated["published"].items():
                question = (how, stated["space"], row["network"], objective)
                fixed = tuple(stated.get("hardware", {}).items())
                shown = {"table": row["table"], "network": row["network"], "by": by}
                shown |= {"objective": objective, "published": published}
                own = least(*question, limits, fixed)[0] if fixed else None
                best, bound = least(*question, limits)
                best = best if own is None else min(best, own)
                rows.append(shown | {BEST: best, BOUND: bound, THEIRS: own})
    table = Table.of(rows)

    def mean(column: str, **equal: Cell) -> float:
        return geometric_mean(float(r[column]) for r in table.records(**equal))  # type: ignore[arg-type]

    def ratio(column: str, one: str, other: str) -> float:
        """The mean latency of one method over another's."""
        return mean(column, by=one, objective="latency") / mean(
            column, by=other, objective="latency"
        )

    second = table.records(table="II")
    third = [row for row in table.records() if row[THEIRS] is not None]
    measured: Measured = {
        "never below": min(float(r["published"] / r[BEST]) for r in second),  # type: ignore[operator, arg-type]
        "banks": ratio(THEIRS, "baseline", "co-design, GEMM"),
        "left": max(float(r[THEIRS] / r[BEST]) for r in third),  # type: ignore[operator, arg-type]
    }
    if how.full:
        convolutions = ratio(THEIRS, "co-design, GEMM", "co-design, CONV2D")
        measured = {**measured, "convolutions": convolutions}
    series = table.series(["by"], ["table", "network"], BEST, objective="latency")
    chart = LineChart("HASCO's tables, least latency found", "network", BEST, series)
    return Outcome(table, claims("hasco-tables", measured), chart, {"quick layers": LAYERS})
