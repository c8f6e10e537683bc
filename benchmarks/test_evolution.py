"""Seeded evolution against proven optima: the 18 designs of MM at 1024³ (odyssey model edition),
3,000 samples, 5 seeds.

Run with ``pytest benchmarks/test_evolution.py --benchmark-only -s``. Shares are optimum / value.
The seeds' own share stands beside: rounding geometric programs evaluates configurations, too, some
hundred thousand combinations of candidate rows, which are no samples of the evolution. So two more
columns count every configuration: evolution that starts next to the fractional optima of the
programs, unrounded, and evolution that starts from nothing.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ithaca.refine.evolution.engine import Evolution, solve_evolve
from ithaca.solver.certificate import Status
from ithaca.solver.combination import solver_start
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions, never
from tests.problems import MM_DATAFLOWS, mm_problem

SAMPLES, SEEDS = 3000, range(5)


def share(optimum: Fraction, value: Fraction | None) -> str:
    return "      –" if value is None else f"{float(optimum / value):7.2%}"


def test_evolution(benchmark) -> None:  # type: ignore[no-untyped-def]
    print(
        f"\n{'design':<10} {'optimum':>14} {'solver seeds':>12}  {'rounded seeds, 5 runs':<41} {'unrounded':<41} unseeded"
    )

    def run() -> list[str]:
        lines = []
        for dataflow in MM_DATAFLOWS:
            for permutation in "ABC":
                problem = mm_problem((1024, 1024, 1024), dataflow, permutation, "odyssey")
                proven = solve_exact(problem)
                optimum = proven.value
                assert proven.certificate.status is Status.OPTIMAL
                assert optimum is not None
                known = solver_start(problem, SolveOptions(), never)
                rounded = min((problem.value(seed) for seed in known.configurations), default=None)
                seeded = [
                    solve_evolve(problem, SolveOptions(seed=s), samples=SAMPLES, known=known).value
                    for s in SEEDS
                ]
                unrounded = replace(known, configurations=())
                near = [
                    solve_evolve(
                        problem, SolveOptions(seed=s), samples=SAMPLES, known=unrounded
                    ).value
                    for s in SEEDS
                ]
                alone = []
                for seed in SEEDS:
                    search = Evolution(problem, seed, SAMPLES)
                    search.run()
                    alone.append(search.value)
                cells = (
                    " ".join(share(optimum, value) for value in found)
                    for found in (seeded, near, alone)
                )
                name = f"{','.join(dataflow)} {permutation}"
                lines.append(
                    f"{name:<10} {float(optimum):>14,.2f} {share(optimum, rounded):>12}  {'  | '.join(cells)}"
                )
                print(lines[-1], flush=True)
        return lines

    assert len(benchmark.pedantic(run, rounds=1)) == 18
