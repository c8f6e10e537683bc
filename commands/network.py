"""``ithaca network``: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.api.answers import NetworkResult
from ithaca.api.live_line import note
from ithaca.api.loading import load
from ithaca.api.networks import network as solve_network
from ithaca.api.options import WRITTEN
from ithaca.commands.conclusion import Told, tell_answer
from ithaca.commands.network_display import layer_loops, print_comparison, print_network
from ithaca.commands.outcome import nothing_found, say, wrote
from ithaca.commands.typed import calls
from ithaca.results.certificate import Status
from ithaca.results.shortfall import CONTRADICTION
from ithaca.solver.infeasibility import why_infeasible
from ithaca.studies.charts.files import check_plot
from ithaca.studies.network.charts import check_comparable
from ithaca.studies.network.modes import ONE_SEARCH
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted

#: Why layers are infeasible together although none is by itself.
NO_COMMON_DESIGN = "no design is feasible for all of them"

#: The same of layers on arrays.
TOO_FEW_ARRAYS = "no arrays within the limits, as many as there may be, run all of them"

#: Limits within which layers are fitted on arrays together, by a search that may end without a proof that they do not fit.
SEARCHED = ("bram18k", "bandwidth")

#: How many places of failures with the same reason are named.
SHOWN_PLACES = 3


@calls(solve_network)
def network(
    ask: Callable[..., NetworkResult],
    *,
    told: Told,
    plot: Annotated[
        Path | None, Option("--plot", help="Plot layers and utilisation to .png, .svg, .pdf or .html."), WRITTEN
    ] = None,
    compare: Annotated[
        list[str] | None,
        Option("--compare", metavar="FILE", help="A result to compare with, as of another mode; may be repeated."),
    ] = None,
) -> None:
    """``ithaca network``."""
    told.check()
    if plot is not None:
        check_plot(plot)
    others = [_other(file) for file in compare or ()]
    result = ask()
    for other in others:
        check_comparable(result, other)

    def show() -> None:
        print_network(result)
        if told.loops:
            say("\n".join(layer_loops(result)))
        for other in others:
            print_comparison(result, other)

    tell_answer(result, show, as_json=told.as_json, output=told.output, table=told.table)
    if plot is not None:
        result.plot(plot, others)
        wrote(plot)
    report_failures(result)
    if not result.answered:
        nothing_found(explain_failure(result))


def _other(file: str) -> NetworkResult:
    if not file:
        raise InputError("--compare is empty; allowed: the name of a file or folder")
    found = load(file)
    if not isinstance(found, NetworkResult):
        raise InputError(f"--compare is {quoted(file)}, the result of one workload; allowed: of a network")
    return found


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
        together = TOO_FEW_ARRAYS if result.mode in ONE_SEARCH else NO_COMMON_DESIGN
        why = {r.layer.name: r.answer.explain() for r in infeasible}
        if not any(why.values()):  # the limits are not at fault, or not one of them by itself
            alone = {part.layer.name: why_infeasible(part.problems, ()) for part in result.request.pose(result.network)}
            why |= {name: "" if text == CONTRADICTION else text for name, text in alone.items()}
        reasons: dict[str, list[str]] = {}
        for name in [name for name in why if why[name]] or why:
            reasons.setdefault(why[name] or together, []).append(name)
        return "infeasible: " + "; ".join(f"{', '.join(own)}: {text}" for text, own in reasons.items())
    names = ", ".join(r.layer.name for r in missing)
    if result.failures:
        return f"nothing found for {names}: {len(result.failures)} problems failed"
    if narrowed := next((r.answer.certificate for r in missing if r.answer.certificate.empty), None):
        return f"{names}: {narrowed.failure}"
    open_ = [x.metric for x in result.request.limits if x.metric in SEARCHED and result.mode in ONE_SEARCH]
    more = f", or raise {' or '.join(open_)} if it ended by itself" if open_ else ""
    return f"nothing found for {names} before the run ended; allow more time{more}"
