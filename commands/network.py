"""``ithaca network``: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.live_line import note
from ithaca.commands.api.networks import network as solve_network
from ithaca.commands.api.outputs import Written
from ithaca.commands.conclusion import OutputOptions, conclude
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.network import check_comparable, compared_name
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.results.network_view import comparison
from ithaca.studies.network.result import NetworkResult

#: How many places of failures with the same reason are named.
SHOWN_PLACES = 3


@calls(solve_network)
def network(
    ask: Callable[..., NetworkResult],
    *,
    outputs: OutputOptions,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot layers and utilisation to .png, .svg, .pdf or .html."),
        Written(check_plot),
    ] = None,
    compare: Annotated[
        list[str] | None,
        Option(
            "--compare",
            metavar="FILE",
            help="Another result of these layers to compare with, e.g. of another --mode "
            "(repeatable).",
        ),
    ] = None,
) -> None:
    """``ithaca network``."""
    others = [_other(file) for file in compare or ()]
    result = ask()
    for other in others:
        check_comparable(result, other)
    report_failures(result)
    compared = [comparison(result, o, compared_name(o, [result, o])) for o in others]
    conclude(result, outputs, (plot, lambda path: result.plot(path, others)), also=compared)


def _other(file: str) -> NetworkResult:
    from ithaca.commands.api.loading import load

    if not file:
        raise InputError("--compare is empty; allowed: the name of a file or folder")
    answer = load(file)
    if not isinstance(answer, NetworkResult):
        raise InputError(
            f"--compare is {quoted(file)}, no result of a network; allowed: what ithaca network "
            "keeps with -o FILE"
        )
    return answer


def report_failures(result: NetworkResult) -> None:
    """Say on stderr which problems failed; the others are not affected."""
    places: dict[str, list[str]] = {}
    for failure in result.failures:
        places.setdefault(failure.reason, []).append(failure.place)
    for reason, failed in places.items():
        first, more = ", ".join(failed[:SHOWN_PLACES]), len(failed) - SHOWN_PLACES
        note(f"failed: {first}{f' and {more} more' if more > 0 else ''}: {reason}")
