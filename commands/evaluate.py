"""``ithaca evaluate``: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ithaca.api.options import AsJson, Loops, TableFile
from ithaca.api.request import read_nest
from ithaca.commands.display import console, loop_nest, unit_cells
from ithaca.commands.display import table as shown_table
from ithaca.commands.outcome import check_loops, print_document, say, wrote
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.json_numbers import SCHEMA, refuse
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.data_types import DataType, data_type
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.points import Point, evaluate_points, load_points, points_text
from ithaca.studies.network.loading import is_result, load_answer
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.errors import InputError
from ithaca.workloads.library import is_variant
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.writing import write_text_atomically

#: Metrics the table shows; ``--json`` has all.
SHOWN = ("latency", "prologue", "main", "epilogue", "dsp", "bram18k", "off_chip_words")


def evaluate(
    *,
    source: Annotated[
        str, Argument(metavar="WORKLOAD|RESULT", help="A loop nest (ithaca list workloads); or a result, with all it states.")
    ],
    points: Annotated[
        Path | None, Option("--points", help="CSV with one configuration a row, or a result of solve -o (JSON).")
    ] = None,
    dtype: Annotated[str | None, Option("--dtype", help="fp32, int16 or int8; default: the result's, of a CSV fp32.")] = None,
    loops: Loops = False,
    as_json: AsJson = False,
    table: TableFile = None,
) -> None:
    """``ithaca evaluate``."""
    check_loops(loops=loops, as_json=as_json)
    if is_result(source):
        for option, text in (("--points", points), ("--dtype", dtype)):
            if text is not None:
                raise InputError(f"{option} cannot be given with a result, which states its own; allowed with a workload")
        named = points_of(Path(source))
    elif points is None:
        raise InputError(f"--points is missing; allowed: configurations of {quoted(source)}, or a result in its place")
    else:
        found = load_any_points(points, read_nest(source), None if dtype is None else data_type(dtype))
        named = [(str(number), point) for number, point in enumerate(found, start=1)]
    names, found = [name for name, _ in named], tuple(point for _, point in named)
    if table is not None:
        write_text_atomically(table, points_text(found))
        wrote(table)
    document = {"schema": SCHEMA, "points": evaluate_points(found)}
    if as_json:
        print_document(document)
    else:
        print_points(document, names)
        if loops:
            say("\n".join(loop_nest(*point, f"point {name}: ") for name, point in named))


def points_of(path: Path) -> list[tuple[str, Point]]:
    """The configurations of a result by number, or of a network's by layer, as it states them.

    Raises `InputError` if the file is no result, or has no configuration.
    """
    result = load_answer(path)
    if isinstance(result, NetworkResult):
        solutions = [(layer.layer.name, layer.answer) for layer in result.layers]
    else:
        found = (solution for solution in result.solutions if solution.configuration is not None)
        solutions = [(str(number), solution) for number, solution in enumerate(found, start=1)]
    named = [(name, (systolic(s.problem), s.configuration)) for name, s in solutions if s.configuration is not None]
    if not named:
        raise refuse(path, "best and designs have no tiling; allowed: at least one point")
    return named


def load_any_points(path: Path, nest: LoopNest, data: DataType | None) -> tuple[Point, ...]:
    """Read the points of a CSV file, or of a result file (one that ends in .json), which states its data type.

    Raises `InputError` if the file is malformed, belongs to another workload or data type, or has no points.
    """
    if path.suffix.lower() != ".json":
        return load_points(path, nest, data or data_type("fp32"))
    found = tuple(point for _, point in points_of(path))
    for known in (design for design, _ in found):
        if known.nest.name != nest.name:
            raise refuse(path, f"workload.name is {quoted(known.nest.name)}; allowed: {nest.name}, the workload asked for")
        if not is_variant(known.nest, nest):
            raise refuse(path, f"workload.kernel is {quoted(str(known.nest))}; allowed: {nest}, the workload asked for")
        if data is not None and known.data != data:
            raise refuse(path, f"workload.dtype is {quoted(known.data.name)}; allowed: {data.name}, the data type asked for")
    return found


def print_points(document: dict[str, Any], names: Sequence[str]) -> None:
    """Print one row per point."""
    rows = [
        [
            ("point", name),
            *((name, number(point["metrics"][name])) for name in SHOWN),
            *unit_cells(point["metrics"]),
            ("meets bounds", "yes" if point["meets_bounds"] else "no"),
        ]
        for name, point in zip(names, document["points"], strict=True)
    ]
    console().print(shown_table(rows, left={"meets bounds"}))
