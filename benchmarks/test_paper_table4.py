"""The published comparison of solver objectives (Odyssey, Table 4): remade, explained, and set
beside proven optima.

Run with ``pytest benchmarks/test_paper_table4.py --benchmark-only -s``. It prints, in this order,
the published designs with their ratios; what the published nonlinear program gives; what Ithaca's
nonlinear programs give, multi-start where they are not convex; the proven optimum of each
objective; and why the published designs do not fit the device.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from benchmarks.paper.matrix_product import BRAM18K, SIZE
from benchmarks.paper.matrix_product import matrix_problem as problem
from benchmarks.paper.published_designs import COMPARED, SOLVED, TABLE, least_of_each
from benchmarks.paper.published_program import BLOCK_WORDS, BLOCKS, continuous_optimum, rounded
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.geometric.solver.nlp import NlpSearch
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact

#: The largest comp and the least comm within the limits (proven, and checked below).
MOST_COMP, LEAST_COMM = 1720, 4_194_304

#: The paper's objectives, and its third one with both parts divided by their best values.
OBJECTIVES = (*(row.objective for row in TABLE), f"comm/{LEAST_COMM} - comp/{MOST_COMP}")

#: comm and comp are divided by the best values that the published program allows.
WEIGHTS = (3.0 * SIZE**2, 1720.0)


def shown(t1: Iterable[object], t2: Iterable[object], simd: object) -> str:
    return f"({','.join(map(str, t1))} | {','.join(map(str, t2))},{simd})"


def design(tiling: Tiling) -> str:
    return shown(tiling.array_part.values(), tiling.latency_hiding.values(), tiling.simd)


def number(value: float | Fraction) -> str:
    return f"{float(value):,.{2 if abs(value) > 1 else 4}f}"


def row_of(metrics: Mapping[str, Fraction], least: Mapping[str, Fraction]) -> str:
    return (
        " ".join(f"{float(metrics[name] / least[name]):8.2f}" for name in COMPARED.values())
        + f" {float(metrics['bram18k']):8,.0f}"
    )


def published_bram(t1: tuple[int, int, int]) -> float:
    """The BRAM of a design by the published limit: the second and third term divide."""
    i1, j1, k1 = t1
    first, second, third = (ceil(words / BLOCK_WORDS) for words in (i1 * k1, j1 * k1, i1 * j1))
    return BLOCKS * first + BLOCKS / second + BLOCKS / third


# -- the published designs -----------------------------------------------------------------


def test_published_designs(benchmark) -> None:  # type: ignore[no-untyped-def]
    published = benchmark.pedantic(lambda: [row.metrics for row in TABLE], rounds=1)
    least = least_of_each(published)
    print("\npublished designs, ratios to the best of them (published ratio in parentheses)")
    print(
        f"{'objective':<12} {'latency':>14} {'off-chip':>14} {'DSP':>14} {'BRAM18K':>8}   of {float(BRAM18K):,}"
    )
    for row, m in zip(TABLE, published, strict=True):
        ratios = [float(m[name] / least[name]) for name in COMPARED.values()]
        stated = row.stated
        cells = " ".join(f"{r:6.2f} ({s:>4})  " for r, s in zip(ratios, stated, strict=True))
        note = "" if m["bram18k"] <= BRAM18K else "  over budget"
        print(f"{row.objective:<12}  {cells} {float(m['bram18k']):>8,.0f}{note}")
        # the paper prints one decimal, cut or rounded
        assert all(abs(r - s) < 0.1 for r, s in zip(ratios, stated, strict=True))


def test_published_program(benchmark) -> None:  # type: ignore[no-untyped-def]
    """The published designs are what Ipopt makes of the published program, whose BRAM limit does
    not bind."""

    def solve() -> list[tuple[str, float, dict[str, float]]]:
        return [(row.objective, *continuous_optimum(row.objective)) for row in SOLVED]

    found = benchmark.pedantic(solve, rounds=1)
    print(
        "\nthe published program, its BRAM limit not binding, by Ipopt (continuous), and rounded as published"
    )
    for (objective, value, point), row in zip(found, SOLVED, strict=True):
        i1, j1, k1, i2, j2, k2 = (f"{factor:.1f}" for factor in point.values())
        print(
            f"{objective:<12} {value:>14,.1f}  {shown((i1, j1, k1), (i2, j2), k2):<40} -> {shown(*rounded(point))}"
        )
        assert rounded(point) == (row.t1, row.t2, row.simd)
        # what is limited is only i1·k1
        assert published_bram(row.t1) <= BRAM18K < row.metrics["bram18k"]
    _, normalised = continuous_optimum("comm - comp", WEIGHTS)
    assert rounded(normalised) == rounded(found[-1][2])
    print(
        "comm - comp normalised (comm and comp over their best values) gives the same design: there, both are at their best."
    )
    print("the same with a BRAM limit that multiplies throughout:")
    for row in SOLVED:
        value, point = continuous_optimum(row.objective, bram=True)
        i1, j1, k1, i2, j2, k2 = (f"{factor:.1f}" for factor in point.values())
        print(f"{row.objective:<12} {value:>14,.1f}  {shown((i1, j1, k1), (i2, j2), k2)}")


# -- Ithaca's ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A nonlinear program solved and rounded, and how long it took."""

    objective: str
    search: NlpSearch
    seconds: float


def run(objective: str) -> Run:
    began = time.perf_counter()
    search = NlpSearch(problem(objective))
    search.run()
    return Run(objective, search, time.perf_counter() - began)


def test_nonlinear_programs(benchmark) -> None:  # type: ignore[no-untyped-def]
    run("dsp")  # the first imports Pyomo and Ipopt
    runs = benchmark.pedantic(lambda: [run(objective) for objective in OBJECTIVES], rounds=1)
    found = [r.search.incumbent for r in runs]
    metrics = [
        problem("latency").metrics(configuration)
        for configuration in found
        if configuration is not None
    ]
    assert len(metrics) == len(runs)
    least = least_of_each(metrics)
    print(
        "\nnonlinear programs of the whole cost model within the budget: continuous optimum, rounded design, ratios to the best"
    )
    print(
        f"{'objective':<27} {'starts':>6} {'optima':>6} {'continuous':>13} {'rounded':>13} "
        f"{'latency':>8} {'off-chip':>8} {'DSP':>8} {'BRAM18K':>8} {'seconds':>7}  design"
    )
    for r, m, configuration in zip(runs, metrics, found, strict=True):
        assert r.search.best is not None
        assert r.search.value is not None
        assert configuration is not None
        tiling = systolic(problem("latency")).tiling(configuration)
        assert m["bram18k"] <= BRAM18K
        # a convex program is solved from one point, the others from several
        assert (
            (r.search.starts == 1)
            == r.search.convex
            == (r.objective in ("-comp", "comm", "latency"))
        )
        tiling = systolic(problem("latency")).tiling(configuration)
        print(
            f"{r.objective:<27} {r.search.starts:>6} {len(r.search.optima):>6} {number(r.search.best.value):>13} "
            f"{number(r.search.value):>13} {row_of(m, least)} {r.seconds:>7.1f}  {design(tiling)}"
        )


def prove_all() -> list[tuple[str, Fraction, Tiling, Mapping[str, Fraction]]]:
    """The exact optimum of each objective; of those with the best objective, the one with the least
    latency."""
    found = []
    for objective in OBJECTIVES:
        first = solve_exact(problem(objective))
        assert first.certificate.status is Status.OPTIMAL
        assert first.value is not None
        second = solve_exact(
            problem("latency", Limit(objective, first.value)), start=first.configuration
        )
        assert second.tiling is not None
        found.append((objective, first.value, second.tiling, second.metrics))
    return found


def test_proven_optima(benchmark) -> None:  # type: ignore[no-untyped-def]
    optima = benchmark.pedantic(prove_all, rounds=1)
    values = {objective: value for objective, value, _, _ in optima}
    assert (-values["-comp"], values["comm"]) == (MOST_COMP, LEAST_COMM)
    least = least_of_each([m for _, _, _, m in optima])
    print(
        "\nproven optimum of each objective within the budget (of equals the fastest), ratios to the best"
    )
    print(
        f"{'objective':<27} {'value':>13} {'latency':>8} {'off-chip':>8} {'DSP':>8} {'BRAM18K':>8} {'cycles':>12} "
        f"{'words':>12}  design"
    )
    for objective, value, tiling, m in optima:
        print(
            f"{objective:<27} {number(value):>13} {row_of(m, least)} {float(m['latency']):>12,.2f} "
            f"{float(m['off_chip_words']):>12,.0f}  {design(tiling)}"
        )
        assert m["bram18k"] <= BRAM18K


# -- in words ------------------------------------------------------------------------------


def test_in_words(benchmark) -> None:  # type: ignore[no-untyped-def]
    """Resources of the published designs, and the least that any design of their traffic needs."""
    published = [row.metrics for row in SOLVED]
    traffic = min(m["off_chip_words"] for m in published)
    unlimited = problem("bram18k", Limit("comm", traffic), bram18k=Fraction(10**9))
    needed = benchmark.pedantic(lambda: solve_exact(unlimited), rounds=1)
    designs = ", ".join(shown(row.t1, row.t2, row.simd) for row in SOLVED)
    need = " / ".join(f"{float(m['bram18k']):,.0f}" for m in published)
    counted = " / ".join(f"{published_bram(row.t1):,.0f}" for row in SOLVED)
    print(
        f"\nThe published solver designs {designs} need {need} BRAM18K against a budget of {int(BRAM18K):,}."
    )
    print(
        f"Their program counts {counted}: two of the three terms of its BRAM limit divide where they must multiply."
    )
    assert all(m["bram18k"] > BRAM18K for m in published)
    assert needed.certificate.status is Status.OPTIMAL
    assert needed.value is not None
    assert needed.value > BRAM18K
    print(
        f"No design with their least traffic, {int(traffic):,} words, fits: that takes {int(needed.value):,} or more (proven)."
    )


def test_minimum_traffic_first_costs_latency(benchmark) -> None:  # type: ignore[no-untyped-def]
    """The published 45 %: the fastest design of minimum traffic against the fastest of all."""

    def measure() -> tuple[Fraction, Fraction]:
        least = solve_exact(problem("comm")).value
        fastest = solve_exact(problem("latency")).value
        assert least is not None
        assert fastest is not None
        slow = solve_exact(problem("latency", Limit("comm", least))).value
        assert slow is not None
        return slow, fastest

    slow, fastest = benchmark.pedantic(measure, rounds=1)
    print(
        f"\nminimum traffic first: {float(slow):,.2f} cycles, {float(1 - fastest / slow):.0%} of its performance lost"
    )
