"""Grids in NetCDF files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.refine.grid import TITLE, asked_between_chunks
from ithaca.studies.files import save_netcdf
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import deferred

if TYPE_CHECKING:
    import xarray as xr


def save_grid(grid: xr.Dataset, path: Path) -> None:
    """Write a grid, whole or not at all; one of Dask arrays is computed and stored chunk by chunk."""
    stored = grid.copy()
    for variable in stored.variables.values():
        if variable.chunks is not None:
            variable.encoding["chunksizes"] = tuple(sizes[0] for sizes in variable.chunks)
    with asked_between_chunks(grid):
        save_netcdf(stored, path)


def load_grid(path: Path, *, lazily: bool = False) -> xr.Dataset:
    """Read a grid back: the Dataset that was saved.

    Parameters
    ----------
    path : Path
        The file.
    lazily : bool
        Leave the data in the file, as Dask arrays in the chunks it was stored in; else they are read at once.

    Raises
    ------
    InputError
        If it is no file of a grid.
    """
    import xarray as xr

    try:
        with deferred():
            grid = xr.open_dataset(path, engine="netcdf4", chunks={} if lazily else None)
            if not lazily:
                with grid:
                    grid = grid.load()
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a NetCDF file"
        raise InputError(f"cannot read {path}: {reason}; allowed: a file written by ithaca grid -o") from None
    if grid.attrs.get("title") != TITLE:
        grid.close()
        raise InputError(f"{path}: title is {grid.attrs.get('title')!r}; allowed: '{TITLE}', a file written by ithaca grid -o")
    return grid
