"""Draw charts: pictures by matplotlib, interactive pages by plotly."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from pathlib import Path

from ithaca.studies.charts import Chart, Series
from ithaca.studies.files import whole_file
from ithaca.workloads.errors import InputError
from ithaca.workloads.writing import check_writable

PICTURES = (".png", ".svg", ".pdf")
PAGES = (".html",)

#: Inches, and dots per inch.
SIZE, RESOLUTION = (8.0, 5.0), 150

#: Most entries of a legend in one column.
LEGEND_ROWS = 20


def check_plot(path: Path) -> None:
    """Refuse, before any work is done for it, a file that `save_plot` could not write."""
    suffix = path.suffix.lower()
    if suffix not in PICTURES + PAGES:
        raise InputError(
            f"cannot plot to {path}: unknown kind of file; allowed: a name that ends in {', '.join(PICTURES + PAGES)}"
        )
    check_writable(path)
    package = "matplotlib" if suffix in PICTURES else "plotly"
    try:
        __import__(package)
    except ImportError:
        raise InputError(
            f"{suffix[1:].upper()} plots need the package {package}; install it with pip install {package}"
        ) from None


def save_plot(chart: Chart, path: Path) -> None:
    """Draw a chart to a file; its ending chooses the kind."""
    check_plot(path)
    with whole_file(path) as temporary:
        if path.suffix.lower() in PICTURES:
            _picture(chart, temporary)
        else:
            _page(chart, temporary)


def _picture(chart: Chart, path: Path) -> None:
    from matplotlib import colormaps
    from matplotlib.figure import Figure  # not pyplot: no display, no global state

    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
    if chart.numeric and chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    place = {x: x if chart.numeric else number for number, x in enumerate(chart.x_values)}
    palette = colormaps["viridis" if len(chart.series) > 10 else "tab10"]
    for number, series in enumerate(chart.series):
        colour = palette(number / max(len(chart.series) - 1, 1) if len(chart.series) > 10 else number)
        x = [place[v] for v in series.x]
        if chart.colours:
            points = axes.scatter(x, series.y, c=chart.colours, cmap="viridis", zorder=3)
            figure.colorbar(points, label=chart.colour_label)
            continue
        line = "-" if chart.numeric else ":"
        axes.plot(x, series.y, line, marker="o", markersize=4, color=colour, label=series.name, drawstyle=_drawstyle(chart))
        _bounds(axes, x, series, colour)
    bottom = axes.get_xaxis_transform()
    for x_value, _ in chart.missing:
        axes.plot(place[x_value], 0.02, marker="x", color="black", transform=bottom, clip_on=False)
    for reason in _reasons(chart):
        axes.plot([], [], "x", color="black", label=reason)
    if not chart.numeric:
        axes.set_xticks(range(len(chart.x_values)), [str(x) for x in chart.x_values])
    elif not chart.steps and not chart.colours and len(chart.x_values) <= 12:
        axes.set_xticks([float(x) for x in chart.x_values], [f"{float(x):,g}" for x in chart.x_values])
        axes.minorticks_off()
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small", ncols=-(-len(chart.series) // LEGEND_ROWS))
    figure.savefig(path, dpi=RESOLUTION)


def _bounds(axes: object, x: Sequence[object], series: Series, colour: object) -> None:
    """Draw down to the lower bound where a value is not proven optimal."""
    for at, y, low in zip(x, series.y, series.low, strict=True):
        if low is not None:
            axes.plot([at, at], [low, y], color=colour, alpha=0.6, linewidth=3)  # type: ignore[attr-defined]


def _drawstyle(chart: Chart) -> str:
    return "steps-post" if chart.steps else "default"


def _reasons(chart: Chart) -> list[str]:
    """Why values are missing, briefly where there are many reasons."""
    reasons = list(dict.fromkeys(reason for _, reason in chart.missing))
    return reasons if len(reasons) <= 3 else sorted({reason.rpartition(": ")[2] for reason in reasons})


def _page(chart: Chart, path: Path) -> None:
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    figure = go.Figure()
    for series in chart.series:
        marker = (
            {"color": list(chart.colours), "colorscale": "Viridis", "colorbar": {"title": chart.colour_label}, "size": 9}
            if chart.colours
            else {"size": 7}
        )
        figure.add_scatter(
            x=list(series.x),
            y=list(series.y),
            name=series.name or chart.y_label,
            text=list(series.notes),
            mode="markers" if chart.colours else "lines+markers",
            line={"shape": "hv" if chart.steps else "linear"},
            marker=marker,
            showlegend=bool(series.name),
            error_y=_error_bars(series),
        )
    for x_value, reason in chart.missing:
        # unlike points, notes on a logarithmic axis are placed by exponent
        place = log10(x_value) if chart.log_x and isinstance(x_value, float) else x_value
        figure.add_annotation(x=place, y=0, yref="paper", text="×", hovertext=reason, showarrow=False, font={"color": "red"})
    figure.update_layout(
        title=chart.title.replace("\n", "<br>"),
        xaxis_title=chart.x_label,
        yaxis_title=chart.y_label,
        template="plotly_white",
        xaxis_type="category" if not chart.numeric else "log" if chart.log_x else "linear",
        yaxis_type="log" if chart.log_y else "linear",
    )
    # the whole library goes into the file, so that it opens without a network
    figure.write_html(path, include_plotlyjs=True)


def _error_bars(series: Series) -> dict[str, object]:
    """Bars down to the lower bound where a value is not proven optimal."""
    down = [0.0 if low is None else y - low for y, low in zip(series.y, series.low, strict=True)]
    return {"type": "data", "symmetric": False, "array": [0.0] * len(down), "arrayminus": down, "visible": any(down)}
