"""Mappings of layers in CSV files, one a row, of editions with tiles in a scratchpad."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ithaca.files.clock import keeping, poll
from ithaca.files.messages import quoted, refuse
from ithaca.files.numbers import json_ready
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    ORDERED,
    RF,
    SLOTS,
    SPATIAL,
    SPM,
    StoredLayer,
    covered,
    factors,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.workloads.layer_files import Row, integers, read_layers

#: Columns of mappings, with the slot that each states.
FACTORS = {"DRAM": DRAM, "SPM": SPM, "RF": RF, "spatial": SPATIAL}


def evaluate_layers(
    path: str | Path, architecture: Architecture, kind: type[TilingDesign]
) -> list[dict[str, Any]]:
    """Costs of a file's mappings.

    Columns beside those of `read_layers`: factors of each loop in DRAM, SPM, RF, spatial, as JSON,
    and the orders ``DRAM_order_outer_first``, ``SPM_order_outer_first``. Mappings that do not fit
    are priced all the same, with the reason.

    Parameters
    ----------
    path : str or Path
        The file.
    architecture : Architecture
        A hierarchy of DRAM, scratchpad, register files and PEs.
    kind : type
        The design of the edition.

    Returns
    -------
    list of dict
        ``{"valid", "reason", "metrics"}`` of each row, for JSON.

    Raises
    ------
    InputError
        If the file or a row is malformed.
    """
    rows: list[dict[str, Any]] = []
    with keeping(lambda: rows):
        for row in read_layers(path):
            poll()
            rows.append(_evaluated(row, kind(architecture, StoredLayer(row.nest, row.stored))))
    return rows


def _evaluated(row: Row, design: TilingDesign) -> dict[str, Any]:
    loops = row.nest.loops
    values, orders = {}, {}
    for column, slot in FACTORS.items():
        stated = integers(row.cells, column, row.where)
        for loop in loops:
            values[f"{loop}.{slot}"] = FRACTION.number(stated.get(loop, 1))  # type: ignore[arg-type]
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
    costs, _ = design.priced(values, FRACTION, orders)
    complaints = list(_complaints(design, values, costs))
    numbers = json_ready(costs)
    return {"valid": not complaints, "reason": "; ".join(complaints) or None, "metrics": numbers}


def _complaints(
    design: TilingDesign, values: Mapping[str, Any], costs: Mapping[str, Any]
) -> Iterator[str]:
    runs_of = covered(factors(design.layer, values), *SLOTS)
    for loop, extent in design.nest.extents:
        runs = runs_of[loop]
        if runs < extent:
            yield f"factors of {loop} multiply to {runs}, less than {extent}"
    for name, most in design.machine.limits.items():
        if costs[name] > most:
            yield f"{name} is {costs[name]}, more than {most}"
