"""A heat map of two factors of a grid: what the best design with each pair of values achieves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.exports.charts.chart import HeatMap, other_unit
from ithaca.files.numbers import number
from ithaca.files.words import parse_choice

if TYPE_CHECKING:
    import xarray as xr


def check_metric(grid: xr.Dataset, metric: str) -> None:
    """Refuse a metric that is no numeric variable of a grid."""
    numeric = [str(name) for name, variable in grid.data_vars.items() if variable.dtype.kind == "f"]
    parse_choice("--metric", metric, numeric)


def heat_map(grid: xr.Dataset, x: str, y: str, metric: str = "latency") -> HeatMap:
    """The metric of the best feasible design for each pair of values of two free factors.

    All other factors are free: each cell shows the design with the least objective among those with
    its two values.

    Parameters
    ----------
    grid : xr.Dataset
        A grid as `ithaca.refine.grid` makes it.
    x, y : str
        Two of its free factors.
    metric : str, optional
        The metric that is shown.

    Raises
    ------
    InputError
        If the grid does not have the metric.
    """
    check_metric(grid, metric)
    masked = grid["objective"].where(grid["feasible"], np.inf)
    others = [dim for dim in masked.dims if dim not in (x, y)]
    cells = (
        grid[metric].broadcast_like(masked) if grid[metric].dims != masked.dims else grid[metric]
    )
    if others:
        place: Any = {dim: index.compute() for dim, index in masked.argmin(dim=others).items()}
        least, cells = (
            masked.min(others),
            grid[metric].isel({d: i for d, i in place.items() if d in grid[metric].dims}),
        )
        cells = cells.broadcast_like(least)
    else:
        least = masked
    values = cells.where(np.isfinite(least)).transpose(y, x).to_numpy()
    attributes, unit = grid.attrs, grid[metric].attrs.get("units", "")
    named = attributes["objective"] if metric == "objective" else metric
    work, platform = (
        attributes.get("subject", attributes.get("workload")),
        attributes.get("platform"),
    )
    words = "least" if named == attributes["objective"] else f"{named} of the least"
    subject = ", ".join(filter(None, (work, platform, f"design {attributes['design']}")))
    center = json.loads(
        attributes.get("center_factors", "{}")
    )  # grids of earlier versions do not hold it
    marked = (center[x], center[y]) if center else None
    answer = grid[metric].sel({dim: center[dim] for dim in grid[metric].dims}) if center else None
    return HeatMap(
        title=f"{subject}: {words} {attributes['objective']} with each pair",
        x_label=x,
        y_label=y,
        label=f"{named} ({unit})" if unit else named,
        x=grid[x].to_numpy(),
        y=grid[y].to_numpy(),
        values=values.astype(float),
        marked=marked,
        mark="" if answer is None else f"the result, {number(float(answer))} {unit}".rstrip(),
        most=grid[metric].attrs.get("best") == "most",
        also=other_unit(unit, attributes.get("clock_mhz")),
    )
