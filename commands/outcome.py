"""The end of a command: with a document on stdout, or with a line on stderr and an exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer

from ithaca.commands.api.live_line import tell
from ithaca.files.messages import printable
from ithaca.files.writing import write_text_atomically

#: Exit status: nothing found, or infeasible.
NOTHING_FOUND = 1

#: Exit status: bad input.
BAD_INPUT = 2


def print_document(document: dict[str, Any]) -> None:
    """Print one JSON document."""
    from ithaca.files.writing import document_text

    print(document_text(document), end="")


def say(text: str) -> None:
    """Say lines on stdout."""
    print(printable(text))


def write_rows(path: Path | None, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV, if asked for; cells of several lines in one.

    Parameters
    ----------
    path : Path, optional
        The file; None: nothing is written.
    columns : sequence of str
        Names of the columns.
    rows : iterable of sequence of object
        The cells of each row.
    """
    if path is not None:
        from ithaca.files.csv_text import csv_text

        cells = (
            [cell.replace("\n", "; ") if isinstance(cell, str) else cell for cell in row]
            for row in rows
        )
        write_text_atomically(path, csv_text(columns, cells))
        wrote(path)


def wrote(path: Path) -> None:
    """Say that a file is written."""
    tell(f"wrote {path}")


def nothing_found(why: str) -> NoReturn:
    """End with one line on stderr: why there is no answer."""
    tell(why)
    raise typer.Exit(NOTHING_FOUND)
