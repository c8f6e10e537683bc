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
from ithaca.commands.conclusion import OutputOptions, conclude
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
    conclude(result, outputs, (None if result.failure else plot, result.plot))
