"""A heat map of two factors of a grid: what the best design with each pair of values achieves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ithaca.studies.files import whole_file
from ithaca.studies.plots import PICTURES, RESOLUTION, SIZE, check_plot
from ithaca.workloads.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

#: Most labels along an axis.
LABELS = 16

#: A ratio of largest to smallest value from which colours are logarithmic.
LOGARITHMIC = 30.0


@dataclass(frozen=True)
class HeatMap:
    """A metric over two factors.

    Attributes
    ----------
    title, x_label, y_label, label : str
        Texts; ``label`` names the metric.
    x, y : array of int
        Values of the two factors, ascending.
    values : array of float, shape (y, x)
        The metric of the feasible design with the least objective; NaN where none is feasible.
    """

    title: str
    x_label: str
    y_label: str
    label: str
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    values: NDArray[np.float64]


def check_heat_map(grid: xr.Dataset, x: str, y: str, metric: str) -> None:
    """Refuse axes or a metric that a grid does not have.

    Raises
    ------
    InputError
        If ``x`` or ``y`` is no free factor, both are the same, or ``metric`` is no numeric variable.
    """
    for name, given in (("x", x), ("y", y)):
        if given not in grid.dims:
            raise InputError(f"{name} is '{given}'; allowed: a free factor of the grid: {', '.join(map(str, grid.dims))}")
    if x == y:
        others = ", ".join(str(dim) for dim in grid.dims if dim != x)
        raise InputError(f"y is '{y}', like x; allowed: {others or 'a second free factor, of which this grid has none'}")
    numeric = [str(name) for name, variable in grid.data_vars.items() if variable.dtype.kind == "f"]
    if metric not in numeric:
        raise InputError(f"metric is '{metric}'; allowed: {', '.join(numeric)}")


def heat_map(grid: xr.Dataset, x: str, y: str, metric: str = "latency") -> HeatMap:
    """The metric of the best feasible design for each pair of values of two factors.

    All other factors are free: each cell shows the design with the least objective among those with its two values.
    """
    check_heat_map(grid, x, y, metric)
    masked = grid["objective"].where(grid["feasible"], np.inf)
    others = [dim for dim in masked.dims if dim not in (x, y)]
    shown = grid[metric].broadcast_like(masked) if grid[metric].dims != masked.dims else grid[metric]
    if others:
        place: Any = {dim: index.compute() for dim, index in masked.argmin(dim=others).items()}
        least, shown = masked.min(others), grid[metric].isel({d: i for d, i in place.items() if d in grid[metric].dims})
        shown = shown.broadcast_like(least)
    else:
        least = masked
    values = shown.where(np.isfinite(least)).transpose(y, x).to_numpy()
    attributes = grid.attrs
    return HeatMap(
        title=f"{attributes['design']}: the least {attributes['objective']} with each pair, within the limits",
        x_label=x,
        y_label=y,
        label=f"{metric} ({grid[metric].attrs['units']})" if grid[metric].attrs.get("units") else metric,
        x=grid[x].to_numpy(),
        y=grid[y].to_numpy(),
        values=values.astype(float),
    )


def save_heat_map(chart: HeatMap, path: Path) -> None:
    """Draw a heat map to a file; its ending chooses the kind."""
    check_plot(path)
    with whole_file(path) as temporary:
        if path.suffix.lower() in PICTURES:
            _picture(chart, temporary)
        else:
            _page(chart, temporary)


def _picture(chart: HeatMap, path: Path) -> None:
    from matplotlib.colors import LogNorm, Normalize
    from matplotlib.figure import Figure  # not pyplot: no display, no global state

    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
    axes.set_facecolor("lightgrey")  # where no design is feasible
    known = chart.values[np.isfinite(chart.values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    norm = LogNorm(low, high) if low > 0 and high / low >= LOGARITHMIC else Normalize(low, high)
    cells = axes.pcolormesh(np.ma.masked_invalid(chart.values), cmap="viridis_r", norm=norm)
    figure.colorbar(cells, label=chart.label)
    for axis, values in ((axes.xaxis, chart.x), (axes.yaxis, chart.y)):
        # cells have equal sizes, since values need not be equally spaced
        places = np.arange(0, values.size, -(-values.size // LABELS))
        axis.set_ticks(places + 0.5, labels=[str(values[place]) for place in places])
    figure.savefig(path, dpi=RESOLUTION)


def _page(chart: HeatMap, path: Path) -> None:
    import plotly.graph_objects as go  # type: ignore[import-untyped]

    cells = [[value if np.isfinite(value) else None for value in row] for row in chart.values.tolist()]
    x, y = ([str(value) for value in values] for values in (chart.x, chart.y))
    figure = go.Figure(go.Heatmap(x=x, y=y, z=cells, colorscale="Viridis_r", colorbar={"title": chart.label}))
    figure.update_layout(
        title=chart.title,
        xaxis={"title": chart.x_label, "type": "category"},
        yaxis={"title": chart.y_label, "type": "category"},
        template="plotly_white",
    )
    # the whole library goes into the file, so that it opens without a network
    figure.write_html(path, include_plotlyjs=True)
