"""``ithaca whatif``: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.options import Written
from ithaca.commands.api.studies import whatif as run_study
from ithaca.commands.conclusion import Outputs, conclude
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.of_studies import check_plottable
from ithaca.studies.whatif import Study


@calls(run_study)
def whatif(
    ask: Callable[..., Study],
    *,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot to .png, .svg, .pdf or .html (one or two --vary)."),
        Written(check_plot),
    ] = None,
    outputs: Outputs,
) -> None:
    """``ithaca whatif``."""

    study = ask(before=None if plot is None else check_plottable)
    conclude(study, outputs, (plot, study.plot))
