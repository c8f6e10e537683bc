"""``ithaca evaluate``: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from ithaca.api.options import AsJson, DType, Workload
from ithaca.api.request import read_nest
from ithaca.commands.display import console, table
from ithaca.commands.outcome import print_document
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.json_numbers import SCHEMA, refuse
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.data_types import DataType, data_type
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.points import Point, evaluate_points, load_points
from ithaca.results.files import load_result
from ithaca.workloads.library import is_variant
from ithaca.workloads.nest import LoopNest

#: Metrics the table shows; ``--json`` has all.
SHOWN = ("latency", "prologue", "main", "epilogue", "dsp", "bram18k", "off_chip_words", "energy")


def evaluate(
    *,
    workload: Workload,
    points: Annotated[Path, Option("--points", help="CSV with one configuration a row, or a result of solve -o (JSON).")],
    dtype: DType = "fp32",
    as_json: AsJson = False,
) -> None:
    """``ithaca evaluate``."""
    found = load_any_points(points, read_nest(workload), data_type(dtype))
    document = {"schema": SCHEMA, "points": evaluate_points(found)}
    if as_json:
        print_document(document)
    else:
        print_points(document)


def load_any_points(path: Path, nest: LoopNest, data: DataType) -> tuple[Point, ...]:
    """Read the points of a CSV file, or of a result file (one that ends in .json), which states its data type.

    Raises `InputError` if the file is malformed, belongs to another workload or data type, or has no points.
    """
    if path.suffix.lower() != ".json":
        return load_points(path, nest, data)
    result = load_result(path)
    known = systolic(result.problem)
    if known.nest.name != nest.name:
        raise refuse(path, f"workload.name is {quoted(known.nest.name)}; allowed: {nest.name}, the workload asked for")
    if not is_variant(known.nest, nest):
        raise refuse(path, f"workload.kernel is {quoted(str(known.nest))}; allowed: {nest}, the workload asked for")
    if known.data != data:
        raise refuse(path, f"workload.dtype is {quoted(known.data.name)}; allowed: {data.name}, the data type asked for")
    points = tuple(
        (SystolicDesign(known.nest, systolic(s.problem).array, data), s.configuration)
        for s in result.solutions
        if s.configuration is not None
    )
    if not points:
        raise refuse(path, "best and designs have no tiling; allowed: at least one point")
    return points


def print_points(document: dict[str, Any]) -> None:
    """Print one row per point."""
    rows = [
        [
            ("point", str(index)),
            *((name, number(point["metrics"][name])) for name in SHOWN),
            ("meets bounds", "yes" if point["meets_bounds"] else "no"),
        ]
        for index, point in enumerate(document["points"], start=1)
    ]
    console().print(table(rows, left={"meets bounds"}))
