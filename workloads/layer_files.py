"""Layers in CSV files, one a row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ithaca.files.csv_text import read_rows
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.files.reading import read_text
from ithaca.workloads.nest import LoopNest, Stored, check_stored
from ithaca.workloads.statement import parse_statement

#: Largest file (bytes).
MAX_BYTES = 1 << 24

#: Statement, and a loop to vectorise (of which mappings ask nothing), of each kind of layer.
#: Tensors lie in memory so.
KINDS = {
    "conv": ("O[N][M][Ox][Oy] += I[N][C][Ox*S+Fx][Oy*S+Fy] * W[M][C][Fx][Fy]", "C"),
    "dw": ("O[N][C][Ox][Oy] += I[N][C][Ox*S+Fx][Oy*S+Fy] * W[C][Fx][Fy]", "C"),
    "gemm": ("C[X][Y] += A[X][K] * B[K][Y]", "K"),
}


@dataclass(frozen=True)
class Row:
    """A row of a file."""

    nest: LoopNest
    """The nest that it states."""
    stored: Stored
    """Extents of its tensors in memory."""
    cells: Mapping[str, str]
    """Its columns."""
    where: str
    """The beginning of error lines about it."""


def table_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table that have cells, with their lines; empty cells at their ends are left
    out, and lines of one cell that begins with ``#``. Raises `InputError` if it is no table."""
    text = read_text(path, MAX_BYTES).removeprefix("\ufeff")
    lines = [*io.StringIO(text, newline="")]
    filled = [line for line in lines if line.strip()]
    first = next((line for line in filled if not _begins_as_note(line)), "".join(filled[:1]))
    delimiter = max(",\t;", key=first.count)
    reader = csv.reader(lines, delimiter=delimiter)
    begin = 0
    try:
        for row in reader:
            line, begin = lines[begin], reader.line_num
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            if any(cells) and not (len(cells) == 1 and _begins_as_note(line)):
                yield reader.line_num, cells
    except csv.Error as error:
        where = f"{path} row {reader.line_num}"
        raise refuse(where, f"{error}; allowed: comma-separated values") from None


def _begins_as_note(line: str) -> bool:
    """Whether a line is a comment, or states a spreadsheet's delimiter, if it has no more cells."""
    return line.lstrip().startswith(("#", "sep="))


def states_extents(path: Path) -> bool:
    """Whether a table has layers with their extents, as `read_layers` takes."""
    _, header = next(table_rows(path), (0, []))
    return {"kind", "extents"} <= {*header}


def read_layers(path: str | Path) -> tuple[Row, ...]:
    """The layers of a CSV file with columns kind, extents, stride, tensors; other columns are kept.

    Kinds are conv, dw and gemm; extents (by loop) and tensors (extents in memory, outermost first)
    are JSON. Raises `InputError`, one line that names the row, the column, its value and what is
    allowed.
    """
    file = Path(path)

    def check(header: list[str]) -> list[str]:
        for column in ("kind", "extents", "stride", "tensors"):
            if column not in header:
                raise refuse(
                    file, f"column '{column}' is missing; allowed: kind, extents, stride, tensors"
                )
        return header

    rows = read_rows(read_text(file, MAX_BYTES), file, check)
    return tuple(_row(cells, f"{file}: row {number}") for number, (_, cells) in enumerate(rows, 1))


def _row(cells: Mapping[str, str], where: str) -> Row:
    kind = cells["kind"]
    if kind not in KINDS:
        raise refuse(where, f"kind is {quoted(kind)}{among(kind, KINDS)}")
    extents = integers(cells, "extents", where)
    tensors = {
        name: tuple(sizes)
        for name, sizes in _object(cells, "tensors", where).items()
        if isinstance(sizes, list)
    }
    if kind == "dw":  # a filter a channel: the published description has a loop over one of them
        if extents.pop("M", 1) != 1:
            raise refuse(where, "extents: M of a depthwise layer is not 1; allowed: 1")
        if len(tensors.get("W", ())) == 4:
            tensors["W"] = tensors["W"][1:]
    if any(
        not isinstance(size, int) or isinstance(size, bool) or size < 1
        for sizes in tensors.values()
        for size in sizes
    ):
        raise refuse(
            where,
            f"tensors is {quoted(cells['tensors'])}; allowed: tensors "
            "with lists of positive integers",
        )
    stride = cells["stride"] or "1"
    if not stride.isdecimal() or int(stride) < 1:
        raise refuse(where, f"stride is {quoted(stride)}; allowed: a positive integer")
    statement, simd = KINDS[kind]
    with errors_at(where):
        output, inputs = parse_statement(statement, {"S": int(stride)} if kind != "gemm" else {})
        loops = [
            loop for loop in extents if any(access.indexed_by(loop) for access in (output, *inputs))
        ]
        if missing := {loop for access in inputs for loop in access.loops} - set(loops):
            raise InputError(
                f"extents: {min(missing)} is missing; allowed: an extent of every loop"
            )
        if len(loops) < len(extents):
            unknown = min(set(extents) - set(loops))
            raise InputError(f"extents: {unknown} is unknown{among(unknown, loops)}")
        nest = LoopNest(kind, tuple(extents.items()), output, inputs, simd=simd)
        check_stored(nest, stored := tuple(tensors.items()))
        return Row(nest, stored, cells, where)


def _object(cells: Mapping[str, str], column: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(cells.get(column) or "")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise refuse(where, f"{column} is {quoted(cells.get(column))}; allowed: a JSON object")
    return value


def integers(cells: Mapping[str, str], column: str, where: str) -> dict[str, int]:
    """The positive integers that a column states as a JSON object.

    Parameters
    ----------
    cells : Mapping of str to str
        A row, by column.
    column : str
        The column.
    where : str
        What errors begin with.

    Returns
    -------
    dict
        Integers by name.

    Raises
    ------
    InputError
        If the cell is no such object.
    """
    numbers = _object(cells, column, where)
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise refuse(where, f"{column}: {name} is {quoted(value)}; allowed: a positive integer")
    return numbers
