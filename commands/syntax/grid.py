"""``ithaca grid`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found


def grid(
    file: given.ResultFile,
    around: given.Around = None,
    loops: given.GridLoops = None,
    free_packs: given.FreePacks = False,
    plot: given.GridPlot = None,
    x: given.PlotX = None,
    y: given.PlotY = None,
    metric: given.PlotMetric = None,
    output: given.GridOutput = None,
) -> None:
    """Evaluate the cost model exactly around the best configuration of a result."""
    from ithaca.commands import grid as command
    from ithaca.commands import options as parse

    distance = None if around is None else parse.parse_integer("--around", around, least=0)
    asked = command.plan(file, distance, loops, free_packs=free_packs, plot=plot, x=x, y=y, metric=metric, output=output)
    if not command.run(asked):
        nothing_found("no point of the grid is feasible")
