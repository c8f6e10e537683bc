"""AutoSA's Table 8: the LU decomposition of small matrices."""

from __future__ import annotations

from statistics import geometric_mean

from benchmarks.paper.experiment import Outcome, Run, Table, claims
from benchmarks.paper.published_arrays import published_rows
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.platform_files import load_platform
from ithaca.plugins.recurrences.formulations.array import Timing
from ithaca.plugins.recurrences.formulations.question import RecurrenceQuestion
from ithaca.plugins.recurrences.workloads.kind import find_recurrence
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import best_solution

#: The clock that is assumed there (MHz).
CLOCK = 250

#: Space loops of the published array.
PUBLISHED = "k,j"

#: Cycles of a memory port from word to word: as fast as can be, and fitted to the published times.
IDEAL, FITTED = Timing(), Timing(interval=3)

CYCLES = "latency (cycles)"


def run(how: Run) -> Outcome:
    """Count the cycles of every array, with memory ports of a word a cycle and with slower ones; in
    quick mode of the smaller matrices."""
    rows, records = published_rows("table 8")[: None if how.full else 2], []
    for row in rows:
        n, published = int(row["row"]), row["µs"] * CLOCK
        how.step(f"LU of {n} × {n}")
        records.append({"n": n, "source": "published", "space loops": PUBLISHED, CYCLES: published})
        for source, timing in (("counted", IDEAL), ("fitted", FITTED)):
            question = RecurrenceQuestion(
                objective=RecurrenceQuestion.minimised("latency"),
                platform=load_platform("u250"),
                timing=timing,
            )
            solutions = solve_designs(question.problems(find_recurrence("lu", {"n": n})))
            best = best_solution(solutions)
            assert best is not None
            for solution in solutions:
                if solution.design == PUBLISHED:
                    records.append(_record(n, source, solution.design, solution.value))
            records.append(_record(n, f"{source}, best", best.design, best.value))
    table = Table.of(records)
    times = {
        source: [float(str(r[CYCLES])) for r in table.records(source=source)]
        for source in ("published", "counted", "fitted", "fitted, best")
    }

    def ratios(one: str, other: str) -> list[float]:
        return [a / b for a, b in zip(times[one], times[other], strict=True)]

    speedups = [
        row["LAPACK"] * CLOCK / cycles for row, cycles in zip(rows, times["fitted"], strict=True)
    ]
    measured = {
        "no less": min(ratios("published", "counted")),
        "fitted": 100 * max(abs(ratio - 1) for ratio in ratios("fitted", "published")),
        "fastest": 100 * max(1 - ratio for ratio in ratios("fitted, best", "fitted")),
    }
    if how.full:  # a mean over all of them
        measured["speedup"] = geometric_mean(speedups)
    series = table.series(["source"], ["n"], CYCLES)
    chart = LineChart("LU decomposition on a triangular array", "n", CYCLES, series)
    settings = {"clock (MHz)": CLOCK, "port interval": FITTED.interval}
    return Outcome(table, claims("autosa-table-8", measured), chart, settings)


def _record(n: int, source: str, design: str, value: object) -> dict[str, int | str | float]:
    return {"n": n, "source": source, "space loops": design, CYCLES: int(str(value))}
