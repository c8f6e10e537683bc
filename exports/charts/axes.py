"""Axes of charts: their ticks, names and legends, with the room that these need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.exports.charts.chart import AxisUnit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

#: Width of every chart (inches), and of about what its axes have of it.
WIDTH, ACROSS = 3.8, 3.1

#: Sizes of text, of that in legends, and of a line of text (points).
TEXT, SMALL, LINE = 9.0, 8.5, 11.0

#: Characters per inch: what surely fits in one, and about what does.
CHARACTERS, USUAL = 12.0, 14.5

#: Ticks of an axis over the whole width at most.
ACROSS_TICKS = 4.0

#: Metric suffixes of numbers.
_SUFFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

#: What to say about the parts of drawn things, by their identifier.
Tips = dict[str, Sequence[str]]


def short(value: float, _: object = None) -> str:
    """A number with a metric suffix, such as 640 k, for an axis."""
    for scale, letter in _SUFFIXES:
        if scale <= abs(value) < 1e21:
            return f"{value / scale:.6g} {letter}"
    return f"{value:.6g}"


def inches(text: str) -> float:
    """The width that a text takes at most."""
    return max(map(len, text.split("\n"))) / CHARACTERS


def fitting(text: str, room: float) -> str:
    """A text of a length that surely fits into so many inches: names may be whole expressions."""
    most = int(room * CHARACTERS)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def are_long(names: Sequence[str]) -> bool:
    """Whether names do not fit side by side."""
    return sum(inches(name) + 1 / CHARACTERS for name in names) > ACROSS


def name_places(axes: Axes, names: Sequence[str]) -> None:
    """Write names along the x axis, slanted where they are long side by side."""
    long = are_long(names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    texts = [fitting(name, 1.4) if long and "\n" not in name else name for name in names]
    # slanted names need room, too: of very many, some are written
    at = range(0, len(names), -(-len(names) // int(3 * ACROSS)) if names else 1)
    axes.set_xticks(
        at,
        [texts[place] for place in at],
        rotation=40 if long else 0,
        ha="right" if long else "center",
    )


def exact_ticks(axes: Axes, values: Sequence[float], logarithmic: bool) -> None:
    """Ticks at values, but for those whose names would touch that of a greater one.

    Parameters
    ----------
    axes : Axes
        The axes; their horizontal one is changed.
    values : sequence of float
        The values, in its unit.
    logarithmic : bool
        Whether it is logarithmic.
    """
    at = np.log(values) if logarithmic else np.asarray(values)
    places = np.interp(at, (at.min(), at.max()), (0, 0.9 * ACROSS))
    kept: list[int] = []
    for place in np.argsort(-at).tolist():
        if not kept or places[kept[-1]] - places[place] > inches(f"{values[place]:,g} "):
            kept.append(place)
    axes.set_xticks([values[place] for place in kept], [f"{values[place]:,g}" for place in kept])
    axes.minorticks_off()


def ticks(axis: Axis, logarithmic: bool, most: float) -> None:
    """Short numbers at about so many places.

    Parameters
    ----------
    axis : Axis
        The axis; its ends are set.
    logarithmic : bool
        Whether it is logarithmic.
    most : float
        About how many names there is room for.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low) if low > 0 else 1.0
    if logarithmic and decades >= 1:
        subs = (
            (1.0, 2.0, 5.0)
            if 3 * decades <= 1.6 * most
            else (1.0, 3.0)
            if 2 * decades <= 1.6 * most
            else (1.0,)
        )
        axis.set_major_locator(LogLocator(subs=subs))
    else:
        axis.set_major_locator(MaxNLocator(max(int(most), 2), steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(short)
    axis.set_minor_formatter(NullFormatter())


def second_axis(axes: Axes, side: str, unit: AxisUnit | None, logarithmic: bool) -> None:
    """Draw an axis on the other side, in another unit.

    Parameters
    ----------
    axes : Axes
        The axes.
    side : str
        ``right`` or ``top``.
    unit : Unit, optional
        The other unit, and its factor; None: nothing is drawn.
    logarithmic : bool
        Whether the axis is logarithmic.
    """
    if unit is None:
        return
    factor, upright = unit.factor, side == "right"
    both = (lambda v: v * factor, lambda v: v / factor)
    other = (axes.secondary_yaxis if upright else axes.secondary_xaxis)(side, functions=both)  # type: ignore[arg-type]
    (other.set_ylabel if upright else other.set_xlabel)(unit.label)
    axis = other.yaxis if upright else other.xaxis
    low, high = axes.get_ylim() if upright else axes.get_xlim()
    axis.set_view_interval(low * factor, high * factor, ignore=True)
    ticks(axis, logarithmic, 6 if upright else 3)


def legend(axes: Axes, handles: Sequence[Any]) -> None:
    """Name things below the axes, side by side as far as they fit; `placed` puts it there."""
    names = [fitting(handle.get_label(), (WIDTH - 0.5) * USUAL / CHARACTERS) for handle in handles]
    if names:
        columns = max(1, int(WIDTH * USUAL // (max(map(len, names)) + 6)))
        axes.figure.legend(
            handles, names, fontsize=SMALL, loc="lower left", ncols=columns, bbox_to_anchor=(0, 0)
        )


def placed(axes: Axes, height: float, key: Axes | None = None, heading: str = "") -> None:
    """Give the figure the height that it needs, and all in it their places.

    Margins are those of the longest texts, at so many characters per inch: matplotlib's own layout
    measures every text, several times.

    Parameters
    ----------
    axes : Axes
        The axes, with all that is drawn in them.
    height : float
        Their own height, in inches.
    key : Axes, optional
        The axes of a colour bar, which stands below them.
    heading : str
        The title above them.
    """
    figure, line = axes.figure, LINE / 72
    others = {child._orientation: child for child in axes.child_axes}  # type: ignore[attr-defined]
    left = 0.1 + _tick_inches(axes.yaxis) + (1.7 * line if axes.get_ylabel() else 0)
    right = 0.1 + (_tick_inches(others["y"].yaxis) + 2 * line if "y" in others else 0)
    if "x" in others:  # what stands at an end reaches beyond it by half
        half = max(map(inches, _tick_names(others["x"].xaxis))) / 2
        left, right = max(left, half), max(right, half)
    names = [label for label in _tick_names(axes.xaxis) if label]
    slanted = any(tick.label1.get_rotation() for tick in axes.xaxis.majorTicks[:1])
    longest = max(map(inches, names), default=0.0)
    if slanted:
        left = max(left, 0.77 * longest)
        below = 0.12 + line + 0.65 * longest
    else:
        left, right = max(left, longest / 2), max(right, longest / 2)
        below = 0.12 + line * max((name.count("\n") + 1 for name in names), default=0)
    below += 1.5 * line if axes.get_xlabel() else 0
    above = 0.12 + (2.8 * line if "x" in others else 0)
    above += sum(1.5 * line for text in axes.texts if text.get_gid() == "above")
    under = 0.05
    for frame in figure.legends:
        columns = frame._ncols  # type: ignore[attr-defined]
        under += 0.1 + 1.2 * line * -(-len(frame.get_texts()) // columns)
    bar = under + 0.1 + 1.5 * line
    if key is not None:
        bar += line * max(text.count("\n") + 1 for text in _tick_names(key.xaxis))
        under = bar + 0.2
    titles = 1.3 * line * (heading.count("\n") + 1) + 0.1 if heading else 0.0
    whole = under + below + height + above + titles
    figure.set_size_inches(WIDTH, whole)  # type: ignore[union-attr]
    wide = WIDTH - left - right
    axes.set_position((left / WIDTH, (under + below) / whole, wide / WIDTH, height / whole))
    if key is not None:
        key.set_position((left / WIDTH, bar / whole, wide / WIDTH, 0.15 / whole))
    if heading:
        top = 1 - 0.08 / whole
        figure.text(0.5, top, heading, ha="center", va="top", fontsize=1.15 * TEXT)


def _tick_names(axis: Axis) -> list[str]:
    """The names of the ticks of an axis."""
    low, high = sorted(axis.get_view_interval())
    places = axis.get_majorticklocs()
    names = axis.get_major_formatter().format_ticks(places.tolist())
    return [name for name, at in zip(names, places, strict=True) if low <= at <= high] or [""]


def _tick_inches(axis: Axis) -> float:
    return 0.08 + max(map(inches, _tick_names(axis)))
