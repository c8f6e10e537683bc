"""The key of a chart: the meaning of its colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.exports.charts.axes import ACROSS, fitting, short
from ithaca.exports.charts.chart import AxisUnit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def key_of(axes: Axes, coloured: Any, label: str, also: AxisUnit | None = None) -> Axes:
    """Draw a colour bar of something coloured, its ends in both units; `placed` puts it there.

    Parameters
    ----------
    axes : Axes
        The axes that it belongs to.
    coloured : object
        What matplotlib coloured by values.
    label : str
        What the values are, with their unit.
    also : Unit, optional
        Another unit of theirs.
    """
    room = axes.figure.add_axes((0.1, 0.0, 0.8, 0.05))
    key = axes.figure.colorbar(
        coloured, cax=room, label=fitting(label, ACROSS), orientation="horizontal"
    )
    ends = coloured.norm.inverse(np.linspace(0, 1, 3))
    key.set_ticks(ends, labels=[_in_both(value, also) for value in ends])
    first, _, last = room.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    key.minorticks_off()
    if key.solids is not None:
        key.solids.set_edgecolor("face")  # no seams between the colours
    return room


def _in_both(value: float, also: AxisUnit | None) -> str:
    text = short(float(f"{value:.4g}"))
    if also is None:
        return text
    return f"{text}\n{short(float(f'{value * also.factor:.3g}'))} {also.label.split()[0]}"
