"""Configurations evaluated: what `ithaca.evaluate` answers, and what tables of them hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.files.answer import Answer
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, json_number, json_ready, number
from ithaca.files.registry import Registry
from ithaca.files.writing import SCHEMA, write_text_atomically
from ithaca.formulations.family import Breakdown
from ithaca.results.view import View, tabled
from ithaca.solver.solution import Solution

if TYPE_CHECKING:
    import xarray as xr

#: What reads and writes tables of configurations of a family: modules.
POINTS: Registry[ModuleType] = Registry("points")


@dataclass(frozen=True, repr=False)
class EvaluatedPoints(Answer):
    """Configurations with all their metrics, by the exact reference, and why those that do not fit
    do not."""

    names: tuple[str, ...]
    """Numbers from 1, or layers."""
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    """``valid``, ``reason`` and ``metrics`` of each."""

    kind: ClassVar[str] = "configuration"
    """The word for one of the points."""

    @property
    def headline(self) -> str:
        return (
            f"{counted(len(self.rows), self.kind)} evaluated, "
            f"{sum(row['valid'] for row in self.rows)} of them fit"
        )

    @property
    def document(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "points": list(self.rows)}

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """The cells of a table with a row for each point, as pairs of column and text; the last one
        says why a configuration does not fit."""
        return [
            [
                ("point", name),
                *(
                    (metric, number(row["metrics"][metric]))
                    for metric in ("latency", "energy", "pes")
                    if metric in row["metrics"]
                ),
                ("fits", "yes" if row["valid"] else str(row["reason"])),
            ]
            for name, row in zip(self.names, self.rows, strict=True)
        ]

    @property
    def view(self) -> View:
        table = tabled(self.cells, {"fits", "meets bounds"})
        parts = self.breakdown
        return (table,) if parts is None else (table, tabled(parts.rows, parts.left), *parts.words)

    @property
    def breakdown(self) -> Breakdown | None:
        """The costs and activity of each part of the accelerator in a single configuration; None of
        several, or where they are not known."""
        return None

    @property
    def loops(self) -> Iterator[str]:
        """The points as loop nests, where they have one."""
        return iter(())

    def to_xarray(self) -> xr.Dataset:
        """The metrics of every one as labelled arrays; numbers are doubles, not one where it has no
        such metric."""
        import xarray as xr

        columns: dict[str, Any] = {"valid": ("point", [row["valid"] for row in self.rows])}
        columns["reason"] = "point", [row["reason"] or "" for row in self.rows]
        for name in dict.fromkeys(name for row in self.rows for name in row["metrics"]):
            columns[name] = "point", [float(row["metrics"].get(name, "nan")) for row in self.rows]
        return xr.Dataset(columns, {"point": list(self.names)})

    def compared(self, path: str | Path) -> EvaluatedPoints:
        """The configurations with the figures that another tool printed of them.

        Raises `InputError` where no file of such figures is known.
        """
        raise InputError(f"--compare is given with {self.kind}s; allowed: with a mapping")

    def save_table(self, path: str | Path) -> None:
        """Write the metrics as CSV."""
        write_text_atomically(path, self.table)


def points_of(family: str) -> ModuleType:
    """The module that reads and writes tables of configurations of a family. Raises `InputError` if
    there is none."""
    if family not in POINTS:
        raise InputError(f"configurations of family {family} have no tables; allowed: results")
    return POINTS[family]


def evaluated(solutions: Sequence[tuple[str, Solution]]) -> EvaluatedPoints:
    """The configurations of a result, by name, evaluated."""
    own = POINTS.get(solutions[0][1].problem.design.family)
    if own is not None:
        answer: EvaluatedPoints = own.evaluated(solutions)
        return answer
    return EvaluatedPoints(tuple(name for name, _ in solutions), checked(solutions))


def checked(solutions: Sequence[tuple[str, Solution]]) -> tuple[dict[str, Any], ...]:
    """The rows of configurations, each with why it would not fit: what it breaks."""
    rows = []
    for _, solution in solutions:
        problem, configuration = solution.problem, solution.configuration
        assert configuration is not None  # the caller asks for those that have one
        complaints = [] if problem.space.contains(configuration) else ["it is outside the space"]
        complaints += [
            f"{limit.metric} does not hold"
            if limit.required
            else f"{limit.metric} exceeds {json_number(limit.bound)}"
            for limit in problem.exceeded(configuration)
        ]
        metrics = json_ready(problem.metrics(configuration))
        rows.append(
            {"valid": not complaints, "reason": "; ".join(complaints) or None, "metrics": metrics}
        )
    return tuple(rows)
