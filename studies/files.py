"""Write what libraries write, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import deferred, undone
from ithaca.workloads.writing import check_writable

if TYPE_CHECKING:
    import xarray as xr


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of a file, renamed to it on success and removed otherwise.

    The sibling ends like the file, since libraries choose the format by that. A signal waits until they are done.

    Raises `InputError` if the file cannot be written.
    """
    check_writable(path)
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise InputError(f"cannot write {path}: it is a device or pipe; give the name of a file")
    temporary = target.with_name(f".ithaca-{secrets.token_hex(6)}.tmp{target.suffix}")

    def remove() -> None:
        temporary.unlink(missing_ok=True)

    try:
        with undone(remove), deferred():
            yield temporary
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(target)
    except (OSError, RuntimeError) as error:  # HDF5 reports a full disk as a RuntimeError
        raise InputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from error
    finally:
        remove()


def check_netcdf(path: Path) -> None:
    """Refuse, before any work is done for it, a file that `save_netcdf` could not write."""
    if path.suffix.lower() != ".nc":
        raise InputError(f"cannot write {path}: studies are NetCDF files; allowed: a name that ends in .nc")
    check_writable(path)
    try:
        import netCDF4  # noqa: F401
    except ImportError:
        raise InputError("NetCDF files need the package netCDF4; install it with pip install netcdf4") from None


def save_netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write a Dataset to a NetCDF file."""
    check_netcdf(path)
    with whole_file(path) as temporary:
        dataset.to_netcdf(temporary, engine="netcdf4")
