"""Options that say what a command writes: the files, and whether they can be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.files.errors import InputError
from ithaca.files.writing import check_writable


@dataclass(frozen=True)
class Written:
    """Marks a file or folder that a command writes."""

    check: Callable[[Path], None] | None = None
    """Refuses, before anything is computed, what could not be written."""


def check_output(path: Path) -> None:
    """Refuse a file that could not be written: NetCDF by the name, else text."""
    if path.suffix.lower() != ".nc":
        return check_writable(path)
    from ithaca.files.netcdf import check_netcdf

    return check_netcdf(path)


def check_table(path: Path) -> None:
    """Refuse a table that could not be written, or by its name would be taken for NetCDF."""
    if path.suffix.lower() == ".nc":
        raise InputError(
            f"cannot write {path}: tables are CSV; allowed: a name that does not end in .nc"
        )
    return check_writable(path)


WRITTEN, WRITTEN_FILE = Written(), Written(check_writable)

AsJson = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]
Verbose = Annotated[
    bool, Option("--verbose", help="Print all that is known of the answer, not 20 lines.")
]
TableFile = Annotated[
    Path | None,
    Option("--table", metavar="FILE", help="Write the table (CSV) to this file."),
    Written(check_table),
]
Output = Annotated[
    Path | None,
    Option("-o", "--output", help="Write the answer to this file: JSON, or NetCDF named .nc."),
    Written(check_output),
]
