"""Layers in CSV files, one a row: problems of editions with tiles in a scratchpad, and mappings of
them to be evaluated."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.files.numbers import json_number
from ithaca.files.reading import read_text
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.dmazerunner.design import DmazerunnerDesign
from ithaca.formulations.spatial.dmazerunner.model import (
    DRAM,
    ORDERED,
    RF,
    SPATIAL,
    SPM,
    StoredLayer,
)
from ithaca.formulations.spatial.dmazerunner.tilings import TilingDesign
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

#: Largest file (bytes).
MAX_BYTES = 1 << 24

#: Statement, and a loop to vectorise (which this family does not ask for), of each kind of layer.
#: Tensors lie in memory so.
KINDS = {
    "conv": ("O[N][M][Ox][Oy] += I[N][C][Ox*S+Fx][Oy*S+Fy] * W[M][C][Fx][Fy]", "C"),
    "dw": ("O[N][C][Ox][Oy] += I[N][C][Ox*S+Fx][Oy*S+Fy] * W[C][Fx][Fy]", "C"),
    "gemm": ("C[X][Y] += A[X][K] * B[K][Y]", "K"),
}

#: Columns of mappings, with the slot that each states.
FACTORS = {"DRAM": DRAM, "SPM": SPM, "RF": RF, "spatial": SPATIAL}


@dataclass(frozen=True)
class Row:
    """A row of a file."""

    layer: StoredLayer
    """What it poses."""
    cells: Mapping[str, str]
    """Its columns."""
    where: str
    """What error lines about it start with."""


def read_layers(path: str | Path) -> tuple[Row, ...]:
    """The layers of a CSV file with columns kind, extents, stride, tensors; other columns are kept.

    Kinds are conv, dw and gemm; extents (by loop) and tensors (extents in memory, outermost first)
    are JSON. Raises `InputError`, one line that names the row, the column, its value and what is
    allowed.
    """
    file = Path(path)
    reader = csv.DictReader(io.StringIO(read_text(file, MAX_BYTES)))
    for column in ("kind", "extents", "stride", "tensors"):
        if column not in (reader.fieldnames or ()):
            raise refuse(
                file, f"column '{column}' is missing; allowed: kind, extents, stride, tensors"
            )
    rows = tuple(_row(cells, f"{file}: row {number}") for number, cells in enumerate(reader, 1))
    if not rows:
        raise refuse(file, "has no row; allowed: at least one layer")
    return rows


def _row(cells: Mapping[str, str], where: str) -> Row:
    kind = cells["kind"]
    if kind not in KINDS:
        raise refuse(where, f"kind is {quoted(kind)}; allowed: {', '.join(KINDS)}")
    extents = _integers(cells, "extents", where)
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
    try:
        output, inputs = parse_statement(statement, {"S": int(stride)} if kind != "gemm" else {})
        loops = [
            loop for loop in extents if any(access.indexed_by(loop) for access in (output, *inputs))
        ]
        if missing := {loop for access in inputs for loop in access.loops} - set(loops):
            raise InputError(
                f"extents: {min(missing)} is missing; allowed: an extent of every loop"
            )
        if len(loops) < len(extents):
            raise InputError(
                f"extents: {min(set(extents) - set(loops))} is unknown; allowed: {', '.join(loops)}"
            )
        nest = LoopNest(kind, tuple(extents.items()), output, inputs, simd=simd)
        return Row(StoredLayer(nest, tuple(tensors.items())), cells, where)
    except InputError as error:
        raise refuse(where, error) from None


def _object(cells: Mapping[str, str], column: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(cells.get(column) or "")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise refuse(where, f"{column} is {quoted(cells.get(column))}; allowed: a JSON object")
    return found


def _integers(cells: Mapping[str, str], column: str, where: str) -> dict[str, int]:
    found = _object(cells, column, where)
    for name, value in found.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise refuse(where, f"{column}: {name} is {quoted(value)}; allowed: a positive integer")
    return found


def evaluate_points(
    path: str | Path, architecture: Architecture, kind: type[TilingDesign] = DmazerunnerDesign
) -> dict[str, Any]:
    """Costs of a file's mappings: ``{"points": [{"valid", "reason", "metrics"}]}``, for JSON.

    ``kind`` is that of the edition.

    Columns beside those of `read_layers`: factors of each loop in DRAM, SPM, RF, spatial, as JSON,
    and the orders ``DRAM_order_outer_first``, ``SPM_order_outer_first``. Mappings that do not fit
    are priced all the same, with the reason.
    """
    return {"points": [_evaluated(row, kind(architecture, row.layer)) for row in read_layers(path)]}


def _evaluated(row: Row, design: TilingDesign) -> dict[str, Any]:
    loops = row.layer.nest.loops
    values, orders = {}, {}
    for column, slot in FACTORS.items():
        factors = _integers(row.cells, column, row.where)
        for loop in loops:
            values[f"{loop}.{slot}"] = FRACTION.number(factors.get(loop, 1))  # type: ignore[arg-type]
    for level in ORDERED:
        column = f"{level}_order_outer_first"
        order = [loop for loop in (row.cells.get(column) or "").split() if loop in loops]
        orders[level] = [order]
        if sorted(order) != sorted(loops):
            raise refuse(
                row.where,
                f"{column} is {quoted(row.cells.get(column))}; allowed: "
                f"every one of {' '.join(loops)} once",
            )
    found, _ = design.priced(values, FRACTION, orders)
    complaints = list(_complaints(design, values, found))
    numbers = {name: json_number(value) for name, value in found.items()}
    return {"valid": not complaints, "reason": "; ".join(complaints) or None, "metrics": numbers}


def _complaints(
    design: TilingDesign, values: Mapping[str, Any], found: Mapping[str, Any]
) -> Iterator[str]:
    for loop, extent in design.nest.extents:
        runs = (
            values[f"{loop}.{DRAM}"]
            * values[f"{loop}.{SPM}"]
            * values[f"{loop}.{RF}"]
            * values[f"{loop}.{SPATIAL}"]
        )
        if runs < extent:
            yield f"factors of {loop} multiply to {runs}, less than {extent}"
    for name, most in design.machine.limits.items():
        if found[name] > most:
            yield f"{name} is {found[name]}, more than {most}"
