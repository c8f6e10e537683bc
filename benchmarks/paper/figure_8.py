"""Figure 8: sample efficiency, the share of the proven optimum that methods reach with so many
samples."""

from __future__ import annotations

from benchmarks.paper.experiment import Cell, Claim, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import MEAN, PERFORMANCE, SIZE, budget_settings, spread
from benchmarks.paper.methods_compared import (
    BEST_DESIGN,
    EXACT,
    SEEDED,
    STANDS_FOR,
    UNSEEDED,
    budget_text,
    compare,
    design_name,
    methods,
)
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.peers.studies.recorder import SampleBudget

#: The number of samples that the paper states a quality at.
STATED_SAMPLES = 3000

#: Samples at which the share is recorded.
PLACES = (10, 20, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10_000, 20_000, 50_000)

#: Samples and repetitions of quick and full mode.
QUICK_SAMPLES, QUICK_REPEATS = 3000, 2
FULL_SAMPLES, FULL_REPEATS = 50_000, 5

#: Bayesian methods think the longer the more samples they have; they get those of the released
#: script.
BAYESIAN, BAYESIAN_SAMPLES = ("optuna-gp", "optuna-tpe"), 300


def run(how: Run) -> Outcome:
    """Run every method that samples on the design of the paper's best configuration, several
    times."""
    names = tuple(m for m in methods(how) if m != EXACT)  # it evaluates boxes, not configurations
    most, repeats = (FULL_SAMPLES, FULL_REPEATS) if how.full else (QUICK_SAMPLES, QUICK_REPEATS)
    budgets = {m: SampleBudget(BAYESIAN_SAMPLES if m in BAYESIAN else most) for m in names}
    seeds = tuple(how.seed + number for number in range(repeats))
    budgets = {m: b.within(how.run_seconds) for m, b in budgets.items()}
    found = compare(names, (BEST_DESIGN,), seeds, budgets, SIZE, how)
    rows: list[dict[str, Cell]] = []
    for method in names:
        mine = [c for c in found if c.job.method == method]
        for place in (place for place in PLACES if place <= (budgets[method].samples or 0)):
            shares = [c.share(c.trace.value_at(place)) for c in mine]
            rows.append(
                {
                    "method": method,
                    "stands for": STANDS_FOR[method],
                    "samples": place,
                    **spread(shares),
                }
            )
    table = Table.of(rows)
    title = f"Sample efficiency on {design_name(BEST_DESIGN)} of 1024³"
    series = table.series(["method"], ["samples"], MEAN, times=100)
    chart = LineChart(title, "samples", PERFORMANCE, series, steps=True, log_x=True)
    settings = budget_settings(SIZE) | {
        "edition": "odyssey",
        "design": design_name(BEST_DESIGN),
        "budgets": {m: budget_text(b) for m, b in budgets.items()},
        "repetitions": repeats,
    }
    return Outcome(table, _claims(table), chart, settings)


def _claims(table: Table) -> tuple[Claim, ...]:
    reached = table.values("method", MEAN, samples=STATED_SAMPLES)
    others = {method: share for method, share in reached.items() if method != SEEDED}
    second = max(others, key=lambda method: others[method])
    return claims(
        "figure-8",
        {
            "stated": reached[SEEDED],
            "others": (reached[SEEDED], others[second]),
            "random": (reached[UNSEEDED], reached["random"]),
        },
        second=second,
    )
