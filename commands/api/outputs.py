"""Options that say what a command writes: the files, and whether they can be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.files.netcdf import check_output
from ithaca.files.writing import check_writable


@dataclass(frozen=True)
class Written:
    """Marks a file or folder that a command writes."""

    check: Callable[[Path], None] | None = None
    """Refuses, before anything is computed, what could not be written."""


WRITTEN, WRITTEN_FILE = Written(), Written(check_writable)

AsJson = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]
TableFile = Annotated[
    Path | None,
    Option("--table", metavar="FILE", help="Write the table (CSV) to this file."),
    Written(check_writable),
]
Output = Annotated[
    Path | None,
    Option("-o", "--output", help="Write the answer to this file: JSON, or NetCDF named .nc."),
    Written(check_output),
]
