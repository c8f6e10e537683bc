"""Points: configurations of designs, read from a CSV file with the columns of ``golden/*.csv``,
evaluated, and written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from ithaca.files.clock import in_order, keeping, poll
from ithaca.files.csv_text import csv_text, read_rows, records, table_text
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, refuse
from ithaca.files.numbers import json_ratio
from ithaca.files.reading import parse_json, read_text
from ithaca.files.words import Rows, parse_choice
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.algebra.rational_arrays import RATIONAL_ARRAYS, Rationals
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DataType
from ithaca.formulations.machine import LEAST, LETTERS, RTL, Machine, Sums
from ithaca.formulations.platform import Platform
from ithaca.formulations.systolic.buffering import doubled_words, stated_buffers
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import METRICS, by_part, metric_values
from ithaca.formulations.systolic.point_settings import PointSetting, technology_text
from ithaca.formulations.systolic.ports import port_links
from ithaca.formulations.systolic.systolic_array import (
    DramAccess,
    Edition,
    SystolicArray,
)
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.formulations.systolic.two_level import checked
from ithaca.workloads.formats import with_formats
from ithaca.workloads.kernel_files import with_sparsity
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest

#: Largest point file (bytes).
MAX_BYTES = 64 * 2**20

#: Points evaluated at once.
BATCH = 4096

#: The columns a point needs. ``edition`` and those of the machine are optional; others are ignored
#: unless they are written like these, or are metrics.
COLUMNS = ("dataflow", "reuse", "sizes", "array_part", "latency_hiding", "simd", "pack")

#: Columns that say on what machine a point runs (`ithaca.formulations.machine.Machine`).
MACHINE = (*LEAST, "sums", "fitted_fifos")

#: Columns that a file may have beside those it needs.
OPTIONAL = (
    *("edition", "ports", "array_part_l2", "host_serialize", "in_uram", "block_sparse", "format"),
    "double_buffer",
    *MACHINE,
    *("dtype", "technology"),
)

#: Columns of tables of points that say what follows from others.
FOLLOWING = ("app", "descriptor", "meets_bounds", *METRICS)

#: How a column states what is true or not.
BOOLEANS = ("true", "false")

_INTEGER = re.compile(r"-?[0-9]{1,300}")

#: Designs derived so far; a file has few designs and many points.
_Designs = dict[tuple[object, ...], SystolicArray]


#: A design and a configuration of it.
Point = tuple[SystolicDesign, Configuration]


def load_points(
    path: Path | Rows,
    nest: LoopNest | None,
    data: DataType | None,
    edition: Edition | None = None,
    machine: Machine | None = None,
    stated: Collection[str] = (),
    *,
    platform: Platform | None = None,
) -> tuple[Point, ...]:
    """Read points of a workload from a CSV file, or of rows in Python, one per row.

    The columns ``sizes``, ``array_part``, ``latency_hiding`` and ``pack`` (per buffer module) hold
    JSON objects of integers; ``sizes`` may set the workload's parameters, too. Values are taken as
    given: only what the model has no meaning for is refused. Rows are counted as lines of the file
    are.

    Parameters
    ----------
    path : Path or Rows
        The file or rows.
    nest : LoopNest or None
        The workload; each row has extents of its own. None, of a file: the column ``app`` names it.
    data : DataType or None
        The data type; None: what the column ``dtype`` says, or fp32.
    edition : Edition, optional
        The edition; by default what the column ``edition`` says.
    machine : Machine, optional
        The machine, but for what the columns of `MACHINE` say.
    stated : Collection of str, optional
        Names of the machine that may be no columns, as options state them.
    platform : Platform, optional
        The device, whose clock, energies, machine and memory hold; None: what the column
        ``technology`` says, or the usual ones without memory.

    Returns
    -------
    tuple of Point
        One per row.

    Raises
    ------
    InputError
        If the file or a row is malformed.
    """
    if isinstance(path, Path):
        text = read_text(path, MAX_BYTES)
    else:
        assert nest is not None
        text, path = table_text([_stated(row, nest) for row in records(path)]), Path("points")
    fixed = {} if edition is None else {"edition": edition.value}
    arrays: _Designs = {}
    points: list[Point] = []
    setting = PointSetting(data, machine, platform)
    with keeping(lambda: tuple(points)):
        for where, cells in read_rows(text, path, partial(_header, path=path, stated=stated)):
            poll()
            points.append(_point(cells | fixed, nest, setting, arrays, where))
    return tuple(points)


def _stated(row: Mapping[str, Any], nest: LoopNest) -> dict[str, Any]:
    """A row in Python: as in a file, as results state configurations, or as their tables do; its
    extents are the nest's unless it says others."""
    own = {"sizes": nest.settings, **row, **row.get("tiling", {})}
    for column, name in (("t1", "array_part"), ("t2", "latency_hiding")):
        factors = {loop: own.get(f"{column}.{loop}") for loop in nest.loops}
        known = {loop: int(n) for loop, n in factors.items() if n is not None}
        if known:
            own.setdefault(name, known)
    if "simd" not in own:
        hidden = dict(own.get("latency_hiding", {}))
        own |= {"simd": hidden.pop(nest.simd, 1), "latency_hiding": hidden}
    own.setdefault("reuse", own.get("permutation", ""))
    if not isinstance(own.get("dataflow", ""), str):
        own["dataflow"] = ",".join(own["dataflow"])
    return {column: own[column] for column in (*COLUMNS, *OPTIONAL) if column in own}


def _header(row: list[str], path: Path, stated: Collection[str]) -> list[str]:
    header = [name.strip() for name in row]
    for column in header:
        if column in stated:
            raise refuse(
                path,
                f"column '{column}' says what an option of the machine does; allowed: one of them",
            )
        near = get_close_matches(LETTERS.get(column, column.lower()), OPTIONAL, n=1, cutoff=0.7)
        if near and column not in (*COLUMNS, *OPTIONAL) and column not in METRICS:
            raise refuse(
                path,
                f"column {quoted(column)} is unknown; allowed: {near[0]}, if "
                "that is meant, or another name",
            )
    for column in (*COLUMNS, *OPTIONAL):
        if header.count(column) > 1:
            raise refuse(path, f"column '{column}' occurs twice; allowed: every column once")
        if column not in header and column in COLUMNS:
            raise refuse(
                path, f"column '{column}' is missing; allowed: {', '.join(COLUMNS)}, edition"
            )
    return header


def _point(
    row: Mapping[str, str],
    nest: LoopNest | None,
    setting: PointSetting,
    arrays: _Designs,
    where: str,
) -> Point:
    with errors_at(where):
        if nest is None:
            nest = workload(row.get("app", "").strip())
        blocks = row.get("block_sparse", "").strip() or None
        sized = with_sparsity(nest.with_sizes(_sizes(row, nest)), blocks, "block_sparse")
        formats = row.get("format", "").strip() or None
        sized = with_formats(sized, formats, "format")
        array = _array(row, sized, arrays)
        pack = group_packs(array, _integers(row, "pack"))
        tiling = Tiling(
            _integers(row, "array_part"),
            _integers(row, "latency_hiding"),
            _integer(row, "simd"),
            pack,
            _stated_integers(row, "ports"),
            _stated_integers(row, "array_part_l2"),
        )
        own = {name: _of_machine(row, name) for name in MACHINE if row.get(name, "").strip()}
        uram = parse_choice("in_uram", row.get("in_uram") or "false", BOOLEANS) == "true"
        device = setting.platform
        has = None if device is None else device.resources.get("uram")
        if uram and device is not None and (has is None or not has.total):
            raise InputError(f"in_uram is true; allowed: false, as {device.name} has no uram")
        data = setting.words(row).of(sized)
        technology, memory = setting.technology(row, data, array, tiling.ports)
        machine = replace(setting.machine or technology.machine, **own)
        technology = replace(technology, machine=machine, uram=uram)
        design = SystolicDesign(sized, array, data, SpaceOptions(ports=memory), technology)
        return design, design.configuration(tiling)


def _array(row: Mapping[str, str], nest: LoopNest, arrays: _Designs) -> SystolicArray:
    loops, permutation, edition = (
        row["dataflow"],
        row["reuse"],
        row.get("edition", Edition.EXACT.value),
    )
    laid_out = parse_choice("host_serialize", row.get("host_serialize") or "true", BOOLEANS)
    ports, two_level = (bool(_stated_integers(row, c)) for c in ("ports", "array_part_l2"))
    dram = DramAccess(ports, laid_out == "true", two_level)
    doubled = row.get("double_buffer", "").strip()
    key = (
        nest.name,
        loops,
        permutation,
        edition,
        nest.parameters,
        nest.once,
        nest.sparse,
        nest.formats,
        dram,
        doubled,
    )
    if key not in arrays:
        editions = [e.value for e in Edition]
        parse_choice("edition", edition, editions)
        dataflow = find_dataflow(nest, tuple(loop.strip() for loop in loops.split(",")))
        if dram.ports and edition == Edition.ODYSSEY.value:
            raise InputError("edition odyssey has no ports; allowed: cycle or exact")
        checked(two_level, Edition(edition), ports or None)
        array = derive(nest, dataflow, permutation, Edition(edition), dram)
        arrays[key] = stated_buffers(array, doubled, "double_buffer")
    return arrays[key]


def _sizes(row: Mapping[str, str], nest: LoopNest) -> dict[str, int]:
    sizes = _integers(row, "sizes")
    missing = [loop for loop in nest.loops if loop not in sizes]
    if missing:
        raise InputError(f"sizes misses '{missing[0]}'; allowed: exactly {', '.join(nest.loops)}")
    return sizes


def _integers(row: Mapping[str, str], column: str) -> dict[str, int]:
    """A JSON object of integers; their range is checked by who uses them."""
    numbers = parse_json(row[column], column)
    if not isinstance(numbers, dict):
        raise InputError(f"{column} is {quoted(numbers)}; allowed: a JSON object of integers")
    for name, value in numbers.items():
        if type(value) is not int:
            raise InputError(f"{column}.{name} is {quoted(value)}; allowed: an integer")
    return numbers


def _stated_integers(row: Mapping[str, str], column: str) -> dict[str, int]:
    """The integers of an optional column; none where a file states none."""
    return _integers(row, column) if row.get(column, "").strip() else {}


def _integer(row: Mapping[str, str], column: str) -> int:
    text = row[column].strip()
    if not _INTEGER.fullmatch(text):
        raise InputError(f"{column} is {quoted(text)}; allowed: an integer")
    return int(text)


def _of_machine(row: Mapping[str, str], column: str) -> Any:
    if column in LEAST:
        return _integer(row, column)
    if column == "fitted_fifos":
        return parse_choice(column, row[column].strip().lower(), BOOLEANS) == "true"
    return Sums(parse_choice(column, row[column].strip(), [each.value for each in Sums]))


# -- evaluated -------------------------------------------------------------------------


def evaluate_points(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Evaluate points exactly, on arrays of rationals: those of a design together.

    Returned is a dictionary per point, in order, ready for JSON: the design (``dataflow``,
    ``permutation``, ``edition``), its ``metrics`` with those of its parts, and
    ``meets_bounds``.
    """
    numbered: dict[tuple[object, ...], list[tuple[int, Point]]] = {}
    for place, point in enumerate(points):
        design = point[0]
        numbered.setdefault(
            (id(design.array), design.data, design.technology, design.kept), []
        ).append((place, point))
    rows: dict[int, dict[str, Any]] = {}
    with keeping(lambda: in_order(rows)):
        for together in numbered.values():
            for begin in range(0, len(together), BATCH):
                poll()
                places, batch = zip(*together[begin : begin + BATCH], strict=True)
                rows |= zip(places, _evaluated(batch), strict=True)
    return in_order(rows)


def _evaluated(points: Sequence[Point]) -> Iterator[dict[str, Any]]:
    """Points of one design, whose extents may differ."""
    design, count = points[0][0], len(points)
    quantities = [{**each.extents, **configuration} for each, configuration in points]
    values = {name: Rationals.of([known[name] for known in quantities]) for name in quantities[0]}
    costs = evaluate(
        design.array, values, design.data, RATIONAL_ARRAYS, design.technology, dict(design.kept)
    )

    def rows(columns: Mapping[str, Rationals]) -> Iterator[dict[str, Any]]:
        numbers = (
            [json_ratio(over, under) for over, under in column.entries(count)]
            for column in columns.values()
        )
        table = zip(*numbers, strict=True) if columns else repeat((), count)
        return (dict(zip(columns, row, strict=True)) for row in table)

    parts = {name: rows(columns) for name, columns in by_part(costs).items()}
    bounds = np.broadcast_to(costs.meets_bounds, (count,)).tolist()
    meets_bounds = (ok and _shares_ports(*point) for ok, point in zip(bounds, points, strict=True))
    for metrics, meets in zip(rows(metric_values(costs)), meets_bounds, strict=True):
        yield {
            "dataflow": list(design.array.dataflow),
            "permutation": design.array.permutation,
            "edition": design.array.edition.value,
            "metrics": {**metrics, **{name: next(split) for name, split in parts.items()}},
            "meets_bounds": meets,
        }


def _shares_ports(design: SystolicDesign, configuration: Configuration) -> bool:
    """Whether lanes are shared out among memory ports by the rules of these."""
    links = [] if design.options.ports is None else port_links(design.array)
    values = {**design.extents, **configuration}
    return all(bool(link.holds(values, FRACTION)) for link in links)


# -- written ---------------------------------------------------------------------------


def points_text(points: Sequence[Point]) -> str:
    """The table that `load_points` reads: one point a row, its machine where one is not the
    default, and every metric known."""
    known, machines = points[0][0].vocabulary, [design.technology.machine for design, _ in points]
    own = [
        name
        for name in MACHINE
        if any(getattr(machine, name) != getattr(RTL, name) for machine in machines)
    ]

    arrays = [design.array for design, _ in points]
    stated = {
        "ports": any(array.split_groups for array in arrays),
        "array_part_l2": any(array.dram.two_level for array in arrays),
    }
    optional = [column for column, some in stated.items() if some]
    in_uram = any(design.technology.uram for design, _ in points)
    bursts = any(not array.dram.serialized for array in arrays)
    blocked = any(design.nest.sparse is not None for design, _ in points)
    formats = any(design.nest.formats for design, _ in points)
    single = any(array.single for array in arrays)
    typed = any(design.data.stated != "fp32" for design, _ in points)
    prices = [technology_text(d.technology, d.data.energies()) for d, _ in points]

    def row(point: Point, costs: Mapping[str, Any], price: str) -> dict[str, object]:
        (design, configuration), metrics = point, costs["metrics"]
        tiling = design.tiling(configuration)
        machine = {name: getattr(design.technology.machine, name) for name in own}
        return {
            "app": design.nest.name,
            "descriptor": "",  # derived, not described
            "dataflow": ",".join(costs["dataflow"]),
            "reuse": costs["permutation"],
            "edition": costs["edition"],
            "sizes": json.dumps(design.nest.settings),
            "array_part": json.dumps(dict(tiling.array_part)),
            "latency_hiding": json.dumps(dict(tiling.latency_hiding)),
            "simd": tiling.simd,
            "pack": json.dumps(tiling.module_packs(design.array)),
            **{c: json.dumps(dict(n)) if (n := getattr(tiling, c)) else "" for c in optional},
            **({"host_serialize": str(design.array.dram.serialized).lower()} if bursts else {}),
            **({"in_uram": str(design.technology.uram).lower()} if in_uram else {}),
            **({"block_sparse": design.nest.sparse or ""} if blocked else {}),
            **({"format": design.nest.labels.get("format", "")} if formats else {}),
            **({"double_buffer": doubled_words(design.array)} if single else {}),
            **{name: getattr(value, "value", value) for name, value in machine.items()},
            **({"dtype": design.data.stated} if typed else {}),
            **({"technology": price} if any(prices) else {}),
            **{name: metrics[name] for name in known},
            "meets_bounds": costs["meets_bounds"],
        }

    rows = list(map(row, points, evaluate_points(points), prices))
    return csv_text(list(rows[0]), (list(each.values()) for each in rows))
