"""What-if studies of co-designs: the best accelerator under other limits, weights or objectives, or
with quantities fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ithaca.commands.api.vary import (
    LIMITS,
    check_axes,
    limit_axis,
    named_values,
)
from ithaca.exports.charts.chart import Chart, other_unit
from ithaca.exports.charts.of_studies import grid_chart
from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at, meant, quoted
from ithaca.files.numbers import json_number, number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.formulations.limits import parse_upper
from ithaca.plugins.codesign.results.documents import read_codesign
from ithaca.plugins.codesign.results.layers import metric_of
from ithaca.plugins.codesign.results.study_document import CodesignStudyDocument
from ithaca.plugins.codesign.studies.question import CodesignQuestion, make_question
from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.plugins.codesign.studies.workloads import positive_weight
from ithaca.results.files import check_same
from ithaca.results.study_explanation import coordinates, grid_statements
from ithaca.results.view import View, tabled
from ithaca.results.wording import headed
from ithaca.solver.certificate import OWN, as_stated
from ithaca.studies.grid import Cell, Index, StudyAxis, indices, visits
from ithaca.studies.points import GridAnswer
from ithaca.workloads.networks.share import Share

if TYPE_CHECKING:
    import xarray as xr

#: A question of any kind.
Q = TypeVar("Q")

#: What begins the name of an axis of a workload's weight.
WEIGHT = "weight."


@dataclass(frozen=True, repr=False, eq=False)
class CodesignStudy(GridAnswer):
    """The answer of `ithaca.codesign` with ``vary``: the best accelerator at every point of a
    grid.

    Examples
    --------
    >>> question = {"sizes": {"i": 4, "j": 4, "k": 4}, "vary": "objective=edp,energy"}
    >>> study = ithaca.codesign("dmazerunner-memory", "mm", **question)
    >>> len(study.points)
    2
    """

    axes: tuple[StudyAxis, ...]
    """The quantities that were varied."""
    points: Mapping[Index, CodesignResult]
    """Every point of the grid, in its order."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def title(self) -> str:
        """The title for people: the hardware space and the workloads."""
        question = self.first.question
        return f"{question.space.name} for {', '.join(question.workloads)}"

    @property
    def provenance(self) -> Mapping[str, str]:
        """The fixed parts of the question, for people: the space and the workloads."""
        question = self.first.question
        return {"space": question.space.name, "workloads": ", ".join(question.workloads)}

    @property
    def first(self) -> CodesignResult:
        """The result of the study's first point."""
        return next(iter(self.points.values()))

    @property
    def share(self) -> Share:
        """The counted share of the multiply-accumulates of the workloads; weights may vary."""
        return self.first.share

    @property
    def view(self) -> View:
        return self.headline, tabled(self.rows, {"status"})

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements, one a line: the study, and the best points along its axes."""
        lines = [f"Study: {self.headline[:-1]}{as_stated(self)})."]
        lines.append(f"Counted: {self.share.statement}.")
        if (name := self.objective) != "objective":
            lines += grid_statements(name, self.axes, self.cells)
        return tuple(lines)

    @property
    def objective(self) -> str:
        texts = {point.question.objectives[0].text for point in self.points.values()}
        return texts.pop() if len(texts) == 1 else "objective"

    @property
    def rows(self) -> list[list[tuple[str, str]]]:
        """Heading and cell of every column of the table of points: what is varied, the best
        accelerator, and what is proven of it."""
        rows = []
        for index, point in self.points.items():
            row = coordinates(self, index)
            question = point.question
            text = question.objectives[0].text
            name, value = as_asked(text, point.value)
            metric = metric_of(question, name)
            heading = "value" if "objective" in dict(row) else headed(name, metric.unit)
            row.append((heading, number(value)))
            row.append(("status", f"{point.status}{point.basis}"))
            taken, costs = {name for name, _ in row}, {} if point.best is None else point.best.costs
            names = (q.name for q in question.space.quantities if q.name not in taken)
            row += [(name, str(point.hardware.get(name, "–"))) for name in names]
            units = question.space.units.items()
            row += [(headed(n, own.unit), number(costs.get(n))) for n, own in units]
            rows.append(row)
        return rows

    @property
    def failure(self) -> str:
        """The reason why no point has an accelerator, in one line; empty where one has."""
        return self.first.failure if all(point.failure for point in self.points.values()) else ""

    @property
    def parts(self) -> Mapping[str, CodesignResult]:
        return {
            ", ".join(f"{axis} {label}" for axis, label in coordinates(self, index)): point
            for index, point in self.points.items()
        }

    @property
    def document(self) -> dict[str, Any]:
        points = [
            {"at": self.labels(index), **point.document} for index, point in self.points.items()
        ]
        axes = [axis.document for axis in self.axes]
        return {"schema": SCHEMA, "study": "codesign-whatif", "axes": axes, "points": points}

    def to_xarray(self) -> xr.Dataset:
        """The points over the axes: value, bound, status, quantities and costs; numbers are
        doubles.

        Examples
        --------
        >>> question = {"sizes": {"i": 4, "j": 4, "k": 4}, "vary": "objective=edp,energy"}
        >>> study = ithaca.codesign("dmazerunner-memory", "mm", **question)
        >>> float(study.to_xarray()["value"].min())
        9924.0
        """
        import pandas as pd
        import xarray as xr

        index = pd.MultiIndex.from_product(
            [axis.labels for axis in self.axes], names=[axis.name for axis in self.axes]
        )
        rows = pd.DataFrame([_numbers(point) for point in self.points.values()], index)
        own = [name for name in rows if name not in index.names]
        return xr.Dataset.from_dataframe(rows[own]).assign_attrs(title=self.headline)

    @property
    def cells(self) -> Mapping[Index, Cell]:
        """Value, proof and choice of every point."""
        return {
            index: Cell(
                point.value,
                point.certificate,
                "" if point.best is None else self.first.question.space.text(point.best.point),
                point.basis,
            )
            for index, point in self.points.items()
        }

    @property
    def chart(self) -> Chart:
        texts = {point.question.objectives[0].text for point in self.points.values()}
        metric = metric_of(self.first.question, name_asked(min(texts)))
        label = headed(metric.name, metric.unit)
        alone = len(texts) == 1
        return grid_chart(
            self.headline,
            self.axes,
            label if alone else "objective",
            self.cells,
            other_unit(metric.unit) if alone else None,
            self.objective,
        )


def _numbers(point: CodesignResult) -> dict[str, Any]:
    """Status, value, bound, costs and quantities of a point, as doubles, and how much of the
    arithmetic it counts."""
    numbers = {
        "value": point.value,
        "lower_bound": point.lower_bound,
        **({} if point.best is None else point.best.costs),
    }
    known = {name: float(value) for name, value in numbers.items() if value is not None}
    share = nan if point.share.known is None else float(point.share.known)
    counted = {"share": share, "uncounted": ", ".join(point.share.uncounted)}
    return {"status": point.status, **known, **point.hardware, **counted}


def run_codesign_study(
    question: CodesignQuestion,
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
    solve: Callable[[CodesignQuestion], CodesignResult],
) -> CodesignStudy:
    """Answer a question at every point of a grid.

    Parameters
    ----------
    question : Question
        What is asked but for what varies.
    vary : mapping of str to sequence of object or sequence of str
        Words such as ``area=10,20``, or values by name.
    solve : callable
        Answers a question.

    Raises
    ------
    InputError
        If a name or value does not fit.
    """
    axes, changes = zip(
        *(_axis(question, name, values) for name, values in named_values(vary)), strict=True
    )
    check_axes(axes)
    points: dict[Index, CodesignResult] = {}
    for index in visits(axes):
        points[index] = solve(at_point(question, axes, changes, index))
    return CodesignStudy(axes, {index: points[index] for index in indices(axes)})


def read_codesign_study(document: Any, path: Path) -> CodesignStudy:
    """The study that a document states: every point is read as a result, and its question is that
    of the first with what the axes say put in."""
    read = validated(CodesignStudyDocument, document, path)
    results = [{n: x for n, x in point.items() if n != "at"} for point in read.points]
    points = [replace(read_codesign(r, path), source=str(path)) for r in results]
    first = points[0].question
    every = zip(*(point.question.space.quantities for point in points), strict=False)
    values = {same[0].name: sorted({v for q in same for v in q.values}) for same in every}
    whole = first.space.only(values)
    with errors_at(path):
        axes, changes = zip(
            *(
                _axis(replace(first, space=whole), axis.name.removesuffix(LIMITS), axis.values)
                for axis in read.axes
            ),
            strict=True,
        )
        places = list(indices(axes))
        if len(places) != len(points):
            raise InputError(f"points are not those of axes: {EDITED}")
        study = CodesignStudy(axes, dict(zip(places, points, strict=True)), str(path))
        check_same(document, study.document, "")
        for count, (index, point) in enumerate(study.points.items()):
            if at_point(first, axes, changes, index) != point.question:
                raise InputError(f"points[{count}].at is not what it asks: {EDITED}")
    return study


def parse_bounds(name: str, values: Sequence[Any], unit: str = "") -> tuple[Fraction, ...]:
    """Limits that are varied, where only numbers are allowed.

    Parameters
    ----------
    name : str
        The metric.
    values : sequence of object
        The limits.
    unit : str, optional
        The unit that they are in, unless they say another.
    """
    bounds = []
    for value in values:
        bound = parse_upper(name, value, "--vary: ", unit)
        if not isinstance(bound, Fraction):
            raise InputError(f"--vary {quoted(name)} is {quoted(str(value))}; allowed: numbers")
        bounds.append(bound)
    return tuple(bounds)


def at_point(
    question: Q, axes: Sequence[StudyAxis], changes: Sequence[Callable[[Q, Any], Q]], index: Index
) -> Q:
    """A question at a point of a grid.

    Parameters
    ----------
    question : object
        What is asked but for what varies.
    axes : sequence of StudyAxis
        What varies.
    changes : sequence of callable
        For each axis, what puts a value into a question.
    index : tuple of int
        The place of the point along each axis.
    """
    for axis, change, place in zip(axes, changes, index, strict=True):
        question = change(question, axis.values[place])
    return question


def _axis(
    question: CodesignQuestion, name: str, choices: Sequence[Any]
) -> tuple[StudyAxis, Callable[[CodesignQuestion, Any], CodesignQuestion]]:
    """The axis of a variation, and the function that puts one of its values into a question."""
    space, at = question.space, f"--vary {quoted(name)}"
    plain = name.removeprefix(WEIGHT)
    if name.startswith(WEIGHT) and plain in question.workloads:
        weights = tuple(positive_weight(plain, value) for value in choices)
        return StudyAxis(
            name, weights, tuple(map(json_number, weights))
        ), lambda q, weight: _weighted(q, plain, weight)
    quantity = next((each for each in space.quantities if each.name == name), None)
    if quantity is not None:
        values = tuple(quantity.labelled(str(value), at) for value in choices)
        labels = tuple(map(quantity.label, values)) if quantity.labels else values
        return StudyAxis(name, values, labels, quantity.unit), lambda q, value: _fixed(
            q, name, value
        )
    if name == "objective":
        texts = tuple(map(str, choices))
        return StudyAxis(name, texts), lambda q, text: make_question(
            q.space, q.works, [text], _bounds(q)
        )
    if name not in space.units and name not in space.accelerator.metrics:
        known = [*space.units, *space.accelerator.metrics]
        others = [
            "objective",
            *(q.name for q in space.quantities),
            *(f"{WEIGHT}{w}" for w in question.workloads),
        ]
        raise InputError(
            f"{at} is unknown; allowed: limits {', '.join(known)}; {', '.join(others)}"
            f"{meant(name, (*known, *others))}"
        )
    unit = metric_of(question, name).unit
    axis = limit_axis(name, parse_bounds(name, choices, unit), unit)
    return axis, lambda q, bound: make_question(
        q.space, q.works, [o.text for o in q.objectives], _bounds(q) | {name: bound}
    )


def _bounds(question: CodesignQuestion) -> dict[str, Fraction]:
    return {limit.metric: limit.bound for limit in question.limits}


def _weighted(question: CodesignQuestion, workload: str, weight: Fraction) -> CodesignQuestion:
    works = tuple(
        replace(work, weight=weight) if work.workload == workload else work
        for work in question.works
    )
    return replace(question, works=works)


def _fixed(question: CodesignQuestion, name: str, value: int) -> CodesignQuestion:
    return replace(question, space=question.space.only({name: (value,)}))
