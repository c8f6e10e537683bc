"""Numbers of mappings of dMazeRunner's layers, counted exactly, and of the few that a proof looks
at one by one."""

from __future__ import annotations

from dataclasses import replace
from math import factorial, prod

from benchmarks.paper.dmazerunner import BATCH, LAYERS, MACHINE, layer_problem
from benchmarks.paper.experiment import Cell, Outcome, Run, Table, claims
from ithaca.exports.charts.chart import LineChart
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import divisors
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import ORDERED, SLOTS
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.solver.staged.engine import solve_staged

#: Layers of quick runs: those of the fewest mappings.
QUICK = ("conv5_1", "conv5_2")

TILINGS, FIT, LOOKED_AT = "tilings", "tilings that fit", "rows that the proof bounds"


def run(how: Run) -> Outcome:
    """Count tilings that divide the extents; in full mode of all six layers."""
    rows: list[dict[str, Cell]] = []
    for name in LAYERS if how.full else QUICK:
        how.step(name)
        problem = layer_problem(name, "edp", divisors_only=True)
        design = problem.design
        assert isinstance(design, TilingDesign)
        solution = solve_staged(problem, how.search)
        how.check()
        fit, orders = design.tables.count(), factorial(len(design.nest.loops)) ** len(ORDERED)
        rows.append(
            {
                "layer": name,
                TILINGS: prod(products(extent, len(SLOTS)) for _, extent in design.nest.extents),
                FIT: fit,
                "order pairs": orders,
                "mappings that fit": fit * orders,
                "order pairs that suffice": prod(
                    len(offered) for offered in design.orders.values()
                ),
                LOOKED_AT: solution.certificate.nodes,
            }
        )
    table = Table.of(rows)
    measured = {
        "least": min(table.values("layer", FIT).values()),
        "looked at": 100 * max(row[LOOKED_AT] / row[FIT] for row in table.records()),  # type: ignore[operator]
    }
    series = [
        replace(line, name=column)
        for column in (FIT, LOOKED_AT)
        for line in table.series([], ["layer"], column)
    ]
    chart = LineChart(
        "Tilings of dMazeRunner's layers", "layer", "tilings", tuple(series), log_y=True
    )
    return Outcome(
        table,
        claims("dmazerunner-spaces", measured),
        chart,
        {"architecture": MACHINE, "batch": BATCH},
    )


def products(number: int, factors: int) -> int:
    """The number of ways in which a number is an ordered product of so many factors."""
    return (
        1
        if factors == 1
        else sum(products(int(divisor), factors - 1) for divisor in divisors(number))
    )
