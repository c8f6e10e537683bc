"""``ithaca timeloop-mapper``: Timeloop's files in, its mapper's files out, proven."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.outputs import Written
from ithaca.commands.conclusion import OutputOptions, Printing, conclude
from ithaca.commands.typed import calls
from ithaca.exports.charts.files import check_plot, save_plot
from ithaca.plugins.hierarchies.commands.mapper import timeloop_mapper as map_files
from ithaca.plugins.hierarchies.exports.chart import energy_bars
from ithaca.plugins.hierarchies.exports.timeloop.comparison import beside
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest
from ithaca.plugins.hierarchies.formulations.statistics_files import read_statistics
from ithaca.solver.result import Result


@calls(map_files)
def timeloop_mapper(
    ask: Callable[..., Result],
    *,
    printed: Printing,
    plot: Annotated[
        Path | None,
        Option("--plot", help="Plot energy by level to .png, .svg, .pdf or .html."),
        Written(check_plot),
    ] = None,
    compare: Annotated[
        Path | None,
        Option(
            "--compare",
            metavar="FILE",
            help="Statistics of another mapping (.stats.txt of the tool), shown beside the best.",
        ),
    ] = None,
) -> None:
    """``ithaca timeloop-mapper``."""
    theirs = None if compare is None else read_statistics(compare)
    result = ask()
    best = result.best is not None and result.best.configuration is not None
    mapped = MappedNest.of(result.best) if best and result.best is not None else None
    also = () if mapped is None or theirs is None else beside(mapped, theirs, str(compare))
    draws = (
        [] if mapped is None or plot is None else [(plot, partial(save_plot, energy_bars(mapped)))]
    )
    as_json = printed.as_json
    own = OutputOptions(loops=printed.loops, as_json=as_json, verbose=not as_json)
    conclude(result, own, *draws, also=also)
