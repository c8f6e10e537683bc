"""Heat maps: cells coloured by a quantity, with what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.exports.charts.axes import (
    ACROSS,
    USUAL,
    Tips,
    fitting,
    legend,
)
from ithaca.exports.charts.chart import HeatMap
from ithaca.exports.charts.key import key_of
from ithaca.exports.charts.palette import ROLES, heat, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Sizes of the text in a cell, the largest and the least that is written (points).
CELL_TEXT, LEAST_TEXT = 7.5, 4.5

#: Most cells that are drawn one by one: more are one image.
CELLS = 2500


def cells(chart: HeatMap, axes: Axes, tips: Tips) -> tuple[float, Axes]:
    """Draw a heat map: the height of its axes, and the axes of its colour bar.

    Parameters
    ----------
    chart : HeatMap
        What is shown.
    axes : Axes
        What it is drawn on.
    tips : Tips
        Filled: for each part, by its name in the SVG, the tooltips of its marks.
    """
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Patch, Rectangle

    height = min(max(0.19 * chart.y.size, 2.0), 3.8)
    axes.set_xlabel(fitting(chart.x_label, ACROSS))
    axes.set_ylabel(fitting(chart.y_label, height))
    low, high = chart.ends
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    rows, columns = chart.values.shape
    hatched: dict[str, Any] = {"facecolor": ROLES["hatch-ground"], "hatch": "///", "linewidth": 0}
    axes.add_patch(Rectangle((0, 0), columns, rows, gid="ground", **hatched))
    known, many = np.ma.masked_invalid(chart.values), chart.values.size > CELLS
    mesh = axes.pcolormesh(
        known, cmap=heat(chart.most), norm=norm, clip_on=many, gid="cells", rasterized=many
    )
    tips["cells"] = [] if many else chart.tips
    room = ACROSS * 72 / columns  # of a cell, in points
    longest = max((len(text) for texts in chart.texts for text in texts), default=0)
    size = min(CELL_TEXT, 0.9 * room / (0.62 * max(longest, 1)), 0.7 * height * 72 / rows)
    for row, texts in enumerate(chart.texts if size >= LEAST_TEXT else ()):
        for column, text in enumerate(texts):
            if text:
                colour = ink(tuple(mesh.to_rgba(chart.values[row, column])))
                axes.text(
                    column + 0.5,
                    row + 0.5,
                    text,
                    size=size,
                    color=colour,
                    ha="center",
                    va="center",
                    gid="cell",
                )
    entries = []
    if np.isnan(chart.values).any():
        entries.append(Patch(label="nothing within the limits", **hatched))
    if chart.marked is not None:
        column, row = (
            chart.x.tolist().index(chart.marked[0]),
            chart.y.tolist().index(chart.marked[1]),
        )
        for edge, width in (("#ffffff", 5), (ROLES["answer"], 2.5)):
            frame = Rectangle(
                (column, row),
                1,
                1,
                fill=False,
                edgecolor=edge,
                linewidth=width,
                clip_on=False,
                zorder=4,
            )
            frame.set_gid("answer")
            axes.add_patch(frame)
        entries.append(
            Patch(fill=False, edgecolor=ROLES["answer"], linewidth=2.5, label=chart.mark)
        )
    key = key_of(axes, mesh, chart.label, chart.also)
    legend(axes, entries)
    names = [fitting(name, 1.6) for name in chart.rows] or chart.y.tolist()
    across = max(len(str(x)) for x in chart.x.tolist())
    most = min(3.0 * ACROSS, (ACROSS - (1 if chart.rows else 0)) * USUAL / (across + 1))
    for axis, values, ticks in ((axes.xaxis, chart.x.tolist(), most), (axes.yaxis, names, 24.0)):
        places = range(0, len(values), -(-len(values) // max(int(ticks), 1)))
        axis.set_ticks(
            [place + 0.5 for place in places], labels=[str(values[place]) for place in places]
        )
    return height, key
