"""Lists as tables: printed, with where their figures are from, and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ithaca.commands.display import show
from ithaca.commands.outcome import print_document, write_rows
from ithaca.files.writing import SCHEMA
from ithaca.results.view import Table


def show_list(
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    file: Path | None,
    sources: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """Print a table and where its figures are from, and write it if asked for.

    Parameters
    ----------
    headings : tuple of str
        Those of the columns.
    rows : sequence of tuple of str
        The cells.
    file : Path or None
        Where the table is written.
    sources : sequence of str, optional
        Lines on where figures are from.
    as_json : bool
        Whether a document is printed instead.
    """
    write_rows(file, headings, rows)
    if as_json:
        named = [dict(zip(headings, row, strict=True)) for row in rows]
        print_document({"schema": SCHEMA, "list": named, "sources": list(sources)})
        return
    texts = frozenset(range(len(headings)))
    show(Table("", headings, tuple(rows), texts), *sources)
