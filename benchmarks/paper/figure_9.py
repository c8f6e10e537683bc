"""Figure 9: what methods reach in five seconds on one thread."""

from __future__ import annotations

from benchmarks.paper.experiment import Measured, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import PERFORMANCE, SHARE, SIZE, budget_settings
from benchmarks.paper.methods_compared import (
    BEST_DESIGN,
    DESIGNS,
    EXACT,
    SEEDED,
    compare,
    design_name,
    least_share,
    mean_shares,
    methods,
)
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.peers.studies.recorder import SampleBudget

#: As published.
SECONDS = 5.0

#: The methods of quick mode, which gives them all the time, but one design.
QUICK = ("random", SEEDED, EXACT)


def run(how: Run) -> Outcome:
    """Give every method five seconds on each design; in quick mode three methods on one design."""
    names = methods(how) if how.full else QUICK
    seconds, designs = SECONDS, DESIGNS if how.full else (BEST_DESIGN,)
    found = compare(
        names, designs, (how.seed,), dict.fromkeys(names, SampleBudget(seconds=seconds)), SIZE, how
    )
    table = Table.of(
        c.row
        | {
            "seconds allowed": seconds,
            **c.result(c.trace.value_at(seconds=seconds)),
            "samples": c.trace.samples,
            "seconds to the last improvement": round(c.trace.improvements[-1].seconds, 3)
            if c.trace.improvements
            else None,
        }
        for c in found
    )
    series = table.series(["dataflow", "permutation"], ["method"], SHARE, times=100)
    chart = LineChart(f"Search methods on 1024³ after {seconds:g} s", "method", PERFORMANCE, series)
    means = mean_shares(table)
    settings = budget_settings(SIZE) | {
        "edition": "odyssey",
        "designs": [design_name(d) for d in designs],
        "seconds": seconds,
        "methods": list(names),
        "geometric mean share": means,
    }
    best = table.values(
        "method", SHARE, dataflow=",".join(BEST_DESIGN[0]), permutation=BEST_DESIGN[1]
    )
    measured: Measured = {
        "stated": best[SEEDED],
        "all designs": least_share(table, SEEDED),
        "exact": best[EXACT],
        "random": (means[SEEDED], means["random"]),
    }
    return Outcome(table, claims("figure-9", measured), chart, settings)
