"""Charts drawn by matplotlib: as files, and as SVG that becomes a part of a page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np

from ithaca.formulations.shown_numbers import number
from ithaca.studies.charts.chart import BarChart, Chart, HeatMap, LineChart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Size (inches; of bar charts the height of a bar), and dots per inch.
SIZE, BAR_HEIGHT, RESOLUTION = (8.0, 5.0), 0.3, 150

#: Most entries of a legend in one column, labels along an axis of a heat map, and characters of names side by side.
LEGEND_ROWS, LABELS, NAMES = 20, 24, 85

#: Characters per inch, if wide; width of the longest name and note of a bar (inches).
CHARACTERS, NAME, NOTE = 11, 4.4, 3.9

#: Size of the text in a cell of a heat map (points).
CELL_TEXT = 7.5

#: Colours by role. In a page they are its style sheet's, which may be others in the dark.
ROLES = {
    "ink": "#17202a",
    "soft": "#4a5765",
    "rule": "#d5dbe1",
    "main": "#3f7cac",
    "first": "#b3541e",
    "hatch": "#b9c1c9",
    "hatch-ground": "#f1f3f5",
}

#: Colours of series; of more of them those of the heat map's.
SERIES = (ROLES["main"], ROLES["first"], "#2e8b57", "#8e44ad", "#d4a017", "#17a2b8", "#d8609f", "#7f7f7f", "#6b4226", "#9acd32")

#: The less, the brighter; so few that a key of them is no picture of its own in SVG.
HEAT, HEAT_COLOURS = "viridis_r", 48

#: Frame of the marked cell: seen on all colours of the heat.
MARK = "#c2185b"

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


def save_picture(chart: Chart, to: Path | IO[bytes]) -> None:
    """Draw a chart to a file whose ending is that of a kind of picture, or to a stream as PNG."""
    with _drawn(chart, SIZE, chart.title) as (figure, _):
        figure.savefig(to, dpi=RESOLUTION)


def inline_svg(chart: Chart, name: str, size: tuple[float, float] = SIZE) -> str:
    """A chart as an SVG element for a page: named and described, without scripts, links and styles of its own.

    The title is for those who do not see it: a page has captions. Identifiers start with the name, unique on the page. The
    size is in inches; the height of a bar chart follows from its bars.
    """
    from matplotlib import rc_context

    stream = io.StringIO()
    with _drawn(chart, size) as (figure, tips), rc_context({"svg.fonttype": "none"}):  # text stays text
        figure.savefig(stream, format="svg", transparent=True, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return _for_page(stream.getvalue(), name, chart, tips)


def short(value: float, _: object = None) -> str:
    """A number with a metric suffix, such as 640 k, for an axis."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if scale <= abs(value) < 1e15:
            return f"{value / scale:.6g} {letter}"
    return f"{value:.6g}"


#: What to say about the parts of drawn things, by their identifier.
Tips = dict[str, Sequence[str]]


@contextmanager
def _drawn(chart: Chart, size: tuple[float, float], title: str = "") -> Iterator[tuple[Figure, Tips]]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure  # not pyplot: no display, no global state

    with rc_context({**_STYLE, "svg.hashsalt": f"ithaca {chart.title}"}):
        if isinstance(chart, BarChart):
            size = size[0], BAR_HEIGHT * len(chart.bars) + (0.9 if chart.line else 0.65)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(title)
        axes.set_xlabel(_fitting(chart.x_label, size[0]))
        tips: Tips = {}
        match chart:
            case LineChart():
                _lines(chart, axes)
            case BarChart():
                _bars(chart, axes, tips)
            case HeatMap():
                _heat_map(chart, axes, tips)
        axes.set_ylabel(_fitting(axes.get_ylabel(), 0.75 * size[1]))
        yield figure, tips


def _fitting(text: str, inches: float) -> str:
    """A text of a length that surely fits: names may be whole expressions."""
    most = int(inches * CHARACTERS)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _lines(chart: LineChart, axes: Axes) -> None:
    from matplotlib import colormaps

    axes.set_ylabel(chart.y_label)
    axes.set_xscale("log" if chart.log_x else "linear")
    axes.set_yscale("log" if chart.log_y else "linear")
    place: dict[Any, Any] = {x: x if chart.numeric else at for at, x in enumerate(chart.x_values)}
    many = len(chart.series) > len(SERIES)
    for at, series in enumerate(chart.series):
        colour: Any = colormaps["viridis"](at / (len(chart.series) - 1)) if many else SERIES[at]
        x = [place[v] for v in series.x]
        if chart.colours:
            points = axes.scatter(x, series.y, c=chart.colours, cmap=_heat(), zorder=3)
            _key(axes, points, chart.colour_label)
        else:
            axes.plot(
                x,
                series.y,
                "-" if chart.numeric else ":",
                marker="o",
                markersize=4,
                color=colour,
                label=series.name,
                drawstyle="steps-post" if chart.steps else "default",
            )
            for bound_x, low, y in series.bounds:
                axes.plot([place[bound_x]] * 2, [low, y], color=colour, alpha=0.6, linewidth=3)
    bottom = axes.get_xaxis_transform()
    for x_value, _ in chart.missing:
        axes.plot(place[x_value], 0.02, marker="x", color=ROLES["ink"], transform=bottom, clip_on=False)
    for reason in _reasons(chart):
        axes.plot([], [], "x", color=ROLES["ink"], label=reason)
    _short_numbers(axes.yaxis, chart.log_y)
    if not chart.numeric:
        names = [str(x) for x in chart.x_values]
        long = sum(max(map(len, name.split("\n"))) for name in names) > NAMES
        axes.set_xticks(range(len(names)), names, rotation=30 if long else 0, ha="right" if long else "center")
    elif not chart.steps and not chart.colours and len(chart.x_values) <= 12:
        axes.set_xticks([float(x) for x in chart.x_values], [f"{float(x):,g}" for x in chart.x_values])
        axes.minorticks_off()
    else:
        _short_numbers(axes.xaxis, chart.log_x)
    axes.grid(True)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small", ncols=-(-len(chart.series) // LEGEND_ROWS))


def _short_numbers(axis: Axis, logarithmic: bool) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    if logarithmic:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(short)


def _reasons(chart: LineChart) -> list[str]:
    """Why values are missing, briefly where there are many reasons."""
    reasons = list(dict.fromkeys(reason for _, reason in chart.missing))
    return reasons if len(reasons) <= 3 else sorted({reason.rpartition(": ")[2] for reason in reasons})


def _bars(chart: BarChart, axes: Axes, tips: Tips) -> None:
    rows = range(len(chart.bars))
    axes.set_ylim(len(chart.bars) - 0.5, -0.5)
    axes.set_yticks(rows, [_fitting(bar.name, NAME) for bar in chart.bars])
    for row, start, bar in zip(rows, chart.starts, chart.bars, strict=True):
        colour = ROLES["first" if bar.first else "main"]
        if bar.value is not None:
            drawn = axes.barh(row, bar.value, left=start, height=0.65, color=colour, edgecolor=colour, linewidth=0.8)
            drawn.patches[0].set_gid(f"bar-{row}")
            tips[f"bar-{row}"] = [f"{bar.name}: {bar.note}"]
        if bar.mark is not None:
            axes.plot([bar.mark] * 2, [row - 0.42, row + 0.42], color=ROLES["ink"], linewidth=2)
    if chart.ends is not None:
        axes.set_xlim(*chart.ends)
    if chart.line is not None:
        axes.axvline(chart.line[0], color=ROLES["ink"], linestyle="--", linewidth=1.2, clip_on=False)
        axes.text(chart.line[0], 1.03, chart.line[1], ha="right", transform=axes.get_xaxis_transform())
    # figures stand in a column of their own, so that nothing crosses them
    figures = axes.secondary_yaxis("right")
    figures.set_yticks(rows, [_fitting(bar.note, NOTE) for bar in chart.bars])
    for side in (axes.yaxis, figures.yaxis):
        side.set_tick_params(length=0, labelcolor=ROLES["ink"])
    axes.xaxis.set_major_formatter(short)
    axes.set_axisbelow(True)
    axes.grid(True, axis="x")
    axes.axvline(0, color=ROLES["soft"], linewidth=0.8)
    for spines in (axes.spines, figures.spines):
        spines[:].set_visible(False)


def _heat_map(chart: HeatMap, axes: Axes, tips: Tips) -> None:
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.patches import Patch, Rectangle

    axes.set_ylabel(chart.y_label)
    low, high = chart.ends
    norm = LogNorm(low, high) if 0 < low < high else Normalize(low, high)
    rows, columns = chart.values.shape
    hatched: dict[str, Any] = {"facecolor": ROLES["hatch-ground"], "hatch": "///", "linewidth": 0}
    axes.add_patch(Rectangle((0, 0), columns, rows, **hatched))
    shown = np.ma.masked_invalid(chart.values)
    cells = axes.pcolormesh(shown, cmap=_heat(), norm=norm, clip_on=False, gid="cells")
    tips["cells"] = [
        f"{chart.x_label} {x}, {chart.y_label} {y}: {number(value) if np.isfinite(value) else 'nothing'}"
        for y, line in zip(chart.y, chart.values, strict=True)
        for x, value in zip(chart.x, line, strict=True)
    ]
    room = axes.figure.bbox.width / axes.figure.dpi * 72 * 0.8 / columns  # of a cell, in points
    for row, texts in enumerate(chart.texts):
        for column, text in enumerate(texts):
            if text and len(text) * 0.62 * CELL_TEXT <= room:
                colour = ink(tuple(cells.to_rgba(chart.values[row, column])))
                axes.text(column + 0.5, row + 0.5, text, size=CELL_TEXT, color=colour, ha="center", va="center")
    key = [Patch(label="nothing within the limits", **hatched)]
    if chart.marked is not None:
        column, row = chart.x.tolist().index(chart.marked[0]), chart.y.tolist().index(chart.marked[1])
        for edge, width in (("#ffffff", 5), (MARK, 2.5)):
            frame = Rectangle((column, row), 1, 1, fill=False, edgecolor=edge, linewidth=width, clip_on=False, zorder=4)
            axes.add_patch(frame)
        key.append(Patch(fill=False, edgecolor=MARK, linewidth=2.5, label=chart.mark))
    axes.figure.legend(handles=key, loc="outside lower right", ncols=2, fontsize="small")
    _key(axes, cells, chart.label)
    for axis, values in ((axes.xaxis, chart.x), (axes.yaxis, chart.y)):
        places = np.arange(0, values.size, -(-values.size // LABELS))
        axis.set_ticks(places + 0.5, labels=[str(values[place]) for place in places])


def ink(colour: Sequence[float]) -> str:
    """Black or white, whichever contrasts more with a colour (WCAG 2 contrast)."""
    light = luminance(colour)
    return "#ffffff" if 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 else "#000000"


def luminance(colour: Sequence[float]) -> float:
    """Relative luminance of red, green and blue as WCAG 2 defines it, from 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))


def _heat() -> Any:
    from matplotlib import colormaps

    return colormaps[HEAT].resampled(HEAT_COLOURS)


def _key(axes: Axes, drawn: Any, label: str) -> None:
    """What the colours of something stand for."""
    key = axes.figure.colorbar(drawn, label=_fitting(label, axes.figure.bbox.height / axes.figure.dpi * 0.75))
    ends = drawn.norm.inverse(np.linspace(0, 1, 5))
    key.set_ticks(ends, labels=[short(float(f"{value:.4g}")) for value in ends])
    key.minorticks_off()
    if key.solids is not None:
        key.solids.set_edgecolor("face")  # no seams between the colours


# -- SVG for a page ------------------------------------------------------------------------

_VARIABLES = {colour: f"var(--{role})" for role, colour in ROLES.items()}

_LONG_DECIMALS = re.compile(r"-?\d+\.\d{3,}")


def _for_page(text: str, name: str, chart: Chart, tips: Tips) -> str:
    """What matplotlib wrote as a part of a page: with the page's colours and fonts, and identifiers of its own."""
    drawn = ET.fromstring(text)
    linked = dict.fromkeys(re.findall(r'(?:url\(|href=")#([^)"]+)', text))
    names = {old: f"{name}-{at}" for at, old in enumerate(linked)}
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    pixels = {"width": f"{width * 4 / 3:g}", "height": f"{height * 4 / 3:g}"}  # of points
    words = {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    root = ET.Element("svg", {"viewBox": drawn.attrib["viewBox"], **pixels, **words, "stroke-linejoin": "round"})
    ET.SubElement(root, "title", id=f"{name}-title").text = chart.title
    ET.SubElement(root, "desc", id=f"{name}-desc").text = chart.description
    root.extend(_cleaned(drawn, names, tips))
    return ET.tostring(root, encoding="unicode")


def _cleaned(parent: ET.Element, names: Mapping[str, str], tips: Tips) -> list[ET.Element]:
    """The parts of an element without namespaces, styles, and groups that only group."""
    found = []
    said = iter(tips.get(parent.get("id", ""), ()))
    for child in parent:
        tag = child.tag.rpartition("}")[2]
        if tag in ("metadata", "style"):
            continue
        element = ET.Element(tag, _attributes(child, names))
        element.extend(_cleaned(child, names, tips))
        if tag in ("g", "defs") and not (element.attrib and len(element)):
            found += list(element) if tag == "g" else [element] if len(element) else []
            continue
        if tag == "text":
            element.text = child.text
        elif (tip := next(said, "")) and tag == "path":
            ET.SubElement(element, "title").text = tip
        if element.get("fill") != "none" or "stroke" in element.attrib:  # else nothing is seen of it
            found.append(element)
    return found


def _attributes(element: ET.Element, names: Mapping[str, str]) -> dict[str, str]:
    """The attributes that a page needs; styles are attributes, since a page allows no others."""
    given = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    given |= {key.strip(): value.strip() for key, _, value in (s.partition(":") for s in given.pop("style", "").split(";"))}
    if font := re.search(r"[\d.]+px", given.pop("font", "")):
        given["font-size"] = font[0]
    if given.get("transform", "").startswith("rotate(-0 "):
        del given["transform"]
    if "id" in given:
        given["id"] = names.get(given["id"], "")
    kept = {}
    for key, value in given.items():
        if not value or key in ("font-family", "stroke-linecap"):
            continue
        value = " ".join(_VARIABLES.get(value, value).split())
        value = re.sub("#([^)]+)", lambda found: f"#{names.get(found[1], found[1])}", value)
        kept[key] = _LONG_DECIMALS.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
    return kept
