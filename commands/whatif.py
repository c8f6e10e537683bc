"""``ithaca whatif``: the proven best over a grid, and what each limit is worth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.options import Written
from ithaca.commands.api.studies import whatif as run_study
from ithaca.commands.conclusion import Outputs, conclude
from ithaca.commands.display import console
from ithaca.commands.tables import Table
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.exports.charts.of_studies import check_plottable
from ithaca.results.study_explanation import study_remarks
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
    conclude(
        study,
        lambda: print_study(study),
        outputs,
        (plot, study.plot),
    )


def print_study(study: Study) -> None:
    """Print a table of the points, then what each limit is worth, then why some points are
    infeasible."""
    out = console()
    out.print(study.provenance.get("title", "what-if study"))
    if not study.complete:
        reached = sum(
            p.answer.certificate.nodes > 0 or p.answer.settled for p in study.points.values()
        )
        out.print(f"interrupted: {reached} of {len(study.points)} points were reached")
    out.print(Table(study.rows, left=study.texts))
    if target := study.provenance.get("for"):
        out.print(
            f"each the best of what --for {target} allows; --vary "
            f"for=none,{target} shows what that costs"
        )
    for line in study_remarks(study):
        out.print(line)
