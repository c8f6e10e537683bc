"""Figure 7: search methods on the 18 designs of the matrix product, as shares of the proven
optimum."""

from __future__ import annotations

from benchmarks.paper.experiment import Claim, Measured, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import PERFORMANCE, SHARE, SIZE, budget_settings
from benchmarks.paper.methods_compared import (
    BEST_DESIGN,
    DESIGNS,
    EXACT,
    MOST_SAMPLES,
    SEEDED,
    budget_text,
    compare,
    design_name,
    least_share,
    mean_shares,
    methods,
)
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.peers.studies.recorder import SampleBudget

#: Seconds of a run in the released script.
FULL_SECONDS = 300.0

#: Quick mode: extent, designs and samples.
QUICK_SIZE = 64
QUICK_DESIGNS = ((("i",), "C"), (("i", "j"), "A"), BEST_DESIGN)
QUICK_SAMPLES = 400


def run(how: Run) -> Outcome:
    """Run methods on designs: all of them in full mode, some on three designs of 64³ with few
    samples in quick mode."""
    names = methods(how)
    if how.full:
        size, designs = SIZE, DESIGNS
        budgets = {m: SampleBudget(MOST_SAMPLES.get(m), FULL_SECONDS) for m in names}
    else:
        size, designs = QUICK_SIZE, QUICK_DESIGNS
        budgets = {m: SampleBudget(QUICK_SAMPLES) for m in names}
        # boxes are no samples: exact search is to end by itself
        budgets[EXACT] = SampleBudget(seconds=FULL_SECONDS)
    budgets = {m: b.within(how.run_seconds) for m, b in budgets.items()}
    found = compare(names, designs, (how.seed,), budgets, size, how)
    table = Table.of(
        c.row
        | {
            "budget": budget_text(c.job.budget),
            **c.result(c.trace.value),
            "samples": c.trace.samples,
            "seconds": round(c.trace.seconds, 3),
            "ended": c.trace.ended.value,
        }
        for c in found
    )
    series = table.series(["method"], ["dataflow", "permutation"], SHARE, notes="budget", times=100)
    chart = LineChart(
        f"Search methods on the designs of {size}³", "dataflow and permutation", PERFORMANCE, series
    )
    means = mean_shares(table)
    settings = budget_settings(size) | {
        "edition": "odyssey",
        "designs": [design_name(d) for d in designs],
        "budgets": {m: budget_text(b) for m, b in budgets.items()},
        "geometric mean share": means,
    }
    return Outcome(table, _claims(means, least_share(table, SEEDED)), chart, settings)


def _claims(means: dict[str, float], least: float) -> tuple[Claim, ...]:
    others = {m: mean for m, mean in means.items() if m not in (SEEDED, EXACT)}
    second = max(others, key=lambda m: others[m])
    measured: Measured = {
        "others": (means[SEEDED], others[second]),
        "random": (means[SEEDED], means["random"]),
        "least": least,
        "exact": means[EXACT],
    }
    return claims("figure-7", measured, second=second)
