"""Charts of what-if studies and fronts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ithaca.exports.charts.chart import (
    AxisUnit,
    Coordinate,
    LineChart,
    Series,
    metric_unit,
    wide_spread,
)
from ithaca.files.errors import InputError
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.results.wording import metric_label
from ithaca.solver.certificate import Status
from ithaca.studies.front import Front
from ithaca.studies.grid import Cell, Index, StudyAxis
from ithaca.studies.network.front import NetworkFront
from ithaca.studies.network.study import NetworkStudy
from ithaca.studies.whatif import Study


def check_plottable(axes: Sequence[StudyAxis]) -> None:
    """Refuse to plot a study of no or more than two axes."""
    if not 1 <= len(axes) <= 2:
        raise InputError(
            f"--plot shows one or two axes, not {len(axes)}; allowed: "
            "one or two --vary, or no --plot"
        )


def study_chart(study: Study) -> LineChart:
    """The best value along one axis, one line for each value of the other."""
    problems = [point.problems[0] for point in study.points.values()]
    objectives = list(dict.fromkeys(problem.objective.text for problem in problems))
    alone = len(objectives) == 1
    name = name_asked(objectives[0])
    return grid_chart(
        study.provenance.get("title", "what-if study"),
        study.axes,
        metric_label(name, problems[0].design) if alone else "objective",
        study.cells,
        metric_unit(name, problems[0].design) if alone else None,
        study.objective,
    )


def network_study_chart(study: NetworkStudy) -> LineChart:
    """The network's total along one axis, one line for each value of the other."""
    objective, design = study.objective, study.first.layers[0].answer.problem.design
    clocks = {p.answer.request.technology.clock_mhz for p in study.points.values()}
    alone = objective != "objective" and len(clocks) == 1
    return grid_chart(
        study.title,
        study.axes,
        metric_label(name_asked(objective), design),
        study.cells,
        metric_unit(name_asked(objective), design) if alone else None,
        objective,
    )


def grid_chart(
    title: str,
    axes: Sequence[StudyAxis],
    label: str,
    cells: Mapping[Index, Cell],
    also: AxisUnit | None,
    objective: str = "",
) -> LineChart:
    """The value along one axis, one line for each value of the other; also in another unit.

    Parameters
    ----------
    title : str
        The title.
    axes : sequence of StudyAxis
        One or two axes of the study.
    label : str
        What is shown, with its unit.
    cells : mapping of Index to Cell
        Value and proof of every point.
    also : Unit, optional
        Another unit of the values.
    objective : str, optional
        The objective, whose values are shown as it was asked for.

    Raises
    ------
    InputError
        If the axes cannot be drawn.
    """
    check_plottable(axes)
    x_number = _horizontal(axes)
    x_axis = axes[x_number]
    other = axes[1 - x_number] if len(axes) == 2 else None
    series = []
    missing: list[tuple[Coordinate, str]] = []
    for place in range(1 if other is None else len(other.values)):
        name = "" if other is None else f"{other.name} = {_text(other.labels[place])}"
        rows: list[tuple[Coordinate, float, float | None, str]] = []
        for position in x_axis.order:
            index = (
                (position,)
                if other is None
                else (position, place)
                if x_number == 0
                else (place, position)
            )
            answer, x = cells[index], _coordinate(x_axis, position)
            status, bound = answer.certificate.status, answer.certificate.lower_bound
            if answer.value is None:
                missing.append((x, f"{name}: {status.value}" if name else status.value))
                continue
            value, bound = as_asked(objective, answer.value)[1], as_asked(objective, bound)[1]
            low = None if status is Status.OPTIMAL or bound is None else float(bound)
            note = f"{answer.name}, {status.value}"
            rows.append((x, float(value), low, note))
        if not rows:
            continue
        series.append(Series(name, *(tuple(row[i] for row in rows) for i in range(4))))  # type: ignore[arg-type]
    values = [y for s in series for y in s.y]
    return LineChart(
        title=title,
        x_label=_axis_label(x_axis),
        y_label=label,
        series=tuple(series),
        all_x=tuple(_coordinate(x_axis, position) for position in x_axis.order),
        missing=tuple(missing),
        log_x=x_axis.numeric and wide_spread([float(v) for v in x_axis.labels]),
        log_y=wide_spread(values),
        y_also=also,
    )


def check_front_plottable(objectives: Sequence[object]) -> None:
    """Refuse to plot a front of more than three objectives."""
    if not 2 <= len(objectives) <= 3:
        raise InputError(
            f"--plot shows two or three objectives, not {len(objectives)}; "
            "allowed: two or three, or no --plot"
        )


def front_chart(front: Front) -> LineChart:
    """The first two objectives against each other; a third one as colour."""
    texts, design = [objective.text for objective in front.objectives], front.problems[0].design
    points = [(p.problem.design.name, *_point(texts, p.values)) for p in front.points]
    title = f"Pareto front of {front.title}"
    if not front.complete:
        title += f"\npartial: {front.unfinished}"
    names = [name_asked(text) for text in texts]
    labels = [metric_label(name, design) for name in names]
    return points_chart(title, labels, [metric_unit(name, design) for name in names], points)


def network_front_chart(front: NetworkFront) -> LineChart:
    """The first two totals against each other; a third one as colour."""
    texts = [objective.text for objective in front.objectives]
    design = front.layers[0].front.problems[0].design
    points = [("network", *_point(texts, p.values)) for p in front.points]
    title = f"Pareto front of {front.title}"
    if not front.complete:
        title += f"\npartial: {front.unfinished}"
    names = [name_asked(text) for text in texts]
    labels = [metric_label(name, design) for name in names]
    return points_chart(title, labels, [metric_unit(name, design) for name in names], points)


def _point(texts: Sequence[str], values: Sequence[Fraction]) -> tuple[list[Fraction], str]:
    """The objectives of a point as they were asked for, and a note on them."""
    own = [as_asked(text, value)[1] for text, value in zip(texts, values, strict=True)]
    return own, ", ".join(map(_text, own))


def points_chart(
    title: str,
    labels: Sequence[str],
    also: Sequence[AxisUnit | None],
    points: Sequence[tuple[str, Sequence[Fraction], str]],
) -> LineChart:
    """Points of a front, each with the name of its kind, its objectives, and a note; beside it
    stands its number.

    Parameters
    ----------
    title : str
        The title.
    labels : sequence of str
        Two or three objectives, with their units; the third one is shown as colour.
    also : sequence of Unit, optional
        Another unit of each.
    points : sequence of tuple of str, sequence of Fraction, str
        The name of a kind, the objectives, and a note.

    Raises
    ------
    InputError
        If there are more objectives.
    """
    check_front_plottable(labels)
    third = len(labels) == 3
    # a line through all points, which is on the front only where it has two objectives, and the
    # points of each kind
    x, y, *colours = (
        tuple(float(values[i]) for _, values, _ in points) for i in range(len(labels))
    )
    series = [] if third else [Series("", x, y, role="main", form="line")]
    for name in dict.fromkeys(name for name, _, _ in points):
        mine = [place for place, (own, _, _) in enumerate(points) if own == name]
        at_x, at_y, *at_third = (
            tuple(values[place] for place in mine) for values in (x, y, *colours)
        )
        notes = tuple(f"point {place + 1}: {points[place][2]}" for place in mine)
        series.append(
            Series(
                name,
                at_x,
                at_y,
                notes=notes,
                labels=tuple(str(place + 1) for place in mine),
                colours=at_third[0] if third else (),
                form="points",
            )
        )
    return LineChart(
        title=title,
        x_label=labels[0],
        y_label=labels[1],
        series=tuple(series),
        steps=not third,
        colour_label=labels[2] if third else "",
        log_x=wide_spread(x),
        log_y=wide_spread(y),
        x_also=also[0],
        y_also=also[1],
    )


def _horizontal(axes: Sequence[StudyAxis]) -> int:
    """The axis to draw to the right: a numeric one if there is one, else the first."""
    return next((number for number, axis in enumerate(axes) if axis.numeric), 0)


def _coordinate(axis: StudyAxis, position: int) -> Coordinate:
    label = axis.labels[position]
    return float(label) if axis.numeric else str(label)


def _axis_label(axis: StudyAxis) -> str:
    return f"{axis.name} ({axis.unit})" if axis.unit else axis.name


def _text(value: str | float | Fraction) -> str:
    return value if isinstance(value, str) else f"{float(value):,.6g}"
