"""Datasets in NetCDF files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.files.errors import InputError
from ithaca.files.writing import check_writable, whole_file

if TYPE_CHECKING:
    import xarray as xr


def check_netcdf(path: Path) -> None:
    """Refuse, before any work is done for it, a file that `save_netcdf` could not write."""
    if path.suffix.lower() != ".nc":
        raise InputError(
            f"cannot write {path}: studies are NetCDF files; allowed: a name that ends in .nc"
        )
    check_writable(path)
    try:
        import netCDF4  # noqa: F401
    except ImportError:
        raise InputError(
            "NetCDF files need the package netCDF4; install it with pip install netcdf4"
        ) from None


def check_output(path: Path) -> None:
    """Refuse a file that could not be written: NetCDF by the name, else text."""
    (check_netcdf if path.suffix.lower() == ".nc" else check_writable)(path)


def save_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write a Dataset to a NetCDF file."""
    check_netcdf(path)
    with whole_file(path) as temporary:
        dataset.to_netcdf(temporary, engine="netcdf4")
