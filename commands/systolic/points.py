"""Configurations of systolic arrays, evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ithaca.commands.api.live_line import note
from ithaca.commands.api.opening import opened_layers, solutions_of
from ithaca.commands.api.points import EvaluatedPoints, in_time, numbers_of
from ithaca.commands.display import loop_nest
from ithaca.files.csv_text import unread_columns
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.files.numbers import number
from ithaca.files.words import Rows
from ithaca.files.writing import write_text_atomically
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.families import profile_of
from ithaca.formulations.family import Breakdown
from ithaca.formulations.machine import RTL
from ithaca.formulations.platform import Platform
from ithaca.formulations.platform_files import read_platform
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.design import systolic
from ithaca.formulations.systolic.options import changed_machine, machine_changes
from ithaca.formulations.systolic.points import (
    COLUMNS,
    FOLLOWING,
    OPTIONAL,
    Point,
    evaluate_points,
    load_points,
    points_text,
)
from ithaca.formulations.systolic.question import read_data_type, read_edition
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.results.wording import unit_cells
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.workloads.library import is_variant, read_nest
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    import xarray as xr

#: Metrics that tables show; documents have all.
SHOWN = ("latency", "prologue", "main", "epilogue", "dsp", "bram18k", "off_chip_words")


@dataclass(frozen=True, repr=False)
class Points(EvaluatedPoints):
    """Configurations of systolic arrays with all their metrics, by the exact reference.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.evaluate(r)
    <Points: mm: 1 configuration evaluated>
    """

    points: tuple[Point, ...] = field(repr=False)
    """Design and configuration of each."""

    @classmethod
    def of_points(
        cls, read: Callable[[], Sequence[Point]], names: Sequence[str] | None = None
    ) -> Points:
        """Read points and evaluate them as far as time allows; their names are numbers from 1
        unless others are stated.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> points = ithaca.evaluate(r)
        >>> type(points).of_points(lambda: points.points, ["mine"]).names
        ('mine',)
        """
        points, rows, complete = in_time(read, evaluate_points)
        own = numbers_of(rows) if names is None else tuple(names[: len(rows)])
        return cls(own, rows, points, complete=complete)

    @property
    def headline(self) -> str:
        return f"{self.points[0][0].nest.name}: {self.extent}"

    def to_xarray(self) -> xr.Dataset:
        """The metrics of every point as labelled arrays; numbers are doubles.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> float(ithaca.evaluate(r).to_xarray()["latency"][0])
        58.0
        """
        import xarray as xr

        rows, known = self.rows, self.points[0][0].vocabulary
        columns = {
            name: ("point", [row[name] for row in rows])
            for name in ("permutation", "edition", "meets_bounds")
        }
        columns["dataflow"] = ("point", [",".join(row["dataflow"]) for row in rows])
        for name, metric in known.items():
            values = [float(row["metrics"][name]) for row in rows]
            columns[name] = ("point", values, {"units": metric.unit, "long_name": metric.meaning})  # type: ignore[assignment]
        return xr.Dataset(columns, {"point": list(self.names)})

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """The cells of a table with a row for each point, as pairs of column and text."""
        return [
            [
                ("point", name),
                *((name, number(point["metrics"][name])) for name in SHOWN),
                *unit_cells(point["metrics"], point["metrics"]),
                ("fits", "yes" if point["meets_bounds"] else "no"),
            ]
            for name, point in zip(self.names, self.rows, strict=True)
        ]

    @property
    def breakdown(self) -> Breakdown | None:
        if len(self.points) > 1:
            return None
        (design, configuration), metrics = self.points[0], self.rows[0]["metrics"]
        return profile_of(design).breakdown(configuration, metrics)

    @property
    def loops(self) -> Iterator[str]:
        """The points as loop nests."""
        for name, point in zip(self.names, self.points, strict=True):
            yield loop_nest(*point, f"point {name}: ")

    def save_table(self, path: str | Path) -> None:
        """Write the points and their metrics as CSV, which `evaluate` reads.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> ithaca.evaluate(r).save_table("points.csv")
        """
        write_text_atomically(path, points_text(self.points))


def read(
    source: Any,
    points: Any,
    *,
    arch: None = None,
    dtype: str | DataType | None = None,
    edition: str | None = None,
    sums: str | None = None,
    platform: str | PathLike[str] | Platform | None = None,
    accumulator: int | None = None,
) -> Points:
    """Evaluate the configurations of a CSV file, or of a result, of a workload.

    Parameters
    ----------
    source : object
        The workload.
    points : object
        A CSV file, rows in Python, or a result.
    arch : None, optional
        Of memory hierarchies alone.
    dtype : str or DataType, optional
        The data type; by default the result's, of a CSV file fp32.
    edition : str, optional
        The edition of a CSV file; by default what it says.
    sums : str, optional
        When PEs of a CSV file add their neighbours' sums.
    platform : str or PathLike or Platform, optional
        The device of a CSV file; by default none.
    accumulator : int, optional
        Width of the accumulators in bits, of a CSV file.
    """
    if source is None:
        raise InputError(
            "WORKLOAD|RESULT is missing; allowed: a loop nest or a "
            "result, or with --arch only --points"
        )
    nest = read_nest(source)
    if points is None:
        raise InputError(
            "--points is missing; allowed: configurations of "
            f"{quoted(str(source))}, or a result in its place"
        )
    stated = None if edition is None else read_edition(edition)
    data = None if dtype is None else read_data_type(dtype)
    if accumulator is not None:
        if data is None:
            raise InputError("--accumulator is given without --dtype; allowed: with it")
        data = data.accumulating(accumulator)
    return Points.of_points(partial(load_any_points, points, nest, data, stated, sums, platform))


def evaluated(solutions: Sequence[tuple[str, Solution]]) -> Points:
    """The configurations of a result, by number or layer, as it states them."""
    names, values = zip(*_points(solutions), strict=True)
    return Points.of_points(lambda: values, names)


#: Configurations as CSV.
text = points_text


def _points(solutions: Sequence[tuple[str, Solution]]) -> list[tuple[str, Point]]:
    return [
        (name, (systolic(s.problem), s.configuration))
        for name, s in solutions
        if s.configuration is not None
    ]


def configurations(
    points: str | Path | Rows, problems: Sequence[Problem], nest: LoopNest
) -> Sequence[Point]:
    """Designs and configurations that a file or rows in Python state.

    Parameters
    ----------
    points : str or Path or Rows
        A file, or rows.
    problems : sequence of Problem
        One for each design; their data type is that of rows that state none.
    nest : LoopNest
        The workload.
    """
    rows = Path(points) if isinstance(points, str) else points
    return load_points(rows, nest, systolic(problems[0]).data)


def load_any_points(
    path: str | Path | Result | Rows,
    nest: LoopNest,
    data: DataType | None,
    edition: Edition | None = None,
    sums: str | None = None,
    platform: str | PathLike[str] | Platform | None = None,
) -> tuple[Point, ...]:
    """Read the points of a CSV file, or of a result file (one that ends in .json), which states its
    data type and edition.

    Parameters
    ----------
    path : str or Path or Result or rows
        The file, or what it holds.
    nest : LoopNest
        The workload.
    data : DataType or None
        The data type; None: the result's, of a CSV file what it says, or fp32.
    edition : Edition, optional
        The edition of a CSV file; by default what it says.
    sums : str, optional
        When PEs of a CSV file add their neighbours' sums.
    platform : str or PathLike or Platform, optional
        The device of a CSV file.

    Raises
    ------
    InputError
        If the file is malformed, belongs to another workload or data type, or has no points.
    """
    if isinstance(path, str):
        path = Path(path)
    if not isinstance(path, Result) and not (isinstance(path, Path) and path.suffix == ".json"):
        stated, device = machine_changes(sums=sums), None
        if platform is not None:
            device = read_platform(platform)
        machine = None
        if stated:
            machine = changed_machine(
                (RTL if device is None else device.technology.machine), stated
            )
        loaded = load_points(path, nest, data, edition, machine, stated, platform=device)
        columns = {*COLUMNS, *OPTIONAL, *FOLLOWING}
        if isinstance(path, Path) and (line := unread_columns(path, columns.__contains__)):
            note(line)
        if any(d.options.ports and not d.technology.memory.port for d, _ in loaded):
            note("ports are taken to be as fast as their packs; --platform states the memory's")
        return loaded
    for option, text in (("--edition", edition), ("--sums", sums), ("--platform", platform)):
        if text is not None:
            raise InputError(
                f"{option} cannot be given with a result, which states "
                "its own; allowed with a CSV file"
            )
    loaded = tuple(point for _, point in _points(solutions_of(opened_layers(path))))
    where = path.source if isinstance(path, Result) else path
    for known in (design for design, _ in loaded):
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
        if data is not None and data_type(known.data.name) != data:
            raise refuse(
                where,
                f"workload.dtype is {quoted(known.data.name)}; allowed: "
                f"{data.name}, the data type asked for",
            )
    return loaded
