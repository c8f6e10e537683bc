"""Tables as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped, quoted, refuse
from ithaca.files.numbers import counted

if TYPE_CHECKING:
    import pandas as pd

#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@")


#: Most columns of a table that is read.
MAX_COLUMNS = 4_096

#: Most columns that a line names.
MAX_UNREAD = 10


def records(table: Any) -> list[dict[str, Any]]:
    """The rows of a table in Python: a mapping of columns to values, several, or a row or a table
    of pandas."""
    if hasattr(table, "to_dict"):
        table = table.to_dict("records") if hasattr(table, "columns") else table.to_dict()
    rows = [table] if isinstance(table, Mapping) else list(table)
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            f"points is {quoted(table)}; allowed: a file, a mapping of columns to values, several "
            "of them, or a table of pandas"
        )
    # pandas has NaN for what a file leaves empty
    return [
        {name: x for name, x in row.items() if not isinstance(x, float) or x == x} for row in rows
    ]


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows by column as CSV: mappings as JSON, what a row lacks as nothing."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = ([row.get(column, "") for column in columns] for row in rows)
    return csv_text(
        columns,
        ([json.dumps(x, default=int) if isinstance(x, Mapping) else x for x in c] for c in cells),
    )


def frame_text(frame: pd.DataFrame) -> str:
    """A table of pandas as CSV: whole numbers without a fraction, what does not exist as
    nothing."""
    rows = frame.reset_index()
    cells = ([_number(value) for value in row] for row in rows.itertuples(index=False))
    return csv_text(list(map(str, rows.columns)), cells)


def _number(value: object) -> object:
    if not isinstance(value, float):
        return value
    return "" if isnan(value) else int(value) if value.is_integer() else value


def read_rows(
    text: str, file: Path, check: Callable[[list[str]], list[str]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a table in a CSV file.

    Parameters
    ----------
    text : str
        The file.
    file : Path
        Its path, for errors.
    check : Callable
        Returns the names of columns for the cells of the first line, or refuses them.

    Yields
    ------
    tuple of str and dict
        What errors about a row begin with, which counts rows as lines of the file are, and its
        cells by column.

    Raises
    ------
    InputError
        If it is no such file, or has no rows.
    """
    lines, empty = csv.reader(io.StringIO(text, newline=""), strict=True), True
    try:
        first = next(lines, [])
        if len(first) > MAX_COLUMNS:
            allowed = f"at most {MAX_COLUMNS:,}"
            raise refuse(file, f"has {len(first):,} columns; allowed: {allowed}")
        header = check(first)
        for row in lines:
            where = f"{file} row {lines.line_num}"
            if row and len(row) != len(header):
                allowed = f"{len(header)}, as in the header"
                raise refuse(where, f"has {len(row)} cells; allowed: {allowed}")
            if row:
                empty = False
                yield where, dict(zip(header, row, strict=True))
    except csv.Error as error:
        where = f"{file} row {lines.line_num}"
        raise refuse(where, f"{error}; allowed: comma-separated values") from None
    if empty:
        raise refuse(file, "has no rows; allowed: at least one")


def unread_columns(path: Path, known: Callable[[str], bool]) -> str:
    """The line that names the columns of a CSV file that say nothing to its reader; empty where all
    do.

    Parameters
    ----------
    path : Path
        The file, which has been read.
    known : Callable
        Whether a column is read, or a result that such tables have.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
    other = [quoted(name) for name in names if not known(name)]
    listed = ", ".join(other[:MAX_UNREAD]) + (", …" if len(other) > MAX_UNREAD else "")
    return f"{path}: not read: {counted(len(other), 'column')} {listed}" if other else ""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV.

    Names come from anywhere: a layer may be called ``=cmd|…``, which a spreadsheet would run. Text
    that begins like a formula (with ``= + - @``) and is no number is preceded by an apostrophe,
    which spreadsheets take for "this is text". Control characters are escaped, line ends too: a row
    is a line.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in (columns, *rows))
    return stream.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = escaped(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
