"""Tables as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from ithaca.files.messages import escaped

#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@")


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
