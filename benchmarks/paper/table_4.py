"""Table 4: the designs that solver objectives lead to, as ratios of latency, off-chip traffic and
DSP blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from benchmarks.paper.experiment import Cell, Claim, Number, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import (
    BRAM18K,
    DESIGN,
    SIZE,
    budget_settings,
    design_text,
    matrix_problem,
    metrics_of,
    prove,
    resources,
)
from benchmarks.paper.published_designs import (
    COMPARED,
    LATENCY,
    SOLVED,
    TABLE,
    Published,
    expressions,
    fastest_optimum,
    least_of_each,
    rounded_program,
)
from benchmarks.paper.published_program import continuous_optimum, integer_optimum, rounded
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.tiling import Tiling

#: Where a row's design comes from.
PAPER, PROOF, PROGRAM = "published", "proven optimum", "nonlinear program"


@dataclass(frozen=True)
class Design:
    """A design that an objective leads to."""

    objective: str
    origin: str
    tiling: Tiling
    metrics: Mapping[str, Fraction]
    stated: Published | None = None


def run(how: Run) -> Outcome:
    """Evaluate the published designs, prove the optimum of every objective; in full mode solve the
    nonlinear programs, too."""
    published = [Design(row.objective, PAPER, row.tiling, row.metrics, row) for row in TABLE]
    proven = []
    how.step("objectives")
    named = expressions(how)
    for name, expression in named.items():
        how.step(f"proven optimum of {name}")
        optimum = fastest_optimum(expression, how)
        proven.append(Design(name, PROOF, optimum.tiling, optimum.metrics))
    groups = [published, proven]
    if how.full:
        programs = []
        for name, expression in named.items():
            how.step(f"nonlinear program of {name}")
            tiling, _ = rounded_program(expression, how)
            programs.append(Design(name, PROGRAM, tiling, metrics_of(matrix_problem(), tiling)))
        groups.append(programs)
    table = Table.of(row for group in groups for row in _rows(group))
    chart = LineChart(
        "Latency of the designs that objectives lead to (1024³)",
        "objective",
        "latency / best of the row",
        table.series(["design by"], ["objective"], "latency / best", notes=DESIGN),
        tuple(named),
        log_y=True,
    )
    settings = {"dataflow": "i,j", "permutation": "C", "edition": "odyssey", "objectives": named}
    return Outcome(table, _claims(published, proven, how), chart, budget_settings(SIZE) | settings)


def _rows(designs: list[Design]) -> list[dict[str, Cell]]:
    least = least_of_each([d.metrics for d in designs])
    return [
        {
            "objective": d.objective,
            "design by": d.origin,
            **{
                f"{name} / best": float(d.metrics[metric] / least[metric])
                for name, metric in COMPARED.items()
            },
            **{
                f"published {name}": None if d.stated is None else d.stated.ratios[name]
                for name in COMPARED
            },
            "latency (cycles)": d.metrics["latency"],
            "off-chip (words)": d.metrics["off_chip_words"],
            **resources(d.metrics),
            "fits": d.metrics["bram18k"] <= BRAM18K,
            DESIGN: design_text(d.tiling),
        }
        for d in designs
    ]


def _claims(published: list[Design], proven: list[Design], how: Run) -> tuple[Claim, ...]:
    least = least_of_each([d.metrics for d in published])
    off = max(
        abs(d.metrics[metric] / least[metric] - Fraction(str(d.stated.ratios[name])))
        for d in published
        if d.stated is not None
        for name, metric in COMPARED.items()
    )
    by_name = {d.objective: d.metrics for d in proven}
    fastest = by_name[LATENCY]["latency"]
    with_traffic = [d.metrics["latency"] for d in proven if d.objective.startswith("comm")]
    how.step("least block RAM of the published traffic")
    traffic = min(d.metrics["off_chip_words"] for d in published)
    needed = prove(
        matrix_problem("bram18k", Limit("comm", traffic), bram18k=Fraction(10**9)), how
    ).value
    measured: dict[str, Number | tuple[Number, Number]] = {
        "ratios": off,
        "traffic excludes": (min(with_traffic), fastest),
        "computation does not": (by_name["-comp"]["latency"], fastest),
        "latency": (fastest, published[-1].metrics["latency"]),
        "beyond the budget": (min(d.metrics["bram18k"] for d in published[:-1]), BRAM18K),
        "traffic fits none": (needed, BRAM18K),
        "integers": (-integer_optimum("-comp"), published[0].metrics["comp"]),
    }
    if how.full:
        how.step("published program")
        same = sum(
            rounded(continuous_optimum(row.objective)[1]) == (row.t1, row.t2, row.simd)
            for row in SOLVED
        )
        measured["program"] = same, len(SOLVED)
    least_ratio, most_ratio = (float(end(with_traffic) / fastest) for end in (min, max))
    return claims("table-4", measured, least=least_ratio, most=most_ratio, traffic=int(traffic))
