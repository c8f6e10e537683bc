"""What-if studies of co-designs: the best accelerator under other limits, weights or objectives, or
with quantities fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ithaca.commands.api.answers import StudyAnswer, least
from ithaca.commands.api.codesign_result import CodesignResult
from ithaca.commands.api.vary import check_axes, named_values
from ithaca.exports.charts.chart import Chart, other_unit
from ithaca.exports.charts.of_studies import grid_chart
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import counted, json_number
from ithaca.files.writing import SCHEMA
from ithaca.formulations.question import parse_upper
from ithaca.results.codesign_layers import hardware_text, metric_of
from ithaca.studies.codesign.question import Question, make_question
from ithaca.studies.codesign.workloads import positive_weight
from ithaca.studies.grid import Cell, Index, StudyAxis, indices, visits

if TYPE_CHECKING:
    import xarray as xr

#: What begins the name of an axis of a workload's weight.
WEIGHT = "weight."


@dataclass(frozen=True, repr=False)
class CodesignStudy(StudyAnswer):
    """The answer of `ithaca.codesign` with ``vary``: the best accelerator at every point of a
    grid."""

    axes: tuple[StudyAxis, ...]
    """What was varied."""
    points: Mapping[Index, CodesignResult]
    """Every point of the grid, in its order."""

    @property
    def first(self) -> CodesignResult:
        """The first point."""
        return next(iter(self.points.values()))

    @property
    def headline(self) -> str:
        asked = self.first.question
        return (
            f"{asked.space.name} for {', '.join(asked.workloads)}: "
            f"{counted(len(self.points), 'point')} ({self.status})"
        )

    @property
    def status(self) -> str:
        """The least that is proven at any point: unknown, infeasible, feasible or optimal."""
        return least(point.certificate.status for point in self.points.values()).value

    @property
    def failure(self) -> str:
        """Why no point has an accelerator, in one line; empty where one has."""
        return self.first.failure if all(point.failure for point in self.points.values()) else ""

    def labels(self, index: Index) -> dict[str, str | int | float]:
        """The coordinates of a point by axis name."""
        return {axis.name: axis.labels[i] for axis, i in zip(self.axes, index, strict=True)}

    @property
    def document(self) -> dict[str, Any]:
        points = [
            {"at": self.labels(index), **point.document} for index, point in self.points.items()
        ]
        axes = [{"name": a.name, "unit": a.unit, "values": list(a.labels)} for a in self.axes]
        return {"schema": SCHEMA, "study": "codesign-whatif", "axes": axes, "points": points}

    def to_xarray(self) -> xr.Dataset:
        """The points over the axes: value, bound, status, quantities and costs; numbers are
        doubles."""
        import pandas as pd
        import xarray as xr

        index = pd.MultiIndex.from_product(
            [axis.labels for axis in self.axes], names=[axis.name for axis in self.axes]
        )
        rows = pd.DataFrame([_row(point) for point in self.points.values()], index)
        own = [name for name in rows if name not in index.names]
        return xr.Dataset.from_dataframe(rows[own]).assign_attrs(title=self.headline)

    @property
    def cells(self) -> Mapping[Index, Cell]:
        """Value, proof and accelerator of every point."""
        space = self.first.question.space
        return {
            index: Cell(
                point.value,
                point.certificate,
                "" if point.best is None else hardware_text(space, point.best.point),
            )
            for index, point in self.points.items()
        }

    @property
    def chart(self) -> Chart:
        texts = {point.question.objectives[0].text for point in self.points.values()}
        metric = metric_of(self.first.question, min(texts))
        label = f"{metric.name} ({metric.unit})" if metric.unit else metric.name
        alone = len(texts) == 1
        return grid_chart(
            self.headline,
            self.axes,
            label if alone else "objective",
            self.cells,
            other_unit(metric.unit) if alone else None,
        )


def _row(point: CodesignResult) -> dict[str, Any]:
    numbers = {
        "value": point.value,
        "lower_bound": point.lower_bound,
        **({} if point.best is None else point.best.costs),
    }
    known = {name: float(value) for name, value in numbers.items() if value is not None}
    return {"status": point.status, **known, **point.hardware}


def run_codesign_study(
    question: Question,
    vary: Mapping[str, Sequence[Any]] | Sequence[str],
    solve: Callable[[Question], CodesignResult],
) -> CodesignStudy:
    """Answer a question at every point of a grid. Raises `InputError` if a name or value does not
    fit."""
    axes, changes = zip(
        *(_axis(question, name, values) for name, values in named_values(vary)), strict=True
    )
    check_axes(axes)
    found: dict[Index, CodesignResult] = {}
    for index in visits(axes):
        asked = question
        for axis, change, place in zip(axes, changes, index, strict=True):
            asked = change(asked, axis.values[place])
        found[index] = solve(asked)
    return CodesignStudy(axes, {index: found[index] for index in indices(axes)})


def _axis(
    question: Question, name: str, given: Sequence[Any]
) -> tuple[StudyAxis, Callable[[Question, Any], Question]]:
    """What is varied, and how a value is put into a question."""
    space, at = question.space, f"--vary {quoted(name)}"
    plain = name.removeprefix(WEIGHT)
    if name.startswith(WEIGHT) and plain in question.workloads:
        weights = tuple(positive_weight(plain, value) for value in given)
        return StudyAxis(
            name, weights, tuple(map(json_number, weights))
        ), lambda q, weight: _weighted(q, plain, weight)
    quantity = next((each for each in space.quantities if each.name == name), None)
    if quantity is not None:
        allowed = {quantity.shown(value): value for value in quantity.values}
        if unknown := [str(value) for value in given if str(value) not in allowed]:
            raise InputError(f"{at} is {quoted(unknown[0])}; allowed: {', '.join(allowed)}")
        values = tuple(allowed[str(value)] for value in given)
        labels = tuple(map(quantity.shown, values)) if quantity.labels else values
        return StudyAxis(name, values, labels, quantity.unit), lambda q, value: _fixed(
            q, name, value
        )
    if name == "objective":
        texts = tuple(map(str, given))
        return StudyAxis(name, texts), lambda q, text: make_question(
            q.space, q.works, [text], _bounds(q)
        )
    if name not in space.units and name not in space.accelerator.metrics:
        known = ", ".join([*space.units, *space.accelerator.metrics])
        others = ", ".join(
            [
                "objective",
                *(q.name for q in space.quantities),
                *(f"{WEIGHT}{w}" for w in question.workloads),
            ]
        )
        raise InputError(f"{at} is unknown; allowed: limits {known}; {others}")
    bounds = tuple(parse_upper(name, value, "--vary: ") for value in given)
    if not all(isinstance(bound, Fraction) for bound in bounds):
        raise InputError(f"{at} is {quoted(str(given[0]))}; allowed: numbers")
    shown = tuple(json_number(bound) for bound in bounds if isinstance(bound, Fraction))
    axis = StudyAxis(
        f"{name}_limit", bounds, shown, metric_of(question, name).unit, f"upper limit of {name}"
    )
    return axis, lambda q, bound: make_question(
        q.space, q.works, [o.text for o in q.objectives], _bounds(q) | {name: bound}
    )


def _bounds(question: Question) -> dict[str, Fraction]:
    return {limit.metric: limit.bound for limit in question.limits}


def _weighted(question: Question, workload: str, weight: Fraction) -> Question:
    works = tuple(
        replace(work, weight=weight) if work.workload == workload else work
        for work in question.works
    )
    return replace(question, works=works)


def _fixed(question: Question, name: str, value: int) -> Question:
    own = (replace(q, values=(value,)) if q.name == name else q for q in question.space.quantities)
    return replace(question, space=replace(question.space, quantities=tuple(own)))
