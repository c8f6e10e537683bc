"""`ithaca.evaluate`: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ithaca.commands.api.answers import Answer, NetworkResult, Result
from ithaca.commands.api.keywords import public
from ithaca.commands.api.loading import is_result, opened_layers
from ithaca.commands.api.mapped_points import MappedPoints, evaluate_mappings, mapped_solutions
from ithaca.commands.api.options import DTYPES, LayerName
from ithaca.commands.api.parsing import parse_edition
from ithaca.commands.api.request import changed_machine, machine_changes, read_data_type, read_nest
from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.numbers import counted
from ithaca.files.writing import SCHEMA, write_text_atomically
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.machine import RTL
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.points import Point, evaluate_points, load_points, points_text
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.solution import Solution
from ithaca.workloads.library import is_variant
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class Points(Answer):
    """The answer of `ithaca.evaluate`: configurations with all their metrics, by the exact
    reference."""

    names: tuple[str, ...]
    """Numbers from 1, or layers."""
    points: tuple[Point, ...] = field(repr=False)
    """Design and configuration of each."""

    @property
    def headline(self) -> str:
        return (
            f"{self.points[0][0].nest.name}: {counted(len(self.points), 'configuration')} evaluated"
        )

    @cached_property
    def document(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "points": evaluate_points(self.points)}

    def to_xarray(self) -> xr.Dataset:
        """The metrics of every point as labelled arrays; numbers are doubles."""
        import xarray as xr

        rows, known = self.document["points"], self.points[0][0].vocabulary
        columns = {
            name: ("point", [row[name] for row in rows])
            for name in ("permutation", "edition", "meets_bounds")
        }
        columns["dataflow"] = ("point", [",".join(row["dataflow"]) for row in rows])
        for name, metric in known.items():
            values = [float(row["metrics"][name]) for row in rows]
            columns[name] = ("point", values, {"units": metric.unit, "long_name": metric.meaning})  # type: ignore[assignment]
        return xr.Dataset(columns, {"point": list(self.names)})

    def save_table(self, path: str | Path) -> None:
        """Write the points and their metrics as CSV, which `evaluate` reads."""
        write_text_atomically(path, points_text(self.points))


@public
def evaluate(
    source: Annotated[
        str | PathLike[str] | LoopNest | Answer | None,
        Argument(
            metavar="[WORKLOAD|RESULT]",
            help="A loop nest (ithaca list workloads); or a result, with all it states.",
        ),
    ] = None,
    *,
    layer: LayerName = None,
    points: Annotated[
        str | Path | Result | None,
        Option(
            "--points", help="CSV with one configuration a row, or a result of solve -o (JSON)."
        ),
    ] = None,
    dtype: Annotated[
        str | DataType | None,
        Option("--dtype", help=f"{DTYPES}; default: the result's, of a CSV fp32."),
    ] = None,
    edition: Annotated[
        str | None,
        Option(
            "--edition",
            help="Model edition of a CSV: exact, cycle or odyssey (default: as "
            "points say); with --arch those of map.",
        ),
    ] = None,
    arch: Annotated[
        str | Path | None,
        Option(
            "--arch",
            help="Memory hierarchy (ithaca list architectures; or Timeloop's file, "
            "or folder) that --points map onto.",
        ),
    ] = None,
    sums: Annotated[
        str | None,
        Option(
            "--sums",
            help="Of a CSV of the cycle edition: a PE adds its "
            "neighbour's sum first (AutoSA) or last.",
        ),
    ] = None,
) -> Points | MappedPoints:
    """Compute all metrics of given configurations afresh, by the exact reference."""
    if arch is not None:
        if sums is not None:
            raise InputError("--sums cannot be given with --arch; allowed with systolic arrays")
        return _of_mappings(source, points, dtype, edition, str(arch))
    if source is None:
        raise InputError(
            "WORKLOAD|RESULT is missing; allowed: a loop nest or a "
            "result, or with --arch only --points"
        )
    if isinstance(source, Answer) or (not isinstance(source, LoopNest) and is_result(str(source))):
        for option, given in (
            ("--points", points),
            ("--dtype", dtype),
            ("--edition", edition),
            ("--sums", sums),
        ):
            if given is not None:
                raise InputError(
                    f"{option} cannot be given with a result, which states "
                    "its own; allowed with a workload"
                )
        result = opened_layers(source if isinstance(source, Answer) else str(source), layer)
        solutions = solutions_of(result)
        if any(solution.problem.design.family == "spatial" for _, solution in solutions):
            return mapped_solutions(solutions)
        named = points_of(result)
    elif layer is not None:
        raise InputError(f"--layer is {quoted(layer)}; allowed with a network's result")
    elif points is None:
        raise InputError(
            "--points is missing; allowed: configurations of "
            f"{quoted(str(source))}, or a result in its place"
        )
    else:
        stated = None if edition is None else parse_edition(edition)
        found = load_any_points(
            points,
            read_nest(source),
            None if dtype is None else read_data_type(dtype),
            stated,
            sums,
        )
        named = [(str(number), point) for number, point in enumerate(found, start=1)]
    names, values = zip(*named, strict=True)
    return Points(names, values)


def _of_mappings(
    source: Any, points: Any, dtype: Any, edition: str | None, arch: str
) -> MappedPoints:
    if dtype is not None:
        raise InputError(
            "--dtype cannot be given with --arch, which states its "
            "words; allowed with systolic arrays"
        )
    if points is None or isinstance(points, Result):
        raise InputError(
            "--points is missing; allowed with --arch: a CSV file with one mapping a row"
        )
    if isinstance(source, Answer) or (isinstance(source, str) and is_result(source)):
        raise InputError(
            "a result states its own architecture; allowed with "
            "--arch: a loop nest, or only --points"
        )
    return evaluate_mappings(
        arch, Path(points), edition, None if source is None else read_nest(source)
    )


def solutions_of(result: Result | NetworkResult) -> list[tuple[str, Solution]]:
    """The solutions of a result that have a configuration, by number, or of a network's by layer.

    Raises `InputError` if there is none.
    """
    if isinstance(result, NetworkResult):
        solutions = [
            (layer.layer.name, layer.answer)
            for layer in result.layers
            if layer.answer.configuration is not None
        ]
    else:
        found = (solution for solution in result.solutions if solution.configuration is not None)
        solutions = [(str(number), solution) for number, solution in enumerate(found, start=1)]
    if not solutions:
        raise refuse(result.source, "best and designs have no tiling; allowed: at least one point")
    return solutions


def points_of(result: Result | NetworkResult) -> list[tuple[str, Point]]:
    """The configurations of a result of systolic arrays, by number or layer, as it states them.

    Raises `InputError` if it has no configuration.
    """
    return [
        (name, (systolic(s.problem), s.configuration))
        for name, s in solutions_of(result)
        if s.configuration is not None
    ]


def load_any_points(
    path: str | Path | Result,
    nest: LoopNest,
    data: DataType | None,
    edition: Edition | None = None,
    sums: str | None = None,
) -> tuple[Point, ...]:
    """Read the points of a CSV file, or of a result file (one that ends in .json), which states its
    data type and edition.

    Raises `InputError` if the file is malformed, belongs to another workload or data type, or has
    no points.
    """
    if not isinstance(path, Result) and Path(path).suffix.lower() != ".json":
        stated = machine_changes(sums=sums)
        return load_points(
            Path(path),
            nest,
            data or data_type("fp32"),
            edition,
            changed_machine(RTL, stated),
            stated,
        )
    for option, given in (("--edition", edition), ("--sums", sums)):
        if given is not None:
            raise InputError(
                f"{option} cannot be given with a result, which states "
                "its own; allowed with a CSV file"
            )
    found = tuple(point for _, point in points_of(opened_layers(path)))
    where = path.source if isinstance(path, Result) else path
    for known in (design for design, _ in found):
        if known.nest.name != nest.name:
            raise refuse(
                where,
                f"workload.name is {quoted(known.nest.name)}; allowed: "
                f"{nest.name}, the workload asked for",
            )
        if not is_variant(known.nest, nest):
            raise refuse(
                where,
                f"workload.kernel is {quoted(str(known.nest))}; allowed: "
                f"{nest}, the workload asked for",
            )
        if data is not None and known.data != data:
            raise refuse(
                where,
                f"workload.dtype is {quoted(known.data.name)}; allowed: "
                f"{data.name}, the data type asked for",
            )
    return found
