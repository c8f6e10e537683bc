"""``ithaca unroll``: the pipeline printed, and the folding written for its tool."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.outputs import AsJson, TableFile, Written
from ithaca.commands.conclusion import write_and_show
from ithaca.commands.display import show
from ithaca.commands.outcome import nothing_found, print_document
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot
from ithaca.files.writing import write_text_atomically
from ithaca.plugins.unrolling.commands import unrolling


@calls(unrolling.unroll)
def unroll(
    ask: Callable[..., unrolling.Unrolling],
    *,
    as_json: AsJson = False,
    table: TableFile = None,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot the cycles of the layers to .png, .svg, .pdf or .html."),
        Written(check_plot),
    ] = None,
) -> None:
    """``ithaca unroll``."""
    answer = ask()
    show_it = partial(print_document, answer.document) if as_json else lambda: show(*answer.view)
    write_and_show(show_it, (table, lambda path: write_text_atomically(path, answer.table)))
    write_and_show(lambda: None, (None if answer.failure else plot, answer.plot))
    if answer.failure:
        nothing_found(answer.failure)
