"""``ithaca codesign``: an accelerator and every layer's mapping chosen together, with a proof over
the whole space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.codesign import codesign as choose
from ithaca.commands.api.codesign_study import CodesignStudy
from ithaca.commands.api.options import Written
from ithaca.commands.codesign_display import print_codesign, print_codesign_study
from ithaca.commands.conclusion import OutputOptions, conclude
from ithaca.commands.network_display import layer_loops, print_network
from ithaca.commands.outcome import say
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.studies.codesign.result import CodesignResult
from ithaca.studies.network.result import NetworkResult


@calls(choose)
def codesign(
    ask: Callable[..., CodesignResult | CodesignStudy | NetworkResult],
    *,
    outputs: OutputOptions,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot the front, or energy by layer, to .png, .svg, .pdf or .html."),
        Written(check_plot),
    ] = None,
) -> None:
    """``ithaca codesign``."""
    result = ask()

    def show() -> None:
        if isinstance(result, CodesignStudy):
            print_codesign_study(result)
            return
        if isinstance(result, NetworkResult):
            print_network(result)
            say("\n".join(result.remarks))
            return
        print_codesign(result)
        if outputs.loops:
            say("\n".join(line for network in result.networks for line in layer_loops(network)))

    conclude(result, show, outputs, (None if result.failure else plot, result.plot))
