"""Figure 5: how evolution converges from the designs of solver objectives, and from none.

Every seed is the design that the nonlinear program of an objective rounds to, within the budget
(Table 4's published designs break it). Evolution is that of ``--method evolve``, without the bound
and the seeds that it gets otherwise; a seed counts as a sample. A program per objective is solved
once, evolution repeated with several seeds of the random numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

from benchmarks.paper.experiment import Claim, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import (
    MEAN,
    PERFORMANCE,
    SIZE,
    budget_settings,
    design_text,
    matrix_problem,
    prove,
    spread,
)
from benchmarks.paper.published_designs import LATENCY, NORMALISED, expressions, rounded_program
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.refine.evolution.engine import POPULATION, Evolution

#: Name of the run without seed.
NONE = "none"

#: The published combination, the seed that the claims are about.
COMBINED = "comm - comp"

#: The number of samples that the paper states a quality at.
STATED_SAMPLES = 3000

#: Where a seed must show: later, evolution has forgotten what it started from. Of two runs, chance
#: decides which is ahead at one place; so early shares are means over all generations up to here.
EARLY_SAMPLES = 600

#: Samples and repetitions.
QUICK_SAMPLES, QUICK_REPEATS = 3000, 12
FULL_SAMPLES, FULL_REPEATS = 20_000, 20

#: Samples used and the value then, after each generation.
Convergence = list[tuple[int, Fraction]]


def run(how: Run) -> Outcome:
    """Evolve from each objective's design and from none; in full mode longer and more often."""
    samples, repeats = (FULL_SAMPLES, FULL_REPEATS) if how.full else (QUICK_SAMPLES, QUICK_REPEATS)
    how.step("proven optimum")
    optimum = prove(matrix_problem(), how).value
    starts: dict[str, tuple[Tiling, Fraction] | None] = {}
    for name, expression in expressions(how).items():
        how.step(f"nonlinear program of {name}")
        starts[name] = rounded_program(expression, how)
    starts[NONE] = None
    places = range(POPULATION, samples + 1, POPULATION)
    shares: dict[str, list[list[float]]] = {}
    for name, start in starts.items():
        how.step(f"evolution from {name}")
        seed = None if start is None else systolic(matrix_problem()).configuration(start[0])
        runs = [_evolve(seed, how.seed + number, samples, how) for number in range(repeats)]
        shares[name] = [[_share(optimum, found, place) for found in runs] for place in places]
    table = Table.of(
        {
            "seeds from": name,
            "samples": place,
            **spread(at),
            "seed design": None if start is None else design_text(start[0]),
        }
        for name, start in starts.items()
        for place, at in zip(places, shares[name], strict=True)
    )
    title = "Evolution from the designs of solver objectives (1024³)"
    series = table.series(["seeds from"], ["samples"], MEAN, times=100)
    first = [
        table.values("seeds from", MEAN, samples=place)
        for place in places
        if place <= EARLY_SAMPLES
    ]
    early = {name: sum(at[name] for at in first) / len(first) for name in starts}
    stated = table.values("seeds from", MEAN, samples=STATED_SAMPLES)
    return Outcome(
        table,
        _claims(
            early,
            stated,
            {name: optimum / start[1] for name, start in starts.items() if start is not None},
        ),
        LineChart(title, "samples", PERFORMANCE, series, steps=True),
        budget_settings(SIZE)
        | {
            "dataflow": "i,j",
            "permutation": "C",
            "edition": "odyssey",
            "samples": samples,
            "repetitions": repeats,
        },
    )


def _evolve(seed: Configuration | None, random_seed: int, samples: int, how: Run) -> Convergence:
    """The best value after each generation."""
    search = Evolution(matrix_problem(), random_seed, samples)
    found: Convergence = []

    def tell() -> None:
        if search.value is not None:
            found.append((search.samples, search.value))

    if seed is not None:
        search.offer(seed)
    search.run([] if seed is None else [seed], done=how.stop or (lambda: False), tell=tell)
    how.check()
    return found


def _share(optimum: Fraction, found: Convergence, samples: int) -> float:
    """Optimum over the best value after so many samples; 0 where there is none yet."""
    place = bisect_right([used for used, _ in found], samples)
    return float(optimum / found[place - 1][1]) if place else 0.0


def _claims(
    early: dict[str, float], stated: dict[str, float], seeds: dict[str, Fraction]
) -> tuple[Claim, ...]:
    return claims(
        "figure-5",
        {
            "stated": stated[COMBINED],
            "seed": (early[COMBINED], early[NONE]),
            "normalised": (early[NORMALISED], early[COMBINED]),
            "whole model": (float(seeds[LATENCY]), stated[COMBINED]),
        },
        combined=COMBINED,
        normalised=NORMALISED,
        early=EARLY_SAMPLES,
        seeded=stated[COMBINED],
        unseeded=stated[NONE],
    )
