"""Points: tilings of designs, read from a CSV file with the columns of ``golden/*.csv``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.json_numbers import parse_json, read_text, refuse
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

#: Largest point file (bytes).
MAX_BYTES = 64 * 2**20

#: The columns a point needs. ``edition`` is optional; all others are ignored.
COLUMNS = ("dataflow", "reuse", "sizes", "array_part", "latency_hiding", "simd", "pack")

_INTEGER = re.compile(r"-?[0-9]{1,300}")

#: Designs derived so far; a file has few designs and many points.
_Designs = dict[tuple[object, ...], SystolicArray]


@dataclass(frozen=True)
class Point:
    """A configuration of one design."""

    array: SystolicArray  #: The design
    nest: LoopNest  #: The loop nest, with extents
    tiling: Tiling  #: Tile factors and packs

    @cached_property
    def quantities(self) -> dict[str, Fraction]:
        """A number per quantity; raises `InputError` where the tiling is not one of the design."""
        return self.tiling.quantities(self.array, self.nest.sizes)


def load_points(path: Path, nest: LoopNest) -> tuple[Point, ...]:
    """Read points from a CSV file, one per row.

    The columns ``sizes``, ``array_part``, ``latency_hiding`` and ``pack`` (per buffer module)
    hold JSON objects of integers; ``sizes`` may set the workload's parameters, too. Values are taken
    as given: only what the model has no meaning for is refused.

    Parameters
    ----------
    path : Path
        The file.
    nest : LoopNest
        The workload all points belong to; each row gives its extents.

    Raises
    ------
    InputError
        If the file or a row is malformed. Rows are counted as lines of the file are.
    """
    rows = csv.reader(io.StringIO(read_text(path, MAX_BYTES), newline=""), strict=True)
    points: list[Point] = []
    arrays: _Designs = {}
    try:
        header = _header(next(rows, []), path)
        for row in rows:
            if not row:
                continue
            where = f"{path} row {rows.line_num}"
            if len(row) != len(header):
                raise refuse(where, f"has {len(row)} cells; allowed: {len(header)}, as in the header")
            points.append(_point(dict(zip(header, row, strict=True)), nest, arrays, where))
    except csv.Error as error:
        raise refuse(f"{path} row {rows.line_num}", f"{error}; allowed: comma-separated values") from None
    if not points:
        raise refuse(path, "has no rows; allowed: at least one point")
    return tuple(points)


def _header(row: list[str], path: Path) -> list[str]:
    header = [name.strip() for name in row]
    for column in (*COLUMNS, "edition"):
        if header.count(column) > 1:
            raise refuse(path, f"column '{column}' occurs twice; allowed: every column once")
        if column not in header and column != "edition":
            raise refuse(path, f"column '{column}' is missing; allowed: {', '.join(COLUMNS)}, edition")
    return header


def _point(row: Mapping[str, str], nest: LoopNest, arrays: _Designs, where: str) -> Point:
    try:
        sized = nest.with_sizes(_sizes(row, nest))
        array = _array(row, sized, arrays)
        pack = group_packs(array, _integers(row, "pack"))
        tiling = Tiling(_integers(row, "array_part"), _integers(row, "latency_hiding"), _integer(row, "simd"), pack)
        point = Point(array, sized, tiling)
        point.quantities  # noqa: B018 - checks names and divisibility
    except InputError as error:
        raise refuse(where, error) from None
    return point


def _array(row: Mapping[str, str], nest: LoopNest, arrays: _Designs) -> SystolicArray:
    loops, permutation, edition = row["dataflow"], row["reuse"], row.get("edition", Edition.EXACT.value)
    key = (loops, permutation, edition, nest.parameters)
    if key not in arrays:
        editions = [e.value for e in Edition]
        if edition not in editions:
            raise InputError(f"edition is {quoted(edition)}; allowed: {', '.join(editions)}")
        dataflow = find_dataflow(nest, tuple(loop.strip() for loop in loops.split(",")))
        arrays[key] = derive(nest, dataflow, permutation, Edition(edition))
    return arrays[key]


def _sizes(row: Mapping[str, str], nest: LoopNest) -> dict[str, int]:
    sizes = _integers(row, "sizes")
    missing = [loop for loop in nest.loops if loop not in sizes]
    if missing:
        raise InputError(f"sizes misses '{missing[0]}'; allowed: exactly {', '.join(nest.loops)}")
    return sizes


def _integers(row: Mapping[str, str], column: str) -> dict[str, int]:
    """A JSON object of integers; their range is checked by who uses them."""
    found = parse_json(row[column], column)
    if not isinstance(found, dict):
        raise InputError(f"{column} is {quoted(found)}; allowed: a JSON object of integers")
    for name, value in found.items():
        if type(value) is not int:
            raise InputError(f"{column}.{name} is {quoted(value)}; allowed: an integer")
    return found


def _integer(row: Mapping[str, str], column: str) -> int:
    text = row[column].strip()
    if not _INTEGER.fullmatch(text):
        raise InputError(f"{column} is {quoted(text)}; allowed: an integer")
    return int(text)
