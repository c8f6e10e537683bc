"""``ithaca simulate``: run an array word by word, and say where the time goes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ithaca.commands.api.outputs import WRITTEN_FILE, AsJson, TableFile, Written
from ithaca.commands.api.parsing import parse_search
from ithaca.commands.conclusion import Outputs, conclude
from ithaca.commands.display import show
from ithaca.commands.outcome import NOTHING_FOUND, nothing_found, print_document, write_rows
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.files import signals
from ithaca.files.answer import Answer
from ithaca.files.clock import all_or_nothing, made_in_time, running
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, number
from ithaca.files.writing import SCHEMA, document_text, write_text_atomically
from ithaca.formulations.data_types import DataType
from ithaca.formulations.formats import LISTED
from ithaca.formulations.machine import RTL
from ithaca.formulations.systolic.options import changed_machine, machine_changes
from ithaca.formulations.systolic.points import load_points
from ithaca.formulations.systolic.question import read_data_type
from ithaca.plugins.rtl.commands.simulating import read_memory, simulate_points
from ithaca.plugins.rtl.commands.simulating import simulate as run_simulation
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.compared import Simulation
from ithaca.plugins.rtl.formulations.trace import phase_trace, word_dump
from ithaca.results.view import tabled
from ithaca.workloads.library import read_nest


@calls(run_simulation)
def simulate(
    ask: Callable[..., Answer],
    *,
    points: Annotated[
        Path | None, Option("--points", help="CSV with one configuration a row, of a workload.")
    ] = None,
    dtype: Annotated[
        str | None,
        Option("--dtype", help=f"Data type of the rows in --points: {LISTED} Default: fp32."),
    ] = None,
    trace: Annotated[
        Path | None,
        Option(
            "--trace", help="Write when modules work and wait, for Perfetto or chrome://tracing."
        ),
        WRITTEN_FILE,
    ] = None,
    vcd: Annotated[
        Path | None,
        Option("--vcd", help="Write the words in every FIFO (value change dump; short runs)."),
        WRITTEN_FILE,
    ] = None,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Draw when modules work to .png, .svg, .pdf or .html."),
        Written(check_plot),
    ] = None,
    as_json: AsJson = False,
    table: TableFile = None,
) -> None:
    """``ithaca simulate``."""
    if points is not None:
        if trace is not None or vcd is not None or plot is not None:
            raise InputError(
                "--trace, --vcd and --plot show one run; allowed: with a result, without --points"
            )
        print_points(ask, points, dtype, table, as_json=as_json)
        return
    if dtype is not None:
        raise InputError(
            "--dtype cannot be given with a result, which states its own; allowed: with --points"
        )
    simulation = ask()
    if not isinstance(simulation, Simulation):
        conclude(simulation, Outputs(as_json=as_json, table=table, verbose=not as_json))
        return
    network = array_network(
        simulation.design, simulation.configuration, simulation.machine, simulation.memory
    )
    conclude(
        simulation,
        Outputs(as_json=as_json, table=table, verbose=not as_json),
        (
            trace,
            lambda path: write_text_atomically(
                path, document_text(phase_trace(network, signals.check))
            ),
        ),
        (vcd, lambda path: write_text_atomically(path, word_dump(network, signals.check))),
        (plot, simulation.plot),
    )
    if simulation.cycles is None or (simulation.values is not None and simulation.values.wrong):
        raise typer.Exit(NOTHING_FOUND)


def print_points(
    ask: Callable[..., Answer],
    points: Path,
    dtype: str | DataType | None,
    file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the cycles of every point.

    Parameters
    ----------
    ask : callable
        The command's function with what was typed.
    points : Path
        The points, as CSV.
    dtype : str or DataType or None
        Their data type; None: what they say, or fp32.
    file : Path or None
        Where the table is written.
    as_json : bool
        Whether a document is printed instead.
    """
    options = dict(ask.keywords)  # type: ignore[attr-defined]
    workload = options.pop("source")
    if options.pop("design", None) is not None:
        raise InputError("--design does not go with --points; allowed: the column dataflow")
    if options.pop("layer", None) is not None:
        raise InputError("--layer does not go with --points; allowed: with the result of a network")
    if options.pop("check_values", False):
        raise InputError("--check-values shows one run; allowed: with a result, without --points")
    memory, seconds = options.pop("memory", None), options.pop("time_limit", None)
    read_memory(memory)
    stated = machine_changes(**options)
    machine = changed_machine(RTL, stated) if stated else None
    nest, data = read_nest(workload), None if dtype is None else read_data_type(dtype)
    with running(parse_search(seconds).time_limit), all_or_nothing("any point had run"):
        every = load_points(points, nest, data, machine=machine, stated=stated)
        cycles, complete = made_in_time(partial(simulate_points, every, memory))
    write_rows(
        file,
        ("point", "cycles"),
        [(n, "" if c is None else c) for n, c in enumerate(cycles, start=1)],
    )
    if as_json:
        document = {"schema": SCHEMA, "points": [{"cycles": c} for c in cycles]}
        print_document(document if complete else document | {"complete": False})
    else:
        rows = [
            [("point", str(n)), ("cycles", "hangs" if c is None else number(c))]
            for n, c in enumerate(cycles, start=1)
        ]
        show(tabled(rows, ()))
    if not complete:
        nothing_found(f"time was over: {len(cycles)} of {counted(len(every), 'point')} had run")
