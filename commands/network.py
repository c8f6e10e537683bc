"""``ithaca network``: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ithaca.api.live_line import LiveLine
from ithaca.api.options import (
    OBJECTIVE,
    WRITTEN,
    AsJson,
    Objective,
    Output,
    ProblemOptions,
    Results,
    SearchOptions,
)
from ithaca.api.parsing import parse_choice, parse_integer, parse_method, parse_sizes
from ithaca.api.request import requested_limits
from ithaca.commands.network_display import print_network
from ithaca.commands.outcome import note, nothing_found, print_document, wrote
from ithaca.formulations.json_numbers import document_text
from ithaca.results.certificate import Status
from ithaca.studies.network.documents import network_document
from ithaca.studies.network.modes import MODES, ONE_SEARCH, SEVERAL_ARRAYS
from ithaca.studies.network.modes import mode as find_mode
from ithaca.studies.network.problems import NetworkRequest, only_layers
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.runner import RunOptions, RunState, problem_store
from ithaca.studies.network.table import network_table
from ithaca.studies.shared.plans import Minimise
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.signals import Interrupt
from ithaca.workloads.writing import check_writable, write_text_atomically

#: Why layers are infeasible together although none is by itself.
NO_COMMON_DESIGN = "no design is feasible for all of them"

#: How many places of failures with the same reason are named.
SHOWN_PLACES = 3


def network(
    *,
    name: Annotated[
        str, Argument(metavar="NAME|FILE", help="A network that comes with Ithaca, or a file: .yaml, or a model as .onnx.")
    ],
    sizes: Annotated[
        list[str] | None, Option("--sizes", "-s", help="Parameters of the network, e.g. batch=1,image=224.")
    ] = None,
    layers: Annotated[
        list[str] | None,
        Option(
            "--layers",
            metavar="PATTERN",
            help="Only layers of this name or kernel, e.g. conv2d or 'conv3_*'; may be repeated.",
        ),
    ] = None,
    mode: Annotated[
        str, Option("--mode", help="What layers share: per-layer, shared-dataflow, shared-array or multi-array.")
    ] = "per-layer",
    arrays: Annotated[str | None, Option("--arrays", metavar="N", help="How many arrays share the budget.")] = None,
    minimise: Annotated[str | None, Option("--minimise", help="Of several arrays: slowest, or total.")] = None,
    problem: ProblemOptions,
    objective: Objective = OBJECTIVE,
    method: Annotated[
        str, Option("--method", help="exact (finds the same in every run), auto, cpsat, gp, nlp or evolve.")
    ] = "exact",
    search: SearchOptions,
    scheduler: Annotated[
        str | None,
        Option(
            "--scheduler", metavar="ADDRESS", help="Dask scheduler to solve on, e.g. tcp://host:8786; local starts one here."
        ),
    ] = None,
    results: Results = None,
    as_json: AsJson = False,
    output: Output = None,
    table: Annotated[
        Path | None, Option("--table", metavar="FILE", help="Write a table of the layers (CSV) to this file."), WRITTEN
    ] = None,
) -> None:
    """``ithaca network``."""
    solve = find_mode(mode)
    options = RunOptions(parse_method(method), search.options, search.workers, scheduler)
    if scheduler not in (None, "local") and search.workers != 1:
        raise InputError(
            f"--threads does not go with --scheduler {quoted(scheduler)}; allowed: 1, as its workers decide how many are solved"
        )
    if mode in ONE_SEARCH:
        _check_one_search(mode, method, search.workers, scheduler, results)
    for path in (output, table):
        if path is not None:
            check_writable(path)
    given = problem.read(objective)
    given["limits"] = requested_limits(given["platform"], given["limits"])
    count, what = _sharing(mode, arrays, minimise)
    request = NetworkRequest(**given, arrays=count, minimise=what)
    asked = only_layers(find_network(name, parse_sizes(sizes or [])), layers or [])
    store = None if results is None else problem_store(results, options, note)
    with Interrupt() as interrupt, LiveLine("deriving designs") as line:

        def report(state: RunState) -> None:
            failed = f" · {state.failed} failed" if state.failed else ""
            line.show(state.place + failed, state.progress, done=state.done, total=state.total)

        stopped = replace(options.search, stop=interrupt)
        result = solve(asked, request, replace(options, search=stopped, store=store, report=report))
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        write_text_atomically(output, document_text(network_document(result)))
        wrote(output)
    if table is not None:
        write_text_atomically(table, network_table(result))
        wrote(table)
    if as_json:
        print_document(network_document(result))
    else:
        print_network(result)
    report_failures(result)
    if not result.answered:
        nothing_found(explain_failure(result))


def report_failures(result: NetworkResult) -> None:
    """Say on stderr which problems failed; the others are not affected."""
    places: dict[str, list[str]] = {}
    for failure in result.failures:
        places.setdefault(failure.reason, []).append(failure.place)
    for reason, failed in places.items():
        shown, more = ", ".join(failed[:SHOWN_PLACES]), len(failed) - SHOWN_PLACES
        note(f"failed: {shown}{f' and {more} more' if more > 0 else ''}: {reason}")


def explain_failure(result: NetworkResult) -> str:
    """One line: why there is no answer."""
    missing = [r for r in result.layers if r.answer.found is None]
    infeasible = [r for r in missing if r.answer.certificate.status is Status.INFEASIBLE]
    if infeasible:
        names = ", ".join(r.layer.name for r in infeasible)
        reasons = [text for r in infeasible if (text := r.answer.explain())]
        return f"infeasible: {names}: {reasons[0] if reasons else NO_COMMON_DESIGN}"
    names = ", ".join(r.layer.name for r in missing)
    if result.failures:
        return f"nothing found for {names}: {len(result.failures)} problems failed"
    return f"nothing found for {names} before the run ended; allow more time"


def _check_one_search(mode_name: str, method: str, threads: int, scheduler: str | None, results: Path | None) -> None:
    """Refuse options that a mode could only ignore."""
    given = {
        "--method": method != "exact",
        "--threads": threads != 1,
        "--scheduler": scheduler is not None,
        "--results": results is not None,
    }
    for option, wanted in given.items():
        if wanted:
            raise InputError(f"{option} does not go with --mode {mode_name}, which is one exact search over all layers")


def _sharing(mode_name: str, arrays: str | None, minimise: str | None) -> tuple[int, Minimise]:
    """How many arrays share the budget, and what of them is minimised."""
    if mode_name not in SEVERAL_ARRAYS:
        for option, text in (("--arrays", arrays), ("--minimise", minimise)):
            if text is not None:
                allowed = ", ".join(name for name in MODES if name in SEVERAL_ARRAYS)
                raise InputError(f"{option} does not go with --mode {mode_name}; allowed with: {allowed}")
        return 1, Minimise.TOTAL
    if arrays is None:
        raise InputError(f"--mode {mode_name} needs --arrays N, how many arrays share the budget")
    what = parse_choice("--minimise", minimise or Minimise.SLOWEST.value, [m.value for m in Minimise])
    return parse_integer("--arrays", arrays, least=1), Minimise(what)
