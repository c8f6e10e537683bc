"""`ithaca.simulate`: the cycles that a configuration takes, word by word."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ithaca.api.keywords import public
from ithaca.api.options import REPEATED
from ithaca.api.parsing import parse_counts, parse_integer
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.json_numbers import read_text, refuse
from ithaca.formulations.systolic.data_types import DataType
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.points import MAX_BYTES, load_points
from ithaca.results import result as results
from ithaca.results.files import load_result
from ithaca.simulation.activity import simulate_network
from ithaca.simulation.arrays import array_network
from ithaca.simulation.compared import Simulation, simulate_configuration
from ithaca.simulation.machine import LETTERS, Machine, Sums, parse_memory, regime_machine
from ithaca.workloads import signals
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

SumsOption = Annotated[
    str, Option("--sums", help="When a PE adds its neighbour's sum: first (as AutoSA builds it) or last visit.")
]

#: Columns of a file of points that say on what machine a row runs.
MACHINE_COLUMNS = (*LETTERS.values(), "fifo_depth")


@public
def simulate(
    source: Annotated[
        str | Path | results.Result,
        Argument(metavar="RESULT|WORKLOAD", help="A result (solve -o), or with --points a workload."),
    ],
    *,
    design: Annotated[
        str | None,
        Option("--design", metavar="'LOOPS TENSOR'", help="Which design of the result, e.g. 'i,j C'; default: the best."),
    ] = None,
    regime: Annotated[str, Option("--regime", help="How modules are timed: rtl, or hls as synthesis schedules loops.")] = "rtl",
    param: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option("--param", help="Cycles: d swap of buffers, e loop entry, h hop, m MAC depth, e.g. d=1,m=8."),
        REPEATED,
    ] = None,
    fifo_depth: Annotated[
        int | None, Option("--fifo-depth", metavar="N", help="Words a FIFO holds beside those on their way.")
    ] = None,
    memory: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option("--memory", help="latency, refresh and refresh_period (cycles), bandwidth (bytes per cycle, shared)."),
        REPEATED,
    ] = None,
    sums: SumsOption = Sums.FIRST.value,
) -> Simulation:
    """Run the best configuration of a result, every word of it, and say where the time went.

    Raises `InputError` if a parameter is out of range, the result has no configuration, the array cannot be built, or numba
    is not installed.
    """
    machine = read_machine(regime, param, fifo_depth, memory, sums)
    found = source if isinstance(source, results.Result) else load_result(Path(source))
    solutions = [
        s for s in found.solutions if s.configuration is not None and (design is None or s.problem.design.answers_to(design))
    ]
    if not solutions:
        names = ", ".join(s.problem.design.name for s in found.solutions if s.configuration is not None)
        asked = "" if design is None else f" --design {quoted(design)};"
        raise InputError(f"nothing to simulate:{asked} allowed: a result with a configuration ({names or 'this one has none'})")
    chosen = found.best if design is None and found.best is not None else solutions[0]
    assert chosen.configuration is not None
    return simulate_configuration(systolic(chosen.problem), chosen.configuration, machine, signals.check)


def read_machine(
    regime: str,
    param: Mapping[str, int] | Sequence[str] | None = None,
    fifo_depth: int | None = None,
    memory: Mapping[str, int] | Sequence[str] | None = None,
    sums: str = Sums.FIRST.value,
) -> Machine:
    """The machine that options describe."""
    if sums not in [each.value for each in Sums]:
        raise InputError(f"--sums is {quoted(sums)}; allowed: {', '.join(each.value for each in Sums)}")
    return regime_machine(regime).changed(
        parse_counts("--param", param, "d=1,m=8"),
        None if fifo_depth is None else parse_integer("--fifo-depth", fifo_depth, least=1),
        parse_memory(parse_counts("--memory", memory, "latency=100,bandwidth=64")),
        Sums(sums),
    )


def simulate_points(path: Path, nest: LoopNest, data: DataType, machine: Machine) -> list[int | None]:
    """The cycles of every point of a CSV file; None where an array hangs.

    Columns named like fields of `Machine` (swap, entry, hop, mac, fifo_depth) say on what machine each row runs.
    """
    points = load_points(path, nest, data)
    rows = [row for row in csv.DictReader(io.StringIO(read_text(path, MAX_BYTES), newline="")) if any(row.values())]
    found = []
    for number, ((design, configuration), row) in enumerate(zip(points, rows, strict=True), start=1):
        own = {name: row[name] for name in MACHINE_COLUMNS if row.get(name)}
        try:
            changes = parse_counts("column", own, "")
            depth = changes.pop("fifo_depth", None)
            letters = {letter: changes[name] for letter, name in LETTERS.items() if name in changes}
            network = array_network(design, configuration, machine.changed(letters, depth))
            run = simulate_network(network, signals.check)
        except InputError as error:
            raise refuse(f"{path} point {number}", error) from None
        found.append(run.cycles if run.finished else None)
    return found
