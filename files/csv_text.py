"""Tables as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped, quoted

#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@")


#: Rows of a table in Python.
Rows = Mapping[str, Any] | Iterable[Mapping[str, Any]]


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
