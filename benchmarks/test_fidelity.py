"""All editions beside what runs: random arrays, rankings, measured boards. docs/fidelity.md shows
what these print.

One command each::

    pytest benchmarks/test_fidelity.py --benchmark-only -s -k arrays
    pytest benchmarks/test_fidelity.py --benchmark-only -s -k rankings
    pytest benchmarks/test_fidelity.py --benchmark-only -s -k boards

Half a minute to two minutes each. ``ITHACA_BENCH_ARRAYS`` is the number of random arrays per design
and regime (30).
"""

from __future__ import annotations

import os

from benchmarks.fidelity import BOARDS, DESIGNS, EDITIONS, SPACES, errors, rankings
from ithaca.formulations.machine import REGIMES

ARRAYS = int(os.environ.get("ITHACA_BENCH_ARRAYS", "30"))

EDITION_NAMES = "".join(f"{edition.value:^25}" for edition in EDITIONS)


def arrays_table(designs: tuple[tuple[str, tuple[str, ...]], ...], count: int) -> list[str]:
    """Lines of the table of random arrays."""
    lines = [
        f"{'':<20}{EDITION_NAMES}",
        f"{'design':<14}{'':<6}" + f"{'equal':>6}{'mean':>7}{'least':>6}{'most':>6}" * 3,
    ]
    for regime, machine in REGIMES.items():
        for name, dataflow in designs:
            found = errors(name, dataflow, machine, count).values()
            cells = "".join(
                f"{e.equal:6.0%}{e.mean:7.2%}{min(e.errors):+6.0%}{max(e.errors):+6.0%}"
                for e in found
            )
            lines.append(f"{name + ' ' + ','.join(dataflow):<14}{regime:<6}{cells}")
    return lines


def rankings_table(
    spaces: tuple[tuple[str, dict[str, int], tuple[str, ...], int], ...], count: int
) -> list[str]:
    """Lines of the table of rankings."""
    lines = [
        f"{'':<28}" + "".join(f"{edition.value:^24}" for edition in EDITIONS),
        f"{'design':<13}{'':<6}{'space':>9}" + f"{'ties':>6}{'mean':>6}{'worst':>6}{'best':>6}" * 3,
    ]
    for regime, machine in REGIMES.items():
        for name, sizes, dataflow, dsp in spaces:
            size, found = rankings(name, sizes, dataflow, machine, dsp, count)
            cells = "".join(
                f"{r.ties:6,}{r.regret:6.1%}{r.worst:6.1%}{r.best:6.1%}" for r in found.values()
            )
            lines.append(f"{name + ' ' + ','.join(dataflow):<13}{regime:<6}{size:>9,}{cells}")
    return lines


def boards_table() -> list[str]:
    """Lines of the table of boards."""
    heads = ("measured", "exact", "odyssey", "cycle", "simulated", "unexplained")
    lines = [f"{'board':<14}{'':<6}" + "".join(f"{head:>12}" for head in heads)]
    for regime, machine in REGIMES.items():
        for board in BOARDS:
            cycle, exact, odyssey = (float(x) for x in board.modelled(machine).values())
            cycles = board.simulated(machine).cycles
            assert cycles is not None
            lines.append(
                f"{board.title:<14}{regime:<6}{board.measured:12,}{exact:12,.0f}{odyssey:12,.0f}"
                f"{cycle:12,.0f}{cycles:12,}{board.measured / cycles - 1:+12.1%}"
            )
    return lines


def test_arrays(benchmark) -> None:  # type: ignore[no-untyped-def]
    print("", f"{ARRAYS} arrays per row; errors as shares of simulated cycles",
          *benchmark.pedantic(arrays_table, (DESIGNS, ARRAYS), rounds=1), sep="\n")  # fmt: skip


def test_rankings(benchmark) -> None:  # type: ignore[no-untyped-def]
    print("", *benchmark.pedantic(rankings_table, (SPACES, 50), rounds=1), sep="\n")


def test_boards(benchmark) -> None:  # type: ignore[no-untyped-def]
    print("", *benchmark.pedantic(boards_table, rounds=1), sep="\n")
