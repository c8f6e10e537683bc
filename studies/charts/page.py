"""Charts as interactive pages, by plotly."""

from __future__ import annotations

from math import log10
from pathlib import Path
from typing import Any

import numpy as np

from ithaca.studies.charts.chart import BarChart, Chart, HeatMap, LineChart, Series


def save_page(chart: Chart, path: Path) -> None:
    """Draw a chart to a page (HTML)."""
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    figure = go.Figure()
    figure.update_layout(title=chart.title.replace("\n", "<br>"), xaxis_title=chart.x_label, template="plotly_white")
    match chart:
        case LineChart():
            _lines(chart, figure)
        case BarChart():
            _bars(chart, figure)
        case HeatMap():
            _heat_map(chart, figure)
    # the whole library goes into the file, so that it opens without a network
    figure.write_html(path, include_plotlyjs=True)


def _lines(chart: LineChart, figure: Any) -> None:
    marker: dict[str, object] = {"size": 7}
    if chart.colours:
        key = {"title": chart.colour_label}
        marker = {"size": 9, "color": list(chart.colours), "colorscale": "Viridis_r", "colorbar": key}
    for series in chart.series:
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
        yaxis_title=chart.y_label,
        xaxis_type="category" if not chart.numeric else "log" if chart.log_x else "linear",
        yaxis_type="log" if chart.log_y else "linear",
    )


def _error_bars(series: Series) -> dict[str, object]:
    """Bars down to the lower bound where a value is not proven optimal."""
    low = series.low or (None,) * len(series.y)
    down = [0.0 if bound is None else y - bound for y, bound in zip(series.y, low, strict=True)]
    return {"type": "data", "symmetric": False, "array": [0.0] * len(down), "arrayminus": down, "visible": any(down)}


def _bars(chart: BarChart, figure: Any) -> None:
    names, notes = [bar.name for bar in chart.bars], [bar.note for bar in chart.bars]
    figure.add_bar(y=names, x=[bar.value for bar in chart.bars], base=chart.starts, text=notes, orientation="h")
    marked = [bar for bar in chart.bars if bar.mark is not None]
    marker = {"symbol": "line-ns-open", "size": 24}
    figure.add_scatter(y=[bar.name for bar in marked], x=[bar.mark for bar in marked], mode="markers", marker=marker)
    if chart.line is not None:
        figure.add_vline(chart.line[0], line_dash="dash", annotation_text=chart.line[1])
    figure.update_layout(xaxis_range=chart.ends, yaxis={"type": "category", "autorange": "reversed"}, showlegend=False)


def _heat_map(chart: HeatMap, figure: Any) -> None:
    cells = [[value if np.isfinite(value) else None for value in row] for row in chart.values.tolist()]
    x, y = ([str(value) for value in values] for values in (chart.x, chart.y))
    figure.add_heatmap(x=x, y=y, z=cells, text=chart.texts or None, colorscale="Viridis_r", colorbar={"title": chart.label})
    figure.update_layout(xaxis_type="category", yaxis={"type": "category", "title": chart.y_label})
