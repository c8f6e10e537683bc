"""Configurations evaluated: what `ithaca.evaluate` answers, and what tables of them hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ithaca.files.answer import Answer
from ithaca.files.clock import finishing, keeping, made_in_time, poll
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted, json_number, json_ready, number
from ithaca.files.registry import Registry
from ithaca.files.writing import SCHEMA, write_text_atomically
from ithaca.formulations.family import Breakdown
from ithaca.formulations.unreachable import exceeded
from ithaca.results.view import View, tabled
from ithaca.solver.solution import Solution

if TYPE_CHECKING:
    import xarray as xr

#: What reads and writes tables of configurations of a family: modules.
POINTS: Registry[ModuleType] = Registry("points")


#: The metrics that tables of points show, with their headings.
HEADINGS = {"latency": "latency (cycles)", "energy": "energy (pJ)", "pes": "PEs"}

#: Behind a number of points that are not all.
PARTLY = ", the others were not"

P = TypeVar("P")


@dataclass(frozen=True, repr=False)
class EvaluatedPoints(Answer):
    """Configurations with all their metrics, by the exact reference, and why those that do not fit
    do not."""

    names: tuple[str, ...]
    """Numbers from 1, or layers."""
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    """``valid``, ``reason`` and ``metrics`` of each."""

    complete: bool = field(default=True, kw_only=True)
    """Whether these are all; false where time was over before."""

    kind: ClassVar[str] = "configuration"
    """The word for one of the points."""

    @property
    def headline(self) -> str:
        return f"{self.extent}, {sum(row['valid'] for row in self.rows)} of them fit"

    @property
    def extent(self) -> str:
        """The number of those evaluated, and whether these are all, in words."""
        return f"{counted(len(self.rows), self.kind)} evaluated{'' if self.complete else PARTLY}"

    @property
    def failure(self) -> str:
        return "" if self.complete else f"time was over: {self.extent}"

    @property
    def document(self) -> dict[str, Any]:
        """The points, ready for JSON, and where they are not all, that others were left."""
        own = {"schema": SCHEMA, "points": list(self.rows)}
        return own if self.complete else own | {"complete": False}

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """The cells of a table with a row for each point, as pairs of column and text; the last one
        says why a configuration does not fit."""
        return [
            [
                ("point", name),
                *(
                    (heading, number(row["metrics"][metric]))
                    for metric, heading in HEADINGS.items()
                    if metric in row["metrics"]
                ),
                ("fits", "yes" if row["valid"] else str(row["reason"])),
            ]
            for name, row in zip(self.names, self.rows, strict=True)
        ]

    @property
    def view(self) -> View:
        table = tabled(self.cells, {"fits"})
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

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> try:
        ...     ithaca.evaluate(r).compared("stats.txt")
        ... except ithaca.InputError as error:
        ...     print(error)
        --compare is given with configurations; allowed: with a mapping
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
    return checked_points(solutions)


def checked_points(solutions: Sequence[tuple[str, Solution]]) -> EvaluatedPoints:
    """Configurations of any family, by name, evaluated as far as time allows."""
    rows, complete = made_in_time(partial(checked, solutions))
    names = tuple(name for name, _ in solutions[: len(rows)])
    return EvaluatedPoints(names, tuple(rows), complete=complete)


def numbers_of(rows: Sequence[Any]) -> tuple[str, ...]:
    """The names of rows that have no others: numbers from 1."""
    return tuple(str(number) for number in range(1, len(rows) + 1))


def in_time(
    read: Callable[[], Sequence[P]], evaluate: Callable[[Sequence[P]], Sequence[dict[str, Any]]]
) -> tuple[tuple[P, ...], tuple[dict[str, Any], ...], bool]:
    """Read points and evaluate those that were read, each as far as time allows.

    Returns
    -------
    tuple of points, rows and bool
        The points that were evaluated, a row of each, and whether these are all.
    """
    points, all_read = made_in_time(read)
    with nullcontext() if all_read else finishing():
        rows, all_evaluated = made_in_time(partial(evaluate, points))
    return tuple(points[: len(rows)]), tuple(rows), all_read and all_evaluated


def checked(solutions: Sequence[tuple[str, Solution]]) -> list[dict[str, Any]]:
    """The rows of configurations, each with why it would not fit: what it breaks."""
    rows: list[dict[str, Any]] = []
    with keeping(lambda: rows):
        for _, solution in solutions:
            poll()
            rows.append(_checked(solution))
    return rows


def _checked(solution: Solution) -> dict[str, Any]:
    problem, configuration = solution.problem, solution.configuration
    assert configuration is not None  # the caller asks for those that have one
    complaints = [] if problem.space.contains(configuration) else ["it is outside the space"]
    complaints += [
        f"{limit.metric} does not hold"
        if limit.required
        else f"{limit.metric} exceeds {json_number(limit.bound)}"
        for limit in exceeded(problem.limits, problem.metrics(configuration))
    ]
    metrics = json_ready(problem.metrics(configuration))
    return {"valid": not complaints, "reason": "; ".join(complaints) or None, "metrics": metrics}
