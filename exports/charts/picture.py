"""Charts drawn by matplotlib: to files here, and for pages by `svg`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product, zip_longest
from pathlib import Path
from textwrap import fill
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ithaca.exports.charts.chart import BarChart, Chart, HeatMap, LineChart, Unit, printable_chart
from ithaca.exports.charts.palette import ROLES, SERIES, heat, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Widths of pictures and of the drawings in pages; one below `NARROW` is laid out for a phone. Dots
#: per inch.
WIDTH, BROAD, PHONE, NARROW, RESOLUTION = 8.0, 10.0, 3.5, 5.0, 150

#: Height of a bar, of a bar with its words above it, and of all of them at most (inches).
BAR_HEIGHT, NARROW_BAR, MOST_HEIGHT = 0.3, 0.46, 400.0

#: Most entries of a legend in one column, and inside the axes.
LEGEND_ROWS, LEGEND_INSIDE = 20, 5

#: Characters per inch: what surely fits in one, and about what does.
CHARACTERS, USUAL = 11, 13.5

#: Most of the width that names of bars take, and that names and figures take together.
NAMES, WORDS = 0.44, 0.82

#: Size of the text in a cell of a heat map, and of a label beside a point (points).
CELL_TEXT, LABEL_TEXT = 7.5, 8.0

#: Most cells of a heat map that are drawn one by one: more are one image.
CELLS = 2500

_MARKERS, _LINES = "os^DvPX*<>", ("-", "--", "-.", ":")

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": ROLES["soft"],
    "axes.labelcolor": ROLES["ink"],
    "grid.color": ROLES["rule"],
    "hatch.color": ROLES["hatch"],
    "legend.frameon": False,
    "text.color": ROLES["ink"],
    "text.parse_math": False,  # names may have dollars in them
    "xtick.color": ROLES["soft"],
    "ytick.color": ROLES["soft"],
}

#: What to say about the parts of drawn things, by their identifier.
Tips = dict[str, Sequence[str]]


def save_picture(chart: Chart, to: Path | IO[bytes]) -> None:
    """Draw a chart to a file whose ending is that of a kind of picture, or to a stream as PNG."""
    chart = printable_chart(chart)
    with drawn(chart, WIDTH, chart.title) as (figure, _):
        figure.savefig(to, dpi=RESOLUTION)


def short(value: float, _: object = None) -> str:
    """A number with a metric suffix, such as 640 k, for an axis."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if scale <= abs(value) < 1e15:
            return f"{value / scale:.6g} {letter}"
    return f"{value:.6g}"


@contextmanager
def drawn(chart: Chart, width: float, title: str = "") -> Iterator[tuple[Figure, Tips]]:
    """A chart drawn so many inches wide, with what to say about its parts."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure  # not pyplot: no display, no global state

    with rc_context({**_STYLE, "svg.hashsalt": f"ithaca {chart.title}"}):
        heading = fill(title, int(width * 9), replace_whitespace=False)
        height = _height(chart, width) + 0.25 * heading.count("\n")
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        if heading:
            figure.suptitle(
                heading, fontsize="large"
            )  # in the middle of the picture, where it fits
        beside = isinstance(chart, BarChart) and width >= NARROW  # names and figures take room
        axes.set_xlabel(_fitting(chart.x_label, (0.6 if beside else 0.9) * width))
        tips: Tips = {}
        match chart:
            case LineChart():
                _lines(chart, axes, tips)
            case BarChart():
                _bars(chart, axes, tips)
            case HeatMap():
                _heat_map(chart, axes, tips)
        axes.set_ylabel(_fitting(axes.get_ylabel(), 0.75 * height))
        yield figure, tips


def _height(chart: Chart, width: float) -> float:
    """Inches."""
    match chart:
        case BarChart():
            bar = NARROW_BAR * _lines_of_words(chart) if width < NARROW else BAR_HEIGHT
            bar = min(bar, MOST_HEIGHT / max(len(chart.bars), 1))
            return (
                bar * len(chart.bars) + (0.9 if chart.line else 0.65) + (0.4 if chart.also else 0)
            )
        case HeatMap() if width < NARROW:
            return 2.3 + 0.16 * max(min(chart.y.size, 24), 8)
        case HeatMap():
            return min(1.4 + 0.3 * max(chart.y.size, 8), 0.8 * width)
        case LineChart() if width < NARROW:
            slanted = not chart.numeric and _are_long([str(x) for x in chart.x_values], width)
            return (
                3.3
                + 0.1 * len(chart.series)
                + (0.9 if chart.colour_label else 0)
                + (0.7 if slanted else 0)
            )
    return 5.0 if width == WIDTH else 4.4


def _lines_of_words(chart: BarChart) -> float:
    """How many times as high a bar with words above it is as one with a single line of them."""
    return (
        1.0
        if all(len(bar.name) + len(bar.note) + 2 <= PHONE * USUAL for bar in chart.bars)
        else 1.4
    )


def _inches(axes: Axes) -> float:
    return float(axes.figure.bbox.width / axes.figure.dpi)


def _is_narrow(axes: Axes) -> bool:
    return _inches(axes) < NARROW


def _fitting(text: str, inches: float) -> str:
    """A text of a length that surely fits: names may be whole expressions."""
    most = int(inches * CHARACTERS)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _lines(chart: LineChart, axes: Axes, tips: Tips) -> None:
    numeric = chart.numeric
    axes.set_ylabel(chart.y_label)
    axes.set_xscale("log" if chart.log_x else "linear")
    axes.set_yscale("log" if chart.log_y else "linear")
    place: dict[Any, Any] = {x: x if numeric else at for at, x in enumerate(chart.x_values)}
    labels: list[tuple[Any, ...]] = []
    step = min(0.8 / max(len(chart.series), 1), 0.1 * len(chart.x_values) / _inches(axes))
    known = [colour for series in chart.series for colour in series.colours]
    ends: dict[str, Any] = {"cmap": heat(), "vmin": min(known), "vmax": max(known)} if known else {}
    for at, series in enumerate(chart.series):
        colour = ROLES[series.role] if series.role else SERIES[at % len(SERIES)]
        # names have no order that a line could follow; points of one are side by side, so that
        # equal ones are seen
        aside = 0.0 if numeric else step * (at - (len(chart.series) - 1) / 2)
        x, part = [place[v] + aside for v in series.x], {"gid": f"series-{at}"}
        if series.form != "points" and numeric:
            line = _LINES[at // len(SERIES) % len(_LINES)]
            name = series.name if series.form == "line" else None
            style = "steps-post" if chart.steps else "default"
            axes.plot(x, series.y, line, color=colour, label=name, drawstyle=style, **part)  # type: ignore[arg-type]
        if series.form != "line":
            look: dict[str, Any] = {"c": series.colours, **ends} if known else {"color": colour}
            gid, marker = f"series-{at} points", _MARKERS[at % len(_MARKERS)]
            points = axes.scatter(
                x,
                series.y,
                s=26,
                marker=marker,
                label=series.name or None,
                zorder=3,
                gid=gid,
                **look,
            )
            tips[gid] = chart.tips(series)
            if known and at == len(chart.series) - 1:
                _key(axes, points, chart.colour_label)
        for bound_x, low, y in series.bounds:
            column = [place[bound_x] + aside] * 2
            axes.plot(
                column,
                [low, y],
                color=colour,
                alpha=0.6,
                linewidth=3,
                **part,  # type: ignore[arg-type]
            )
        if series.labels:
            labels += list(zip_longest(x, series.y, series.labels, fillvalue=""))
    if any(series.bounds for series in chart.series):
        axes.plot([], [], color=ROLES["soft"], alpha=0.6, linewidth=3, label=chart.bars)
    bottom = axes.get_xaxis_transform()
    for x_value, _ in chart.missing:
        axes.plot(
            place[x_value], 0.02, marker="x", color=ROLES["ink"], transform=bottom, clip_on=False
        )
    for reason in _reasons(chart):
        axes.plot([], [], "x", color=ROLES["ink"], label=reason)
    _ticks(axes.yaxis, chart.log_y, 6)
    _also(axes, "right", chart.y_also, chart.log_y)
    _also(axes, "top", chart.x_also, chart.log_x)
    if not numeric:
        _name_places(axes, [str(x) for x in chart.x_values])
    elif (
        0 < len(chart.x_values) <= 12
        and not chart.steps
        and {series.form for series in chart.series} == {"both"}
    ):
        _exact_ticks(axes, [float(x) for x in chart.x_values], chart.log_x)
    else:
        _ticks(axes.xaxis, chart.log_x, 1.1 * _inches(axes))
    axes.grid(True)
    _legend(axes)
    _label_points(axes, labels)


def _legend(axes: Axes) -> None:
    """The names of the series: beside the lines where they are few and there is room, else around
    the axes."""
    handles, names = axes.get_legend_handles_labels()
    if not names:
        return
    names = [_fitting(name, _inches(axes) * 0.85) for name in names]
    if _is_narrow(axes):
        columns = max(1, int(_inches(axes) * USUAL // (max(map(len, names)) + 6)))
        axes.figure.legend(
            handles, names, fontsize="small", loc="outside lower left", ncols=columns
        )
    elif len(names) <= LEGEND_INSIDE:
        axes.legend(handles, names, fontsize="small")
    else:
        axes.figure.legend(
            handles,
            names,
            fontsize="small",
            loc="outside right upper",
            ncols=-(-len(names) // LEGEND_ROWS),
        )


def _label_points(axes: Axes, labels: Sequence[tuple[Any, ...]]) -> None:
    """Write labels beside points where there is room; without it, none."""
    if not labels:
        return
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    scale, frame = 72 / axes.figure.dpi, axes.get_window_extent()
    marks = [axes.transData.transform((x, y)) * scale for x, y, _ in labels]
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in marks]
    for (x, y, label), (at_x, at_y) in zip(labels, marks, strict=True):
        if not label:
            continue
        wide, high = 0.62 * LABEL_TEXT * len(label), LABEL_TEXT * 1.3
        for away, right, up in product((6, 14, 24), (True, False), (True, False)):
            left, bottom = (
                at_x + (away if right else -away - wide),
                at_y + (away / 2 if up else -away / 2 - high),
            )
            box = (left, bottom, left + wide, bottom + high)
            inside = frame.x0 * scale <= box[0] and box[2] <= frame.x1 * scale
            inside &= frame.y0 * scale <= box[1] and box[3] <= frame.y1 * scale
            if inside and not any(
                box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken
            ):
                taken.append(box)
                place = {"ha": "left" if right else "right", "va": "bottom" if up else "top"}
                offset = (away if right else -away, away / 2 if up else -away / 2)
                axes.annotate(
                    label,
                    (x, y),
                    offset,
                    textcoords="offset points",
                    size=LABEL_TEXT,
                    zorder=4,
                    **place,  # type: ignore[arg-type]
                )
                break


def _name_places(axes: Axes, names: Sequence[str]) -> None:
    """Names along the x axis, slanted where they are long side by side."""
    long = _are_long(names, _inches(axes))
    axes.set_xlim(-0.5, len(names) - 0.5)
    shown = [_fitting(name, 1.4) if long and "\n" not in name else name for name in names]
    # slanted names need room, too: of very many, some are shown
    at = range(0, len(names), -(-len(names) // max(int(3 * _inches(axes) - 4), 1)) if names else 1)
    axes.set_xticks(
        at,
        [shown[place] for place in at],
        rotation=40 if long else 0,
        ha="right" if long else "center",
    )


def _are_long(names: Sequence[str], inches: float) -> bool:
    """Whether names do not fit side by side."""
    return sum(max(map(len, name.split("\n"))) + 1 for name in names) > inches * CHARACTERS


def _exact_ticks(axes: Axes, values: Sequence[float], logarithmic: bool) -> None:
    """Ticks at values, but for those whose names would touch that of a greater one."""
    at = np.log(values) if logarithmic else np.asarray(values)
    inches = np.interp(at, (at.min(), at.max()), (0, _inches(axes) - 1.2))
    kept: list[int] = []
    for place in np.argsort(-at).tolist():
        if (
            not kept
            or inches[kept[-1]] - inches[place] > (len(f"{values[place]:,g}") + 1) / CHARACTERS
        ):
            kept.append(place)
    axes.set_xticks([values[place] for place in kept], [f"{values[place]:,g}" for place in kept])
    axes.minorticks_off()


def _ticks(axis: Axis, logarithmic: bool, most: float) -> None:
    """Short numbers at about so many places."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    if logarithmic:
        low, high = sorted(axis.get_view_interval())
        decades = np.log10(high / low) if low > 0 else 1.0
        subs = (
            (1.0, 2.0, 5.0)
            if 3 * decades <= 1.6 * most
            else (1.0, 3.0)
            if 2 * decades <= 1.6 * most
            else (1.0,)
        )
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(max(int(most), 2), steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(short)


def _also(axes: Axes, side: str, unit: Unit | None, logarithmic: bool) -> None:
    """An axis on the other side, in another unit."""
    if unit is None:
        return
    factor, down = unit.factor, side == "right"
    both = (lambda v: v * factor, lambda v: v / factor)
    other = (axes.secondary_yaxis if down else axes.secondary_xaxis)(side, functions=both)  # type: ignore[arg-type]
    (other.set_ylabel if down else other.set_xlabel)(unit.label)
    axis = other.yaxis if down else other.xaxis
    low, high = axes.get_ylim() if down else axes.get_xlim()
    axis.set_view_interval(low * factor, high * factor, ignore=True)
    _ticks(axis, logarithmic, 6 if down else 1.1 * _inches(axes))


def _reasons(chart: LineChart) -> list[str]:
    """Why values are missing, briefly where there are many reasons."""
    reasons = list(dict.fromkeys(reason for _, reason in chart.missing))
    return (
        reasons if len(reasons) <= 3 else sorted({reason.rpartition(": ")[2] for reason in reasons})
    )


def _bars(chart: BarChart, axes: Axes, tips: Tips) -> None:
    narrow, rows, inches = _is_narrow(axes), range(len(chart.bars)), _inches(axes)
    words = _lines_of_words(chart)
    # in a narrow picture words stand above their bar
    low, high = (-0.02, 0.38 / words) if narrow else (-0.325, 0.325)
    axes.set_ylim(len(chart.bars) - 0.5, -0.5 - (0.15 if narrow else 0))
    for row, start, bar in zip(rows, chart.starts, chart.bars, strict=True):
        colour, pale = ROLES[bar.role], bar.part is not None or bar.role == "rest"
        if bar.value is not None:
            outline = ROLES["main"] if bar.role == "rest" else colour
            edge: dict[str, Any] = {
                "align": "edge",
                "height": high - low,
                "edgecolor": outline,
                "linewidth": 0.8,
            }
            whole = axes.barh(
                row + low, bar.value, left=start, color=ROLES["rest"] if pale else colour, **edge
            )
            whole.patches[0].set_gid(f"bar-{row}")
            tips[f"bar-{row}"] = [f"{bar.name}: {bar.note}"]
            if bar.part is not None:
                axes.barh(row + low, bar.part, left=start, color=colour, **edge)
        if bar.mark is not None:
            axes.plot(
                [bar.mark] * 2,
                [row + low - 0.09, row + high + 0.09],
                color=ROLES["ink"],
                linewidth=2,
            )
    if chart.ends is not None:
        axes.set_xlim(*chart.ends)
    if chart.line is not None:
        left, right = axes.get_xlim()
        side = "right" if chart.line[0] > (left + right) / 2 else "left"
        look: dict[str, Any] = {
            "color": ROLES["limit"],
            "linestyle": "--",
            "linewidth": 1.2,
            "clip_on": False,
        }
        for row in rows if narrow else ():  # not across the words
            axes.plot([chart.line[0]] * 2, [row + low - 0.04, row + high + 0.04], **look)
        if not narrow:
            axes.axvline(chart.line[0], **look)
        axes.text(chart.line[0], 1.03, chart.line[1], ha=side, transform=axes.get_xaxis_transform())
    sides = [] if narrow else [axes.secondary_yaxis("right")]
    if narrow:
        axes.set_yticks([])
        across = axes.get_yaxis_transform()
        for row, bar in zip(rows, chart.bars, strict=True):
            above = row + low - 0.06
            name, note = _fitting(bar.name, PHONE * 1.35), _fitting(bar.note, PHONE * 1.35)
            axes.text(
                0, above - (0 if words == 1 else 0.3), name, transform=across, va="bottom", size=9
            )
            # on one line with the name where there is room for both
            axes.text(1, above, note, transform=across, va="bottom", ha="right", size=9)
    else:
        names = [_fitting(bar.name, NAMES * _inches(axes)) for bar in chart.bars]
        axes.set_yticks(rows, names)
        room = WORDS * _inches(axes) - max(map(len, names), default=0) / CHARACTERS
        # figures stand in a column of their own, so that nothing crosses them
        notes = [_fitting(bar.note, room) for bar in chart.bars]
        sides[0].set_yticks(rows, notes)
        inches -= sum(max(map(len, words), default=0) for words in (names, notes)) / USUAL
    for axis in (axes.yaxis, *(side.yaxis for side in sides)):
        axis.set_tick_params(length=0, labelcolor=ROLES["ink"])
    _ticks(axes.xaxis, False, 1.1 * inches)
    if chart.also is not None and chart.line is None:
        _also(axes, "top", chart.also, False)
    axes.set_axisbelow(True)
    axes.grid(True, axis="x")
    axes.axvline(0, color=ROLES["soft"], linewidth=0.8)
    for drawn_axes in (axes, *sides):
        drawn_axes.spines[:].set_visible(False)


def _heat_map(chart: HeatMap, axes: Axes, tips: Tips) -> None:
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Patch, Rectangle

    axes.set_ylabel(chart.y_label)
    low, high = chart.ends
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    rows, columns = chart.values.shape
    hatched: dict[str, Any] = {"facecolor": ROLES["hatch-ground"], "hatch": "///", "linewidth": 0}
    axes.add_patch(Rectangle((0, 0), columns, rows, gid="ground", **hatched))
    shown, many = np.ma.masked_invalid(chart.values), chart.values.size > CELLS
    cells = axes.pcolormesh(
        shown, cmap=heat(chart.most), norm=norm, clip_on=many, gid="cells", rasterized=many
    )
    tips["cells"] = [] if many else chart.tips
    room = _inches(axes) * 72 * 0.8 / columns  # of a cell, in points
    for row, texts in enumerate(chart.texts):
        for column, text in enumerate(texts):
            if text and len(text) * 0.62 * CELL_TEXT <= room and not _is_narrow(axes):
                colour = ink(tuple(cells.to_rgba(chart.values[row, column])))
                axes.text(
                    column + 0.5,
                    row + 0.5,
                    text,
                    size=CELL_TEXT,
                    color=colour,
                    ha="center",
                    va="center",
                )
    key = (
        [Patch(label="nothing within the limits", **hatched)]
        if np.isnan(chart.values).any()
        else []
    )
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
        key.append(Patch(fill=False, edgecolor=ROLES["answer"], linewidth=2.5, label=chart.mark))
    _key(axes, cells, chart.label, chart.also)
    if key:
        columns = 1 if _is_narrow(axes) else 2
        axes.figure.legend(handles=key, loc="outside lower left", ncols=columns, fontsize="small")
    names = chart.rows or chart.y.tolist()
    longest = max(len(str(x)) for x in chart.x.tolist())
    room = _inches(axes) * min(3.0, (0.45 if chart.rows else 0.7) * USUAL / (longest + 1))
    for axis, values, most in ((axes.xaxis, chart.x.tolist(), room), (axes.yaxis, names, 24.0)):
        places = range(0, len(values), -(-len(values) // max(int(most), 1)))
        axis.set_ticks(
            [place + 0.5 for place in places], labels=[str(values[place]) for place in places]
        )


def _key(axes: Axes, shown: Any, label: str, also: Unit | None = None) -> None:
    """What the colours of something stand for."""
    narrow = _is_narrow(axes)
    room = _inches(axes) if narrow else axes.figure.bbox.height / axes.figure.dpi * 0.75
    key = axes.figure.colorbar(
        shown, label=_fitting(label, room), location="bottom" if narrow else "right"
    )
    ends = shown.norm.inverse(np.linspace(0, 1, 3 if narrow else 5))
    key.set_ticks(ends, labels=[_in_both(value, also) for value in ends])
    if narrow:
        first, _, last = key.ax.get_xticklabels()
        first.set_horizontalalignment("left")
        last.set_horizontalalignment("right")
    key.minorticks_off()
    if key.solids is not None:
        key.solids.set_edgecolor("face")  # no seams between the colours


def _in_both(value: float, also: Unit | None) -> str:
    said = short(float(f"{value:.4g}"))
    return (
        said
        if also is None
        else f"{said}\n{short(float(f'{value * also.factor:.3g}'))} {also.label.split()[0]}"
    )
