"""Mappings as rows of a CSV file, with the columns of ``golden/spatial/*.csv``: read, and evaluated
many at once.

A row has ``workload`` (the problem file ``problem_<workload>.yaml`` beside the architecture), per
level ``T:<level>.factors`` (``M=2 C=4``) and ``T:<level>.permutation_innermost_first``
(``SPCNMQR``), and for levels with a mesh inside ``S:<level>.factors``, ``S:<level>.X`` and
``S:<level>.Y`` (loops along each direction).

``sizes`` (``M=64 C=64``) may set others than the workload's. What levels keep is the architecture's
to say; ``K:<level>`` lists it row by row. In files that have counts, such as ``GLB.Inputs.reads``,
a level keeps the tensors that its columns name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ithaca.files.clock import in_order, keeping, poll
from ithaca.files.csv_text import csv_text, read_rows, records, table_text
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.files.numbers import json_ratio
from ithaca.files.reading import read_text
from ithaca.files.words import Rows
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import fitted, keeps_of, namesake
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import Slot, slots
from ithaca.plugins.hierarchies.formulations.point_rows import (
    directives_row,
    laid_row,
    printed_row,
    stated_row,
    tiled_row,
)
from ithaca.plugins.hierarchies.formulations.sparse.formats import UnsuitedError
from ithaca.plugins.hierarchies.formulations.sparse.model import SparseModel
from ithaca.plugins.hierarchies.formulations.sparse.parts import Sparsity
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel
from ithaca.workloads.formats import with_formats
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.problem_files import read_problem

#: Largest file of points (bytes).
MAX_BYTES = 64 << 20

#: Points evaluated at once.
BATCH = 4096

#: Columns that say what levels keep, where files have them.
_COUNTED = re.compile(r"(\w+)\.(\w+)\.(?:reads|fills|updates|capacity)")

#: Columns of a row beside those of levels.
_ROW = ("workload", "sizes", "format", "valid")

_FACTOR = re.compile(r"([A-Za-z_]\w*?)=?([0-9]{1,9})(?:,([0-9]{1,9}))?")


@dataclass(frozen=True)
class SpatialPoint:
    """A mapping of a nest onto an architecture."""

    design: SpatialDesign
    """Nest and architecture."""
    mapping: LoopMapping
    """The mapping."""
    workload: str = ""
    """The name of the problem file that the nest is from; the nest's, where it is from none."""


def load_points(
    path: str | Path | Rows, architecture: Architecture, nests: Path | LoopNest
) -> tuple[SpatialPoint, ...]:
    """Read mappings from a CSV file, from a mapping file of Timeloop's, or of rows in Python.

    Parameters
    ----------
    path : str or Path or Rows
        The file or rows.
    architecture : Architecture
        The architecture.
    nests : Path or LoopNest
        The nest, or the folder with the problem file of every row's workload.

    Returns
    -------
    tuple of SpatialPoint
        One per row.

    Raises
    ------
    InputError
        If the file or a row is malformed, or states no mapping onto the architecture.
    """
    if isinstance(path, str | Path) and Path(path).suffix.lower() in (".yaml", ".yml"):
        file = Path(path)
        text = table_text([stated_row(directives_row(file, architecture), architecture)])
    elif isinstance(path, str | Path) and Path(path).suffix.lower() == ".txt":
        file = Path(path)
        text = table_text([stated_row(printed_row(file, MAX_BYTES, architecture), architecture)])
    elif isinstance(path, str | Path):
        file = Path(path)
        text = read_text(file, MAX_BYTES)
    else:
        file, stated = Path("points"), records(path)
        text = table_text([stated_row(tiled_row(row), architecture) for row in stated])
    points: list[SpatialPoint] = []
    designs: dict[Any, SpatialDesign] = {}
    reader, usual = _RowReader(architecture, file), keeps_of(namesake(architecture))
    with keeping(lambda: tuple(points)):
        for where, row in read_rows(text, file, reader.check):
            poll()
            with errors_at(where):
                keeps, workload = reader.keeps(row) or usual, row.get("workload", "")
                sizes, formats = (row.get(name, "").strip() for name in ("sizes", "format"))
                kept = tuple(sorted(keeps.items(), key=lambda item: item[0]))
                key = workload, sizes, formats, kept
                if key not in designs:
                    nest = (
                        nests
                        if isinstance(nests, LoopNest)
                        else read_problem(_problem_file(nests, workload))
                    )
                    nest = nest.with_sizes(_trips(sizes, "sizes"))
                    nest = with_formats(nest, formats or None, "format")
                    hardware = fitted(architecture.keeping(keeps), nest, dense=False)
                    designs[key] = SpatialDesign(nest, hardware)
                mapping = reader.mapping(row, designs[key])
                points.append(SpatialPoint(designs[key], mapping, workload))
    return tuple(points)


def is_column(name: str) -> bool:
    """Whether a column of a table of mappings is read, or follows from others."""
    stated = name.startswith(("T:", "S:", "K:")) or name in _ROW
    return stated or _COUNTED.fullmatch(name) is not None


def _problem_file(folder: Path, workload: str) -> Path:
    if not re.fullmatch(r"[\w.-]+", workload):
        raise InputError(
            f"workload is {quoted(workload)}; allowed: the name of a "
            "problem file, as in problem_<name>.yaml"
        )
    return folder / f"problem_{workload}.yaml"


class _RowReader:
    """Reads rows of one file."""

    def __init__(self, architecture: Architecture, file: Path) -> None:
        self.architecture, self.file = architecture, file
        self.columns = {slot: self._columns(slot) for slot in slots(architecture)}

    def check(self, header: list[str]) -> list[str]:
        """Refuse columns that are missing, of no level or there twice."""
        file, levels = self.file, self.architecture.levels
        for column in header:
            if header.count(column) > 1:
                raise refuse(
                    file, f"column {quoted(column)} occurs twice; allowed: every column once"
                )
        known = [
            name
            for level in levels
            for d in ("", "x")
            for name in self._columns(Slot(level.name, d))
        ]
        known += [f"K:{level.name}" for level in levels]
        for slot, columns in self.columns.items():
            if slot.temporal and columns[0] not in header:
                raise refuse(
                    file, f"column {quoted(columns[0])} is missing; allowed: {', '.join(known)}"
                )
        for column in header:
            if column.startswith(("T:", "S:", "K:")) and column not in known:
                raise refuse(file, f"column {quoted(column)} is of no level{among(column, known)}")
        return header

    def _columns(self, slot: Slot) -> tuple[str, ...]:
        if slot.temporal:
            return f"T:{slot.level}.factors", f"T:{slot.level}.permutation_innermost_first"
        return f"S:{slot.level}.factors", f"S:{slot.level}.X", f"S:{slot.level}.Y"

    def keeps(self, row: Mapping[str, str]) -> dict[str, frozenset[str]]:
        """The tensors that levels keep, as far as the row says; where its counts are empty, as the
        file says."""
        kept: dict[str, set[str]] = {}
        counted = [
            (match[1], match[2], row[c].strip()) for c in row if (match := _COUNTED.fullmatch(c))
        ]
        stated = [each for each in counted if each[2]] or counted
        for level in self.architecture.levels if counted else ():
            kept[level.name] = {tensor for name, tensor, _ in stated if name == level.name}
        for level in self.architecture.levels:
            if f"K:{level.name}" in row:
                kept[level.name] = set(row[f"K:{level.name}"].split())
        return {name: frozenset(tensors) for name, tensors in kept.items()}

    def mapping(self, row: Mapping[str, str], design: SpatialDesign) -> LoopMapping:
        """The mapping that a row states."""
        nest, factors, orders, remainders = design.nest, {}, {}, {}
        meshless = [
            level.name
            for level in self.architecture.levels
            if Slot(level.name, "x") not in self.columns
        ]
        for column in (f"S:{name}.factors" for name in meshless):
            if any(trips > 1 for trips in _trips(row.get(column, ""), column).values()):
                raise InputError(
                    f"{column} is {quoted(row[column])}, but there is no "
                    "mesh; allowed: factors of 1"
                )
        for slot, columns in self.columns.items():
            fewer: dict[str, int] = {}
            trips = _trips(row.get(columns[0], ""), columns[0], fewer)
            trips = {loop: n or nest.sizes.get(loop, 0) for loop, n in trips.items()}  # 0: all
            if slot.temporal:
                factors[slot], remainders[slot] = trips, fewer
                orders[slot.level] = _order(row.get(columns[1], ""), nest, columns[1])
                continue
            along = {
                name[-1].lower(): _loops(row.get(name, ""), nest, name) for name in columns[1:]
            }
            if both := set(along["x"]) & set(along["y"]):
                raise InputError(
                    f"{columns[1]} and {columns[2]} have {min(both)}; allowed: "
                    "every loop along one direction"
                )
            if lost := sorted(
                loop
                for loop, n in trips.items()
                if n > 1 and loop not in (*along["x"], *along["y"])
            ):
                raise InputError(
                    f"{columns[0]} has {lost[0]}, which has no direction; "
                    f"allowed: {columns[1]} or {columns[2]}"
                )
            own = along[slot.direction]  # in their order, which sparse tensors depend on
            factors[slot], remainders[slot] = (
                {loop: each[loop] for loop in own if loop in each} for each in (trips, fewer)
            )
        keeps = {
            level.name: design.keeps(place)
            for place, level in enumerate(design.architecture.levels)
        }
        remainders = {slot: fewer for slot, fewer in remainders.items() if fewer}
        stated = LoopMapping(factors, orders, keeps, remainders)
        stated.check(nest, design.architecture)
        return stated


def _trips(text: str, column: str, fewer: dict[str, int] | None = None) -> dict[str, int]:
    """Trips by loop; those of last iterations that are ``fewer`` are added there."""
    factors: dict[str, int] = {}
    for part in text.split():
        match = _FACTOR.fullmatch(part)
        if match is None or match[1] in factors or (match[3] and fewer is None):
            raise InputError(f"{column} has {quoted(part)}; allowed: such as M=4, every loop once")
        factors[match[1]] = int(match[2])
        if fewer is not None and match[3] and match[3] != match[2]:
            fewer[match[1]] = int(match[3])
    return factors


def _loops(text: str, nest: LoopNest, column: str) -> tuple[str, ...]:
    """Loops in a row: names with blanks between, or single letters."""
    names = text.split()
    if not all(name in nest.loops for name in names):
        names = list("".join(names))
    for name in names:
        if name not in nest.loops or names.count(name) > 1:
            raise InputError(
                f"{column} is {quoted(text)}; allowed: some of {', '.join(nest.loops)}, each once"
            )
    return tuple(names)


def _order(text: str, nest: LoopNest, column: str) -> tuple[str, ...]:
    """An order, outermost first; loops that are not named are outermost."""
    inner = _loops(text, nest, column)
    return (*(loop for loop in nest.loops if loop not in inner), *reversed(inner))


# -- evaluated ---------------------------------------------------------------------------


def evaluate_points(points: Sequence[SpatialPoint]) -> list[dict[str, Any]]:
    """Evaluate mappings exactly, those of a design together on arrays of rationals.

    Returns
    -------
    list of dict
        One per point, in order: ``valid``, ``reason`` (why the mapping does not fit; None where it
        does) and ``metrics``: all of the design's, and by the names of ``golden/spatial``:
        ``cycles``, ``compute_cycles``, ``mac_instances``, ``energy_pJ``, ``<level>.energy_pJ``,
        ``utilization_pct``. Ready for JSON.
    """
    together: dict[int, list[int]] = {}
    for place, point in enumerate(points):
        together.setdefault(id(point.design), []).append(place)
    rows: dict[int, dict[str, Any]] = {}
    with keeping(lambda: in_order(rows)):
        for places in together.values():
            for begin in range(0, len(places), BATCH):
                poll()
                batch = places[begin : begin + BATCH]
                figures = _evaluated(
                    points[batch[0]].design, [points[place].mapping for place in batch]
                )
                rows |= zip(batch, figures, strict=True)
    return in_order(rows)


def model_of(
    design: SpatialDesign,
    mappings: Sequence[LoopMapping],
    kind: type[TimeloopModel] = TimeloopModel,
) -> TimeloopModel:
    """The model of a kind at given mappings of a design, exactly, whatever their orders.

    Parameters
    ----------
    design : SpatialDesign
        The design.
    mappings : sequence of Mapping
        Its mappings.
    kind : type, optional
        The model.
    """
    levels, loops = design.architecture.levels, design.nest.loops

    def factor(slot: Slot, loop: str) -> Rationals:
        each = [mapping.factor(slot, loop) for mapping in mappings]
        return Rationals(each[0]) if len(set(each)) == 1 else Rationals.of(each)

    def most(level: int, loop: str) -> int:
        x, y = (Slot(levels[level].name, along) for along in "xy")
        return max(mapping.factor(x, loop) * mapping.factor(y, loop) for mapping in mappings)

    places = [
        np.array([[m.orders[level.name].index(loop) for loop in loops] for m in mappings])
        for level in levels
    ]

    def inside(level: int, inner: str, outer: str) -> Any:
        each = places[level][:, loops.index(inner)] > places[level][:, loops.index(outer)]
        return int(each[0]) if (each == each[0]).all() else Rationals.of(map(int, each))

    keeps = tuple(
        {tensor: int(tensor in mappings[0].keeps[level.name]) for tensor in design.tensors}
        for level in levels
    )

    def average(slot: Slot, loop: str) -> Rationals:
        return Rationals.of(mapping.average(slot, loop) for mapping in mappings)

    def share(level: int, loop: str) -> Rationals:
        return Rationals.of(mapping.share(levels[level].name, loop) for mapping in mappings)

    mapping = design.numbers_of(RATIONAL_ARRAYS, factor, inside, keeps, most)
    if any(each.remainders for each in mappings):
        ended = design.numbers_of(RATIONAL_ARRAYS, average, inside, keeps, most)
        mapping = replace(ended, whole=mapping, share=share)
    return kind(design.architecture, design.nest, mapping)


def _evaluated(design: SpatialDesign, mappings: Sequence[LoopMapping]) -> Iterator[dict[str, Any]]:
    if not isinstance(design.architecture.sparsity, Sparsity):
        yield from _rows(design, model_of(design, mappings), len(mappings))
        return
    for mapping in mappings:
        try:
            yield from _rows(design, SparseModel(design, mapping), 1)
        except UnsuitedError as error:
            yield {"valid": False, "reason": str(error), "metrics": {}}


def _rows(design: SpatialDesign, model: TimeloopModel, count: int) -> Iterator[dict[str, Any]]:
    levels = design.architecture.levels
    columns = {name: model.metric(name) for name in design.vocabulary}
    columns |= {
        "cycles": model.latency,
        "compute_cycles": model.steps,
        "mac_instances": model.pes,
        "energy_pJ": model.energy,
    }
    columns |= {
        f"{level.name}.energy_pJ": model.level_energy(place) for place, level in enumerate(levels)
    }
    most = model.latency * design.architecture.compute.instances
    nothing = isinstance(most, Fraction) and not most  # all multiplications are skipped
    columns["utilization_pct"] = Fraction(0) if nothing else model.computes * 100 / most
    columns |= model.details
    numbers = (
        [json_ratio(over, under) for over, under in _entries(column, count)]
        for column in columns.values()
    )
    metrics = zip(*numbers, strict=True)
    reasons = [""] * count
    for rule in model.rules(design.options.within_parent):
        for place, (over, under) in enumerate(_entries(rule.used, count)):
            if not reasons[place] and over > rule.bound * under:
                used = json_ratio(over, under)
                reasons[place] = (
                    f"couldn't map level {rule.level}: {rule.what.format(used, rule.bound)}"
                )
    for reason, row in zip(reasons, metrics, strict=True):
        yield {
            "valid": not reason,
            "reason": reason or None,
            "metrics": dict(zip(columns, row, strict=True)),
        }


def _entries(column: Rationals | Fraction, count: int) -> Iterable[tuple[int, int]]:
    return column.entries(count) if isinstance(column, Rationals) else [column.as_integer_ratio()]


# -- written ---------------------------------------------------------------------------


def points_text(points: Sequence[SpatialPoint]) -> str:
    """The table that `load_points` reads: one mapping onto the same architecture a row, with every
    metric of the model."""
    figures = evaluate_points(points)
    rows = [
        {
            **laid_row(point.design, point.mapping, point.workload),
            "valid": int(row["valid"]),
            **row["metrics"],
        }
        for point, row in zip(points, figures, strict=True)
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return csv_text(columns, ([row.get(name, "") for name in columns] for row in rows))
