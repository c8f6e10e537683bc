"""Accelerators of co-designs as labelled data (`xarray.Dataset`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.results.datasets import shared_attributes

if TYPE_CHECKING:
    import xarray as xr


def codesign_dataset(result: CodesignResult) -> xr.Dataset:
    """The accelerators by point: quantities, costs and objectives, with units; numbers are
    doubles."""
    import xarray as xr

    space, columns = result.question.space, dict[str, Any]()
    for quantity in space.quantities:
        values = [space.fields(point.point)[quantity.name] for point in result.front]
        columns[quantity.name] = "point", values, {"units": quantity.unit}
    for name, metric in space.units.items():
        taken = [float(point.costs[name]) for point in result.front]
        columns[name] = "point", taken, {"units": metric.unit, "long_name": metric.meaning}
    texts = [objective.text for objective in result.question.objectives]
    columns["objectives"] = (
        ("point", "objective"),
        [list(map(float, point.values)) for point in result.front],
    )
    if not result.share.whole:
        share = {"share": np.nan, **shared_attributes(result)}
        columns |= {
            name: ("point", [share[name]] * len(result.front)) for name in ("share", "uncounted")
        }
    return xr.Dataset(
        columns,
        {"point": range(len(result.front)), "objective": texts},
        {"title": result.headline, **shared_attributes(result)},
    )
