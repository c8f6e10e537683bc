"""Mappings onto memory hierarchies, evaluated: what `ithaca.evaluate` answers with ``arch``, or of
results of that family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ithaca.commands.api.answers import Answer
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import counted, json_number
from ithaca.files.writing import SCHEMA, write_text_atomically
from ithaca.formulations.spatial.design import SpatialDesign
from ithaca.formulations.spatial.dmazerunner.layers import evaluate_points as evaluate_layers
from ithaca.formulations.spatial.editions import TILED, TIMELOOP
from ithaca.formulations.spatial.library import architecture_names, find_architecture
from ithaca.formulations.spatial.points import (
    SpatialPoint,
    evaluate_points,
    load_points,
    points_text,
)
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False)
class MappedPoints(Answer):
    """Mappings with all their metrics, by the exact reference, and why those that do not fit do
    not."""

    names: tuple[str, ...]
    """Numbers from 1, or layers."""
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    """``valid``, ``reason`` and ``metrics`` of each."""
    points: tuple[SpatialPoint, ...] = field(default=(), repr=False)
    """The mappings, of edition timeloop."""

    @property
    def headline(self) -> str:
        return (
            f"{counted(len(self.rows), 'mapping')} evaluated, "
            f"{sum(row['valid'] for row in self.rows)} of them fit"
        )

    @property
    def document(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "points": list(self.rows)}

    def to_xarray(self) -> xr.Dataset:
        """The metrics of every mapping as labelled arrays; numbers are doubles, not one where it
        has no such metric."""
        import xarray as xr

        columns: dict[str, Any] = {"valid": ("point", [row["valid"] for row in self.rows])}
        columns["reason"] = "point", [row["reason"] or "" for row in self.rows]
        for name in dict.fromkeys(name for row in self.rows for name in row["metrics"]):
            columns[name] = "point", [float(row["metrics"].get(name, "nan")) for row in self.rows]
        return xr.Dataset(columns, {"point": list(self.names)})

    def save_table(self, path: str | Path) -> None:
        """Write the metrics as CSV, with the mappings where they are of edition timeloop:
        `evaluate` reads these."""
        write_text_atomically(path, points_text(self.points) if self.points else self.table)


def evaluate_mappings(
    architecture: str, points: Path, edition: str | None, nest: LoopNest | None
) -> MappedPoints:
    """Evaluate the mappings of a CSV file onto an architecture.

    Workloads of rows are a nest, or else problem files beside the architecture; of architectures
    that come with Ithaca, beside the points.
    """
    known = (TIMELOOP, *TILED)
    if edition not in (None, *known):
        raise InputError(
            f"--edition is {quoted(edition)}; allowed with --arch: {' or '.join(known)}"
        )
    found = find_architecture(architecture)
    if edition is not None and edition in TILED:
        if nest is not None:
            raise InputError(
                "the workload is given by every row of --points in edition "
                f"{edition}; allowed: none beside it"
            )
        read: tuple[SpatialPoint, ...] = ()
        rows = evaluate_layers(points, found, TILED[edition])["points"]
    else:
        where = points.parent if architecture in architecture_names() else Path(architecture)
        folder = where if where.is_dir() else where.parent
        read = load_points(points, found, folder if nest is None else nest)
        rows = evaluate_points(read)
    return MappedPoints(tuple(str(number) for number in range(1, len(rows) + 1)), tuple(rows), read)


def mapped_solutions(solutions: Sequence[tuple[str, Solution]]) -> MappedPoints:
    """Evaluate the mappings of a result, by name, each with why it would not fit: what it
    breaks."""
    names, rows, points = [], [], []
    for name, solution in solutions:
        problem, configuration = solution.problem, solution.configuration
        assert configuration is not None  # the caller asks for those that have one
        complaints = (
            [] if problem.space.contains(configuration) else ["it is outside the space of mappings"]
        )
        complaints += [
            f"{limit.metric} exceeds {json_number(limit.bound)}"
            for limit in problem.exceeded(configuration)
        ]
        metrics = {
            metric: json_number(value) for metric, value in problem.metrics(configuration).items()
        }
        names.append(name)
        if isinstance(problem.design, SpatialDesign):
            points.append(SpatialPoint(problem.design, problem.design.mapping(configuration)))
        rows.append(
            {"valid": not complaints, "reason": "; ".join(complaints) or None, "metrics": metrics}
        )
    return MappedPoints(
        tuple(names), tuple(rows), tuple(points) if len(points) == len(rows) else ()
    )
