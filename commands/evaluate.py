"""``ithaca evaluate``: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from typer import Option

from ithaca.commands.display import console
from ithaca.commands.options import AsJson, DType, Workload
from ithaca.commands.outcome import print_document
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.evaluation import evaluation_document
from ithaca.solver.result_files import load_any_points
from ithaca.workloads.library import workload as find_workload
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
    document = evaluate_file(find_workload(workload), points, data_type(dtype))
    if as_json:
        print_document(document)
    else:
        print_points(document)


def evaluate_file(nest: LoopNest, path: Path, data: DataType) -> dict[str, Any]:
    """Evaluate every point of a CSV file, or every configuration of a result, by the exact reference."""
    return evaluation_document(load_any_points(path, nest, data), data)


def print_points(document: dict[str, Any]) -> None:
    """Print one row per point."""
    table = Table("point", *SHOWN, "meets bounds")
    for column in table.columns[:-1]:
        column.justify, column.no_wrap = "right", True
    for index, point in enumerate(document["points"], start=1):
        metrics = point["metrics"]
        cells = (number(metrics[name]) for name in SHOWN)
        table.add_row(str(index), *cells, "yes" if point["meets_bounds"] else "no")
    console().print(table)
