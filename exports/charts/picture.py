"""Charts drawn by matplotlib: to files here, and for pages by `svg`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import IO, TYPE_CHECKING, Any

from ithaca.exports.charts.axes import SMALL, TEXT, WIDTH, Tips, placed
from ithaca.exports.charts.bars import bars
from ithaca.exports.charts.cells import cells
from ithaca.exports.charts.chart import BarChart, Chart, HeatMap, LineChart, printable_chart
from ithaca.exports.charts.lines import label_points, lines
from ithaca.exports.charts.palette import ROLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Dots per inch of pictures.
RESOLUTION = 240

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": ROLES["soft"],
    "axes.labelcolor": ROLES["ink"],
    "axes.labelsize": TEXT,
    "font.size": TEXT,
    "grid.color": ROLES["rule"],
    "hatch.color": ROLES["hatch"],
    "legend.frameon": False,
    "legend.borderaxespad": 0.3,
    "text.color": ROLES["ink"],
    "text.parse_math": False,  # names may have dollars in them
    "xtick.color": ROLES["soft"],
    "xtick.labelsize": SMALL,
    "ytick.color": ROLES["soft"],
    "ytick.labelsize": SMALL,
}


def draw_picture(chart: Chart, to: Path | IO[bytes] | None = None) -> Figure:
    """Draw a chart: to a file whose ending is that of a kind of picture, or to a stream as PNG."""
    chart = printable_chart(chart)
    with drawn(chart, chart.title) as (figure, _):
        if to is not None:
            figure.savefig(to, dpi=RESOLUTION)
        return figure


@contextmanager
def drawn(chart: Chart, title: str = "") -> Iterator[tuple[Figure, Tips]]:
    """A chart as a figure, with what to say about its parts."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure  # not pyplot: no display, no global state

    with rc_context({**_STYLE, "svg.hashsalt": f"ithaca {chart.title}"}):
        figure = Figure(figsize=(WIDTH, WIDTH))
        axes, key, tips = figure.add_axes((0.1, 0.1, 0.8, 0.8)), None, Tips()
        match chart:
            case LineChart():
                height, key = lines(chart, axes, tips)
            case BarChart():
                height = bars(chart, axes, tips)
            case HeatMap():
                height, key = cells(chart, axes, tips)
        placed(axes, height, key, fill(title, int(WIDTH * 10), replace_whitespace=False))
        if isinstance(chart, LineChart):
            label_points(chart, axes)
        yield figure, tips
