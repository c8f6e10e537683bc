"""Lists as tables: printed, with where their figures are from, and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape

from ithaca.commands.display import console
from ithaca.commands.outcome import write_rows
from ithaca.commands.tables import Table


def show_list(
    headings: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    file: Path | None,
    sources: Sequence[str] = (),
) -> None:
    """Print a table and where its figures are from, and write it if asked for."""
    write_rows(file, headings, rows)
    cells = [list(zip(headings, row, strict=True)) for row in rows]
    console().print(Table(cells, left=headings))
    for source in sources:
        console().print(escape(source))
