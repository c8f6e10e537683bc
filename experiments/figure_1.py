"""Figure 1: what common simplifications cost, each the best design that it finds against the proven best.

The simplifications never restate the cost model. *Max-based* minimises its metric ``main``: the slowest of the PEs and
all transfers, as if every phase overlapped all others perfectly. *Roofline* is the coarser one that is common: the
iterations over the MAC units, or the off-chip words over a port of 16 words a cycle, whichever is more. As it is at
least iterations over the most MAC units that fit, and designs reach that, its optima are the designs of the most MAC
units whose traffic takes no longer. *Communication-pruned* keeps the designs of least off-chip traffic. Each leaves
many designs that it cannot tell apart; the fastest of them is what the simplification costs at the least, the slowest
what it may cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ithaca.experiments.claim import NOT_AT_HAND, OWN, Claim, loss
from ithaca.experiments.experiment import Cell, Experiment, Outcome, Run, Table
from ithaca.experiments.matrix_product import (
    SIZE,
    budget_settings,
    design_text,
    found_tiling,
    matrix_problem,
    prove,
    proven_value,
)
from ithaca.formulations.problem import Limit, SpaceOptions
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.solution import Solution
from ithaca.studies.charts.chart import LineChart, Series

#: Words a cycle of the roofline's memory: one port of 64 bytes.
PORT_WORDS = 16

COLUMNS = (
    "edition",
    "search",
    "pick",
    "latency (cycles)",
    "loss (%)",
    "main (cycles)",
    "off-chip (words)",
    "DSP",
    "BRAM18K",
    "design (t1 | t2, SIMD)",
)

DIVISORS, MAXIMUM, ROOFLINE, COMMUNICATION, BEST = "divisors", "max-based", "roofline", "communication-pruned", "best"


@dataclass(frozen=True)
class Simplified:
    """The designs that a simplified search cannot tell apart: the fastest and the slowest of them, proven."""

    fastest: Solution
    slowest: Solution


def run(how: Run) -> Outcome:
    """Prove the best design of every simplified search; in full mode in both editions."""
    rows: list[tuple[Cell, ...]] = []
    found: dict[Edition, dict[str, Simplified]] = {}
    best: dict[Edition, Fraction] = {}
    for edition in (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,):
        found[edition] = _searches(edition, how)
        best[edition] = found[edition][BEST].fastest.metrics["latency"]
        for name, simplified in found[edition].items():
            rows += [_row(edition, name, pick, solution, best[edition]) for pick, solution in _picks(name, simplified)]
    losses = {
        name: loss(best[Edition.ODYSSEY], s.fastest.metrics["latency"]) * 100 for name, s in found[Edition.ODYSSEY].items()
    }
    claims = _claims(losses, found[Edition.ODYSSEY], best[Edition.ODYSSEY])
    settings = budget_settings(SIZE) | {"dataflow": "i,j", "permutation": "C", "roofline words per cycle": PORT_WORDS}
    return Outcome(Table(COLUMNS, tuple(rows)), claims, _chart(found, best), settings)


def _searches(edition: Edition, how: Run) -> dict[str, Simplified]:
    how.step(f"{edition.value} edition: divisors and best")
    divisors = prove(matrix_problem(edition=edition, space=SpaceOptions(divisors_only=True)), how)
    best = prove(matrix_problem(edition=edition), how)
    how.step(f"{edition.value} edition: max-based")
    least_main = proven_value(prove(matrix_problem("main", edition=edition), how))
    how.step(f"{edition.value} edition: roofline")
    most_macs = -proven_value(prove(matrix_problem("-comp", edition=edition), how))
    words = PORT_WORDS * SIZE**3 / most_macs
    how.step(f"{edition.value} edition: communication")
    least_words = proven_value(prove(matrix_problem("comm", edition=edition), how))
    return {
        DIVISORS: Simplified(divisors, divisors),
        MAXIMUM: _range(edition, how, Limit("main", least_main)),
        ROOFLINE: _range(edition, how, Limit("-comp", -most_macs), Limit("off_chip_words", words)),
        COMMUNICATION: _range(edition, how, Limit("comm", least_words)),
        BEST: Simplified(best, best),
    }


def _range(edition: Edition, how: Run, *limits: Limit) -> Simplified:
    """The fastest and the slowest of the designs within some limits."""
    fastest = prove(matrix_problem("latency", *limits, edition=edition), how)
    slowest = prove(matrix_problem("-latency", *limits, edition=edition), how)
    return Simplified(fastest, slowest)


def _picks(name: str, simplified: Simplified) -> list[tuple[str, Solution]]:
    if name in (DIVISORS, BEST):
        return [("fastest", simplified.fastest)]
    return [("fastest", simplified.fastest), ("slowest", simplified.slowest)]


def _row(edition: Edition, name: str, pick: str, solution: Solution, best: Fraction) -> tuple[Cell, ...]:
    metrics = solution.metrics
    return (
        edition.value,
        name,
        pick,
        metrics["latency"],
        float(loss(best, metrics["latency"]) * 100),
        *(metrics[m] for m in ("main", "off_chip_words", "dsp", "bram18k")),
        design_text(found_tiling(solution)),
    )


def _claims(losses: dict[str, Fraction], found: dict[str, Simplified], best: Fraction) -> tuple[Claim, ...]:
    lost = "share of the proven best performance that the fastest design found loses (%)"
    worst = loss(best, found[MAXIMUM].slowest.metrics["latency"]) * 100
    roof = loss(best, found[ROOFLINE].slowest.metrics["latency"]) * 100
    return (
        Claim("considering only divisors loses performance", "39 % lost", lost, losses[DIVISORS], ">", 0),
        Claim(
            "pruning by off-chip traffic loses performance",
            "45 % lost",
            lost,
            losses[COMMUNICATION],
            ">",
            0,
            "measured for the fastest of all designs of least traffic; a search that picks another loses more",
        ),
        Claim(
            "pruning by off-chip traffic loses more than considering only divisors",
            "45 % against 39 %",
            lost,
            losses[COMMUNICATION],
            ">",
            losses[DIVISORS],
        ),
        Claim(
            "a max-based model loses performance",
            NOT_AT_HAND,
            lost,
            losses[MAXIMUM],
            ">",
            0,
            f"at most {float(worst):.2f} %, whichever of its optima is taken: what it omits is prologue and epilogue",
        ),
        Claim(
            "a roofline of MAC units and traffic loses more than the max of all modules may",
            OWN,
            "loss of the slowest design that the roofline calls optimal (%)",
            roof,
            ">",
            worst,
            f"the fastest design that it calls optimal loses {float(losses[ROOFLINE]):.2f} %; it does not tell them apart",
        ),
    )


def _chart(found: dict[Edition, dict[str, Simplified]], best: dict[Edition, Fraction]) -> LineChart:
    """Relative performance; the line down is to the slowest design that a search cannot tell from its best."""
    names = tuple(next(iter(found.values())))
    series = []
    for edition, searches in found.items():
        top = tuple(float(best[edition] / s.fastest.metrics["latency"]) * 100 for s in searches.values())
        low = tuple(float(best[edition] / s.slowest.metrics["latency"]) * 100 for s in searches.values())
        notes = tuple(design_text(found_tiling(s.fastest)) for s in searches.values())
        series.append(Series(f"{edition.value} edition", names, top, low, notes))
    title = "What simplified searches find of 1024³ (bars: their other optima)"
    return LineChart(title, "search", "performance (% of the proven best)", tuple(series))


EXPERIMENT = Experiment(
    "figure-1",
    "what divisors, a max-based model and pruning by communication cost",
    "divisors lose 39 %, pruning by off-chip data movement loses 45 % (abstract)",
    "what the published max-based model takes the maximum of is not known; two models are measured, the metric main and a "
    "roofline",
    run,
)
