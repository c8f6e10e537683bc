"""Mappings as rows that were stated otherwise: as results have them, or as files of Timeloop's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ithaca.files.messages import quoted, refuse
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture import Architecture


def stated_row(row: Mapping[str, Any], architecture: Architecture) -> dict[str, Any]:
    """A row with a column of every level's factors."""
    return {f"T:{level.name}.factors": "" for level in architecture.levels} | dict(row)


def tiled_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of a mapping as results state it; others as they are."""
    if not isinstance(row.get("tiling"), list):
        return row
    cells: dict[str, str] = {}
    for part in row["tiling"]:
        level, x, y = part["level"], part.get("x", ()), part.get("y", ())
        names = [[text.partition("=")[0] for text in own] for own in (part.get("loops", ()), x, y)]
        cells |= {
            f"T:{level}.factors": " ".join(part.get("loops", ())),
            f"T:{level}.permutation_innermost_first": " ".join(reversed(names[0])),
            f"K:{level}": " ".join(part["keeps"]),
        }
        if x or y:
            cells[f"S:{level}.factors"] = " ".join((*x, *y))
            cells |= {f"S:{level}.X": " ".join(names[1]), f"S:{level}.Y": " ".join(names[2])}
    return cells


def directives_row(path: Path) -> dict[str, str]:
    """The row of a mapping file of Timeloop's."""
    document = load_timeloop(path)
    entries = document.get("mapping") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise refuse(path, "has no list 'mapping'; allowed: a mapping of Timeloop v0.4")
    cells: dict[str, str] = {}
    for entry in entries:
        level, kind = entry.get("target"), entry.get("type")
        factors, order = (_words(entry.get(name, "")) for name in ("factors", "permutation"))
        if kind == "temporal":
            cells[f"T:{level}.factors"] = factors
            cells[f"T:{level}.permutation_innermost_first"] = order
        elif kind == "spatial":
            names = order.split()
            if not {*names} <= {re.split("[=0-9]", each)[0] for each in factors.split()}:
                names = list("".join(names))
            split = entry.get("split", len(names))
            if isinstance(split, bool) or not isinstance(split, int) or split < 0:
                raise refuse(path, f"split is {quoted(split)}; allowed: how many loops lie along X")
            cells[f"S:{level}.factors"] = factors
            cells |= {f"S:{level}.X": " ".join(names[:split])}
            cells |= {f"S:{level}.Y": " ".join(names[split:])}
        elif kind in ("bypass", "datatype", "dataspace"):
            cells[f"K:{level}"] = _words(entry.get("keep", ""))
        else:
            raise refuse(
                path, f"type is {quoted(kind)}; allowed: temporal, spatial, bypass, datatype"
            )
    return cells


def _words(value: Any) -> str:
    """Words of a list, or of a text with commas or blanks between."""
    words = value if isinstance(value, list) else re.sub(r",(?!\d)", " ", str(value)).split()
    return " ".join(map(str, words))
