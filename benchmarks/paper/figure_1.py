"""Figure 1: what common simplifications cost, each the best design that it finds against the proven
best.

The simplifications never restate the cost model. *Max-based* minimises its metric ``main``: the
slowest of the PEs and all transfers, as if every phase overlapped all others perfectly. *Roofline*
is the coarser one that is common: the iterations over the MAC units, or the off-chip words over a
port of 16 words a cycle, whichever is more. As it is at least iterations over the most MAC units
that fit, and designs reach that, its optima are the designs of the most MAC units whose traffic
takes no longer. *Communication-pruned* keeps the designs of least off-chip traffic. Each leaves
many designs that it cannot tell apart; the fastest of them is what the simplification costs at the
least, the slowest what it may cost.
"""

from __future__ import annotations

from fractions import Fraction

from benchmarks.paper.experiment import Cell, Claim, Outcome, Run, Table, claims, loss
from benchmarks.paper.matrix_product import (
    DESIGN,
    SIZE,
    Optimum,
    budget_settings,
    design_text,
    matrix_problem,
    prove,
    resources,
)
from ithaca.exports.charts.chart import LineChart, Series
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.systolic_array import Edition

#: Words a cycle of the roofline's memory: one port of 64 bytes.
PORT_WORDS = 16

DIVISORS, MAXIMUM, ROOFLINE, COMMUNICATION, BEST = (
    "divisors",
    "max-based",
    "roofline",
    "communication-pruned",
    "best",
)


#: Of the designs that a simplified search cannot tell apart the fastest and, where there are
#: several, the slowest; proven.
Simplified = tuple[Optimum, ...]


def run(how: Run) -> Outcome:
    """Prove the best design of every simplified search; in full mode in both model editions."""
    editions = (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,)
    found = {edition: _searches(edition, how) for edition in editions}
    rows = [
        _row(edition, name, pick, optimum, searches[BEST][0].latency)
        for edition, searches in found.items()
        for name, simplified in searches.items()
        for pick, optimum in zip(("fastest", "slowest"), simplified, strict=False)
    ]
    claims = _claims(found[Edition.ODYSSEY])
    settings = budget_settings(SIZE) | {
        "dataflow": "i,j",
        "permutation": "C",
        "roofline words per cycle": PORT_WORDS,
    }
    return Outcome(Table.of(rows), claims, _chart(found), settings)


def _searches(edition: Edition, how: Run) -> dict[str, Simplified]:
    how.step(f"{edition.value} model edition: divisors and best")
    divisors = prove(matrix_problem(edition=edition, space=SpaceOptions(divisors_only=True)), how)
    best = prove(matrix_problem(edition=edition), how)
    how.step(f"{edition.value} model edition: max-based")
    least_main = prove(matrix_problem("main", edition=edition), how).value
    how.step(f"{edition.value} model edition: roofline")
    most_macs = -prove(matrix_problem("-comp", edition=edition), how).value
    words = PORT_WORDS * SIZE**3 / most_macs
    how.step(f"{edition.value} model edition: communication")
    least_words = prove(matrix_problem("comm", edition=edition), how).value
    return {
        DIVISORS: (divisors,),
        MAXIMUM: _range(edition, how, Limit("main", least_main)),
        ROOFLINE: _range(edition, how, Limit("-comp", -most_macs), Limit("off_chip_words", words)),
        COMMUNICATION: _range(edition, how, Limit("comm", least_words)),
        BEST: (best,),
    }


def _range(edition: Edition, how: Run, *limits: Limit) -> Simplified:
    """The fastest and the slowest of the designs within some limits."""
    fastest = prove(matrix_problem("latency", *limits, edition=edition), how)
    slowest = prove(matrix_problem("-latency", *limits, edition=edition), how)
    return fastest, slowest


def _row(
    edition: Edition, name: str, pick: str, optimum: Optimum, best: Fraction
) -> dict[str, Cell]:
    return {
        "edition": edition.value,
        "search": name,
        "pick": pick,
        "latency (cycles)": optimum.latency,
        "loss (%)": float(loss(best, optimum.latency) * 100),
        "main (cycles)": optimum.metrics["main"],
        "off-chip (words)": optimum.metrics["off_chip_words"],
        **resources(optimum.metrics),
        DESIGN: design_text(optimum.tiling),
    }


def _claims(found: dict[str, Simplified]) -> tuple[Claim, ...]:
    best = found[BEST][0].latency
    losses = {name: loss(best, simplified[0].latency) * 100 for name, simplified in found.items()}
    worst, roof = (loss(best, found[name][-1].latency) * 100 for name in (MAXIMUM, ROOFLINE))
    return claims(
        "figure-1",
        {
            "divisors": losses[DIVISORS],
            "communication": losses[COMMUNICATION],
            "more than divisors": (losses[COMMUNICATION], losses[DIVISORS]),
            "maximum": losses[MAXIMUM],
            "roofline": (roof, worst),
        },
        worst=float(worst),
        roofline=float(losses[ROOFLINE]),
    )


def _chart(found: dict[Edition, dict[str, Simplified]]) -> LineChart:
    """Relative performance; the line down is to the slowest design that a search cannot tell from
    its best."""

    def performance(edition: Edition, optimum: Optimum) -> float:
        return float(found[edition][BEST][0].latency / optimum.latency) * 100

    series = [
        Series(
            f"{edition.value} model edition",
            tuple(searches),
            tuple(performance(edition, s[0]) for s in searches.values()),
            tuple(performance(edition, s[-1]) for s in searches.values()),
            tuple(design_text(s[0].tiling) for s in searches.values()),
        )
        for edition, searches in found.items()
    ]
    title, label = "What simplified searches find of 1024³", "performance (% of the proven best)"
    return LineChart(title, "search", label, tuple(series), bars="their other optima")
