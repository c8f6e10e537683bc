"""``ithaca network``: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ithaca.commands.interrupt import Interrupt
from ithaca.commands.live_line import LiveLine
from ithaca.commands.options import (
    parse_edition,
    parse_integer,
    parse_limits,
    parse_loops,
    parse_method,
    parse_search,
    parse_sizes,
)
from ithaca.commands.request import requested_limits
from ithaca.formulations.data_types import data_type
from ithaca.formulations.json_numbers import document_text
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import SpaceOptions
from ithaca.formulations.systolic.objectives import parse_objective
from ithaca.solver.certificate import Status
from ithaca.solver.shared.fronts import Minimise
from ithaca.studies.network.documents import network_document
from ithaca.studies.network.modes import MODES, ONE_SEARCH, SEVERAL_ARRAYS, mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.request import NetworkRequest
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions, RunState
from ithaca.studies.network.store import ProblemStore
from ithaca.studies.network.table import network_table
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Network
from ithaca.workloads.writing import check_writable, write_text_atomically

#: Why layers are infeasible together although none is by itself.
NO_COMMON_DESIGN = "no design is feasible for all of them"

#: How many places of failures with the same reason are named.
SHOWN_PLACES = 3


@dataclass(frozen=True)
class NetworkCommand:
    """What ``ithaca network`` was asked for.

    Attributes
    ----------
    network : Network
        The layers.
    mode : str
        What they share.
    request : NetworkRequest
        What is asked of them.
    options : RunOptions
        How to run the problems.
    results : Path or None
        Folder of results to keep and reuse.
    output, table : Path or None
        Files to write.
    """

    network: Network
    mode: str
    request: NetworkRequest
    options: RunOptions
    results: Path | None
    output: Path | None
    table: Path | None


def read_command(
    name: str,
    *,
    sizes: Sequence[str] | None,
    layers: Sequence[str] | None,
    mode_name: str,
    arrays: str | None,
    minimise: str | None,
    platform: str,
    dtype: str,
    limit: Sequence[str] | None,
    dataflow: str | None,
    permutation: str | None,
    edition: str,
    objective: str,
    include_unbuildable: bool,
    min_lanes: str,
    divisors_only: bool,
    method: str,
    time_limit: str | None,
    gap: str,
    seed: str,
    threads: str,
    scheduler: str | None,
    results: Path | None,
    output: Path | None,
    table: Path | None,
) -> NetworkCommand:
    """Read the options of the same names.

    Raises
    ------
    InputError
        If one of them does not fit.
    """
    mode(mode_name)
    search = parse_search(time_limit, gap, seed)
    options = RunOptions(parse_method(method), search, parse_integer("--threads", threads, least=1), scheduler)
    if scheduler not in (None, "local") and threads != "1":
        raise InputError(
            f"--threads does not go with --scheduler {quoted(scheduler)}; allowed: 1, as its workers decide how many are solved"
        )
    if mode_name in ONE_SEARCH:
        _check_one_search(mode_name, method, threads, scheduler, results)
    for path in (output, table):
        if path is not None:
            check_writable(path)
    device = load_platform(platform)
    request = NetworkRequest(
        data=data_type(dtype),
        platform=device,
        limits=requested_limits(device, parse_limits(limit or [])),
        objective=parse_objective(objective),
        edition=parse_edition(edition),
        dataflow=parse_loops(dataflow),
        permutation=permutation,
        include_unbuildable=include_unbuildable,
        space=SpaceOptions(parse_integer("--min-lanes", min_lanes, least=1), divisors_only),
        arrays=_arrays(mode_name, arrays),
        minimise=_minimise(mode_name, minimise),
    )
    network = only_layers(find_network(name, parse_sizes(sizes or [])), layers or [])
    return NetworkCommand(network, mode_name, request, options, results, output, table)


def run(asked: NetworkCommand) -> NetworkResult:
    """Solve the network; Ctrl-C ends with what is known."""
    store = None
    if asked.results is not None:
        store = ProblemStore(
            asked.results,
            asked.options.method,
            asked.options.search,
            lambda line: print(f"ithaca: {line}", file=sys.stderr),
        )
    with Interrupt() as interrupt, LiveLine("deriving designs") as line:

        def report(state: RunState) -> None:
            failed = f" · {state.failed} failed" if state.failed else ""
            line.show(state.place + failed, state.progress, done=state.done, total=state.total)

        search = replace(asked.options.search, stop=interrupt)
        options = replace(asked.options, search=search, store=store, report=report)
        return mode(asked.mode)(asked.network, asked.request, options)


def write_files(result: NetworkResult, asked: NetworkCommand) -> None:
    """Write the document and the table, if asked for."""
    if asked.output is not None:
        write_text_atomically(asked.output, document_text(network_document(result)))
        print(f"wrote {asked.output}", file=sys.stderr)
    if asked.table is not None:
        write_text_atomically(asked.table, network_table(result))
        print(f"wrote {asked.table}", file=sys.stderr)


def report_failures(result: NetworkResult) -> None:
    """Say on stderr which problems failed; the others are not affected."""
    places: dict[str, list[str]] = {}
    for failure in result.failures:
        places.setdefault(failure.reason, []).append(failure.place)
    for reason, failed in places.items():
        shown, more = ", ".join(failed[:SHOWN_PLACES]), len(failed) - SHOWN_PLACES
        print(f"ithaca: failed: {shown}{f' and {more} more' if more > 0 else ''}: {reason}", file=sys.stderr)


def explain_failure(result: NetworkResult) -> str:
    """One line: why there is no answer."""
    missing = [r for r in result.layers if r.answer.solution is None]
    infeasible = [r for r in missing if r.answer.certificate.status is Status.INFEASIBLE]
    if infeasible:
        names = ", ".join(r.layer.name for r in infeasible)
        reasons = [text for r in infeasible if (text := r.answer.explain())]
        return f"infeasible: {names}: {reasons[0] if reasons else NO_COMMON_DESIGN}"
    names = ", ".join(r.layer.name for r in missing)
    if result.failures:
        return f"nothing found for {names}: {len(result.failures)} problems failed"
    return f"nothing found for {names} before the run ended; allow more time"


def _check_one_search(mode_name: str, method: str, threads: str, scheduler: str | None, results: Path | None) -> None:
    """Refuse options that a mode could only ignore."""
    given = {
        "--method": method != "exact",
        "--threads": threads != "1",
        "--scheduler": scheduler is not None,
        "--results": results is not None,
    }
    for option, wanted in given.items():
        if wanted:
            raise InputError(f"{option} does not go with --mode {mode_name}, which is one exact search over all layers")


def _arrays(mode_name: str, text: str | None) -> int:
    if mode_name in SEVERAL_ARRAYS:
        if text is None:
            raise InputError(f"--mode {mode_name} needs --arrays N, how many arrays share the budget")
        return parse_integer("--arrays", text, least=1)
    if text is not None:
        raise _out_of_place("--arrays", mode_name)
    return 1


def _minimise(mode_name: str, text: str | None) -> Minimise:
    if text is None:
        return Minimise.SLOWEST if mode_name in SEVERAL_ARRAYS else Minimise.TOTAL
    if mode_name not in SEVERAL_ARRAYS:
        raise _out_of_place("--minimise", mode_name)
    try:
        return Minimise(text)
    except ValueError:
        raise InputError(f"--minimise is {quoted(text)}; allowed: {', '.join(m.value for m in Minimise)}") from None


def _out_of_place(option: str, mode_name: str) -> InputError:
    allowed = ", ".join(name for name in MODES if name in SEVERAL_ARRAYS)
    return InputError(f"{option} does not go with --mode {mode_name}" + (f"; allowed with: {allowed}" if allowed else ""))
