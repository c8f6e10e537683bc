"""Mappings as rows that were stated otherwise: as results have them, or as files of Timeloop's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import read_text
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Laid
from ithaca.plugins.hierarchies.formulations.mapping import Slot, slots
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.statistics_files import ENERGIES, drawing, statistics

#: The line of a level in a mapping that Timeloop prints, and that of a loop.
_LEVEL = re.compile(r"([A-Za-z_][\w.-]*) \[(.*)\]")
_LOOP = re.compile(r"for (\w+) in \[0:(\d+(?:,\d+)?)\)(?: \(Spatial-([XY])\))?")


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


def printed_row(path: Path, max_bytes: int, architecture: Architecture) -> dict[str, str]:
    """The row of a mapping as Timeloop prints it (``.map.txt``): under every level what it keeps
    and its loops, outermost first, those of its mesh marked; or as its statistics have it.

    Raises `InputError` if it is no such file.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int
        Its largest size.
    architecture : Architecture
        The levels; loops of a node that keeps nothing are of the level that it spreads.
    """
    cells: dict[str, list[str]] = {}
    level = ""
    text = read_text(path, max_bytes)
    for number, line in drawing(text) or enumerate(text.splitlines(), 1):
        if head := _LEVEL.fullmatch(line.strip()):
            level = head[1]
            if f"K:{level}" in cells:
                raise refuse(f"{path} line {number}", f"{level} is there twice; allowed: once")
            cells[f"K:{level}"] = [
                each.partition(":")[0] for each in head[2].split() if ":" in each
            ]
            cells |= {f"T:{level}.factors": [], f"T:{level}.permutation_innermost_first": []}
        elif loop := _LOOP.fullmatch(line.strip(" |")):
            if not level:
                raise refuse(f"{path} line {number}", "a loop is of no level; allowed: below one")
            name, along = loop[1], loop[3]
            kind = f"S:{level}" if along else f"T:{level}"
            cells.setdefault(f"{kind}.factors", []).append(f"{name}={loop[2]}")
            if along:
                cells.setdefault(f"{kind}.{along}", []).append(name)
            else:
                cells[f"{kind}.permutation_innermost_first"].insert(0, name)
        elif " for " in line or line.startswith("for "):
            where = f"{path} line {number}"
            raise refuse(where, f"{quoted(line.strip())} is no loop; allowed: for X in [0:N)")
        elif cells and " [" in line:
            where = f"{path} line {number}"
            raise refuse(where, f"{quoted(line.strip())} is no level; allowed: NAME [ TENSOR:1 ]")
    if not cells:
        raise refuse(
            path,
            "has no level with loops; allowed: a mapping that Timeloop prints (.map.txt), its "
            "statistics (.stats.txt), its mapping as .yaml, or a table of mappings as .csv",
        )
    known = {level.name for level in architecture.levels}
    for node in [name[2:] for name in cells if name.startswith("K:") and name[2:] not in known]:
        own = re.fullmatch("inter_(.*)_spatial", node)
        level = architecture.spreading(own[1] if own else node)
        spread = [name for name in cells if name.startswith(f"S:{node}.")]
        empty = f"K:{node}", f"T:{node}.factors", f"T:{node}.permutation_innermost_first"
        if level in known and not any(cells[name] for name in empty):
            for name in empty:
                del cells[name]
            for name in spread:
                cells.setdefault(f"S:{level}{name[2 + len(node) :]}", []).extend(cells.pop(name))
    stated = {name[2:] for name in cells if name.startswith("K:")}
    keeping = {name for name in stated if cells[f"K:{name}"]}
    lost = sorted(known - stated - _idle(text, keeping, known))
    if lost and stated <= known:
        names = ", ".join(level.name for level in architecture.levels)
        raise refuse(path, f"has no {', '.join(lost)}; allowed: a mapping onto all of {names}")
    if stated < known:
        for name in known - stated:
            cells |= {f"K:{name}": [], f"T:{name}.factors": []}
            cells[f"T:{name}.permutation_innermost_first"] = []
    return {name: " ".join(words) for name, words in cells.items()}


def _idle(text: str, keeping: Set[str], known: Set[str]) -> Set[str]:
    """The levels of which statistics have no energy, where they have those of all levels that keep
    something: the tool leaves out those that no word passes."""
    spent = {field for part, field in statistics(text) if part == ENERGIES}
    return known - spent if keeping <= spent else set()


def directives_row(path: Path, architecture: Architecture) -> dict[str, str]:
    """The row of a mapping file of Timeloop's onto an architecture."""
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
            level = architecture.spreading(str(level))
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
    """Words of a list, of a text with commas or blanks between, or of factors by loop."""
    value = [f"{loop}={n}" for loop, n in value.items()] if isinstance(value, dict) else value
    words = value if isinstance(value, list) else re.sub(r",(?!\d)", " ", str(value)).split()
    return " ".join(map(str, words))


def laid_row(design: MappingDesign, mapping: Laid, workload: str) -> dict[str, str]:
    """The row of a mapping.

    Parameters
    ----------
    design : MappingDesign
        The design that it is of.
    mapping : Mapping
        Its factors, orders and kept tensors.
    workload : str
        Name of its problem file; empty: the nest's.
    """
    nest = design.nest
    between = "" if all(len(loop) == 1 for loop in nest.loops) else " "
    sizes = " ".join(f"{name}={value}" for name, value in nest.settings.items())
    cells = {"workload": workload or nest.name, "sizes": sizes}
    cells |= {name: text for name, text in nest.labels.items() if name == "format"}
    for level in design.architecture.levels:
        cells[f"K:{level.name}"] = " ".join(
            tensor
            for tensor in (access.tensor for access in nest.accesses)
            if tensor in mapping.keeps[level.name]
        )
        factors = {d: {n: Slot(level.name, d) for n in nest.loops} for d in ("", "x", "y")}
        several = {
            d: {
                loop: mapping.trips(slot, loop)
                for loop, slot in slots_of.items()
                if mapping.factor(slot, loop) > 1
            }
            for d, slots_of in factors.items()
        }
        cells[f"T:{level.name}.factors"] = " ".join(
            f"{loop}={n}" for loop, n in several[""].items()
        )
        cells[f"T:{level.name}.permutation_innermost_first"] = between.join(
            reversed(mapping.orders[level.name])
        )
        if Slot(level.name, "x") in slots(design.architecture):
            lanes = several["x"] | several["y"]
            cells[f"S:{level.name}.factors"] = " ".join(f"{loop}={n}" for loop, n in lanes.items())
            cells |= {f"S:{level.name}.{d.upper()}": between.join(several[d]) for d in ("x", "y")}
    return cells
