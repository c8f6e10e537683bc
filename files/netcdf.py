"""Datasets in NetCDF files."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ithaca.files.errors import InputError
from ithaca.files.extras import check_installed
from ithaca.files.messages import refuse
from ithaca.files.reading import check_readable
from ithaca.files.writing import check_writable, whole_file

if TYPE_CHECKING:
    import xarray as xr

#: Bytes of data that any file may hold, and how many more for each of its own.
_PLAIN_BYTES, _RATIO = 16 << 20, 20


def check_netcdf(path: Path) -> None:
    """Refuse, before any work is done for it, a file that `save_netcdf` could not write."""
    if path.suffix.lower() != ".nc":
        raise InputError(
            f"cannot write {path}: studies are NetCDF files; allowed: a name that ends in .nc"
        )
    check_writable(path)
    check_installed("netCDF4")


def save_netcdf(
    dataset: xr.Dataset, path: Path, groups: Mapping[str, xr.Dataset] = MappingProxyType({})
) -> None:
    """Write a NetCDF file.

    Parameters
    ----------
    dataset : Dataset
        The data of its root.
    path : Path
        The file.
    groups : mapping of str to Dataset, optional
        Those of further groups, by name.
    """
    check_netcdf(path)
    with whole_file(path) as temporary:
        dataset.to_netcdf(temporary, engine="netcdf4")
        for name, each in groups.items():
            each.to_netcdf(temporary, mode="a", group=name, engine="netcdf4")


def check_contents(path: Path) -> None:
    """Refuse a file that is none, or says that it holds more than its bytes can: what is
    compressed, or was never written, may take any memory."""
    from netCDF4 import Dataset

    check_readable(path)
    most = _PLAIN_BYTES + _RATIO * path.stat().st_size
    with Dataset(path) as file:
        for variable in file.variables.values():
            chunks = variable.chunking()
            parts = 1 if chunks is None or isinstance(chunks, str) else prod(chunks)
            size = int(getattr(variable.dtype, "itemsize", 8))
            most -= size * max(parts, prod(variable.shape))
    if most < 0:
        raise refuse(path, "holds more data than a file of its size; allowed: a file as written")
