"""Mappings onto memory hierarchies, evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from ithaca.commands.api.live_line import note
from ithaca.commands.api.opening import is_result
from ithaca.commands.api.points import EvaluatedPoints, checked_points, in_time, numbers_of
from ithaca.files.answer import Answer
from ithaca.files.clock import made_in_time
from ithaca.files.csv_text import unread_columns
from ithaca.files.errors import InputError
from ithaca.files.messages import printable
from ithaca.files.numbers import percent
from ithaca.files.words import Rows, parse_choice
from ithaca.files.writing import write_text_atomically
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.plugins.hierarchies.exports.timeloop.comparison import Comparison, compared
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.drawing import loop_lines
from ithaca.plugins.hierarchies.formulations.editions import TILED, TIMELOOP
from ithaca.plugins.hierarchies.formulations.library import architecture_names, find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_design import mapping_design
from ithaca.plugins.hierarchies.formulations.points import (
    SpatialPoint,
    evaluate_points,
    is_column,
    load_points,
    points_text,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.layers import evaluate_layers
from ithaca.results.view import View
from ithaca.solver.solution import Solution
from ithaca.workloads.library import PATH_ENDINGS, read_nest
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, repr=False)
class MappedPoints(EvaluatedPoints):
    """Mappings with all their metrics, and why those that do not fit do not."""

    points: tuple[SpatialPoint, ...] = field(default=(), repr=False)
    """The mappings, of edition timeloop."""

    comparison: Comparison | None = None
    """The statistics of a file beside those of the mapping, where there is a file."""

    kind = "mapping"

    def compared(self, path: str | Path) -> MappedPoints:
        if len(self.points) != 1:
            raise InputError(
                f"--compare goes with one mapping of edition {TIMELOOP}, and there are "
                f"{len(self.points)}; allowed: one"
            )
        return replace(self, comparison=compared(self.points[0], Path(path)))

    @property
    def failure(self) -> str:
        return super().failure or ("" if self.comparison is None else self.comparison.failure)

    @property
    def document(self) -> dict[str, Any]:
        own = self.comparison
        return super().document | ({} if own is None else {"comparison": own.document})

    @property
    def view(self) -> View:
        return (*super().view, *(() if self.comparison is None else self.comparison.view))

    @property
    def loops(self) -> Iterator[str]:
        for name, point, row in zip(self.names, self.points, self.rows, strict=False):
            design = point.design
            lines = loop_lines(design.nest, design.architecture, point.mapping, row["metrics"])
            yield printable("\n".join((f"\npoint {name}:", *lines)))

    def save_table(self, path: str | Path) -> None:
        """Write the metrics as CSV, with the mappings where they are of edition timeloop:
        `evaluate` reads these."""
        write_text_atomically(path, points_text(self.points) if self.points else self.table)


def read(
    source: Any,
    points: Any,
    *,
    arch: str | Path,
    dtype: Any = None,
    edition: str | None = None,
    sums: str | None = None,
) -> MappedPoints:
    """Evaluate the mappings of a CSV file onto an architecture.

    Workloads of rows are a nest, or else problem files beside the architecture; of architectures
    that come with Ithaca, beside the points.

    Parameters
    ----------
    source : str, LoopNest or Answer
        The workload of all rows; None: each row's problem file.
    points : str or Path
        The CSV file, a mapping a row.
    arch : str or Path
        Name of an architecture, or its file.
    dtype : str, optional
        None: architectures state their words.
    edition : str, optional
        The edition of the cost model; default: Timeloop's.
    sums : str, optional
        None: this is of systolic arrays.
    """
    if sums is not None:
        raise InputError("--sums cannot be given with --arch; allowed with systolic arrays")
    if dtype is not None:
        raise InputError(
            "--dtype cannot be given with --arch, which states its "
            "words; allowed with systolic arrays"
        )
    if points is None or isinstance(points, Answer):
        raise InputError(
            "--points is missing; allowed with --arch: a CSV file with one mapping a row"
        )
    if isinstance(source, Answer) or (isinstance(source, str) and is_result(source)):
        raise InputError(
            "a result states its own architecture; allowed with "
            "--arch: a loop nest, or only --points"
        )
    nest, architecture = None if source is None else read_nest(source), str(arch)
    file = Path(points) if isinstance(points, str | Path) else None
    known = (TIMELOOP, *TILED)
    if edition is not None:
        parse_choice("--edition", edition, known, " with --arch")
    hierarchy = find_architecture(architecture)
    if edition is not None and edition in TILED:
        if nest is not None or file is None:
            raise InputError(
                "the workload is given by every row of --points in edition "
                f"{edition}; allowed: none beside it"
            )
        mapped: tuple[SpatialPoint, ...] = ()
        layers, complete = made_in_time(partial(evaluate_layers, file, hierarchy, TILED[edition]))
        rows = tuple(layers)
    else:
        beside = file is not None and architecture in architecture_names()
        where = file.parent if beside and file is not None else Path(architecture)
        folder = where if where.is_dir() else where.parent
        load = partial(load_points, points, hierarchy, folder if nest is None else nest)
        mapped, rows, complete = in_time(load, evaluate_points)
        for line in _remarks(file, hierarchy, mapped, rows):
            note(line)
    return MappedPoints(numbers_of(rows), rows, mapped, complete=complete)


def _remarks(
    file: Path | None,
    architecture: Architecture,
    mapped: Sequence[SpatialPoint],
    rows: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Lines on columns that are not read, energies that nothing says, and padding."""
    metrics = {name for row in rows for name in row["metrics"]}
    if file is not None and file.suffix.lower() not in (*PATH_ENDINGS, ".txt"):
        line = unread_columns(file, lambda name: name in metrics or is_column(name))
        if line:
            yield line
    if architecture.unpriced:
        actions = [path.partition(": ")[2] for path in architecture.unread if ": ERT." in path]
        also = f"; not read: {', '.join(actions)}" if actions else ""
        parts = ", ".join(architecture.unpriced)
        yield f"{architecture.name}: no energies, as nothing says those of {parts}{also}"
    padded = {
        number: {
            loop: f"{loop} runs {runs} for {point.design.nest.sizes[loop]}"
            for loop, runs in point.mapping.padded(point.design.nest).items()
            if runs > point.design.nest.sizes[loop]
        }
        for number, point in enumerate(mapped, 1)
    }
    many = [number for number, loops in padded.items() if loops]
    if many:
        first, point = many[0], mapped[many[0] - 1]
        runs = prod(point.mapping.padded(point.design.nest).values())
        share = percent(1 - Fraction(prod(point.design.nest.sizes.values()), runs))
        yield (
            f"{len(many)} of {len(mapped)} mappings have factors beyond extents; of mapping "
            f"{first} {', '.join(padded[first].values())}: {share} of its operations are padding"
        )


def configurations(
    points: str | Path | Rows, problems: Sequence[Problem], nest: LoopNest
) -> list[tuple[SpatialDesign, Configuration]]:
    """Designs and mappings that a file, of Timeloop's too, or rows in Python state; those of
    edition timeloop.

    Parameters
    ----------
    points : str or Path or Rows
        A file, or rows.
    problems : sequence of Problem
        One for each design, on one architecture.
    nest : LoopNest
        The workload.

    Raises
    ------
    InputError
        If the edition is not ``timeloop``.
    """
    design = problems[0].design
    if not isinstance(design, SpatialDesign):
        raise InputError(
            f"--start goes with a result in edition {mapping_design(design).edition}; allowed: "
            "a file written by -o"
        )
    known = []
    for each in load_points(points, design.architecture, nest):
        options = replace(each.design.options, remainders=design.options.remainders)
        own = replace(each.design, options=options)
        known.append((own, own.configuration(each.mapping)))
    return known


def evaluated(solutions: Sequence[tuple[str, Solution]]) -> MappedPoints:
    """The mappings of a result, by name."""
    points = tuple(
        SpatialPoint(s.problem.design, s.problem.design.mapping(s.configuration))
        for _, s in solutions
        if isinstance(s.problem.design, SpatialDesign) and s.configuration is not None
    )
    whole, checked = len(points) == len(solutions), checked_points(solutions)
    mapped = points[: len(checked.rows)] if whole else ()
    return MappedPoints(checked.names, checked.rows, mapped, complete=checked.complete)


def text(points: Sequence[tuple[SpatialDesign, Configuration]]) -> str:
    """Mappings as a table in CSV. Raises `InputError` if those of their edition have none."""
    for design, _ in points:
        edition = mapping_design(design).edition
        if edition != TIMELOOP:
            raise InputError(
                f"mappings of edition {edition} have no table; allowed: those of edition "
                f"{TIMELOOP}, or seeds for another tool"
            )
    return points_text([SpatialPoint(design, design.mapping(each)) for design, each in points])
