"""What a plot shows, apart from how it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from ithaca.formulations.systolic.metrics import METRICS
from ithaca.solver.certificate import Status
from ithaca.studies.front import Front
from ithaca.studies.grid import Axis
from ithaca.studies.whatif import Study
from ithaca.workloads.errors import InputError

#: A ratio of largest to smallest value from which an axis is logarithmic.
LOGARITHMIC = 30.0

Coordinate = str | float


@dataclass(frozen=True)
class Series:
    """Points that belong together.

    Attributes
    ----------
    name : str
        For the legend; empty for none.
    x, y : tuple
        Coordinates.
    low : tuple of float or None
        Proven lower bound of each y; None where it is proven to be y, or unknown.
    notes : tuple of str
        What to say about each point.
    """

    name: str
    x: tuple[Coordinate, ...]
    y: tuple[float, ...]
    low: tuple[float | None, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Chart:
    """A plot.

    Attributes
    ----------
    title, x_label, y_label : str
        Texts.
    series : tuple of Series
        What to draw.
    x_values : tuple
        All values of x in order, those without points included.
    missing : tuple of (x, str)
        Where there is no value, and why.
    numeric : bool
        Whether x is a number (points are joined by lines) or a name.
    steps : bool
        Whether lines are stairs, as a front's.
    colours : tuple of float
        A third objective of the first series' points, shown as colour; empty for none.
    colour_label : str
        Its name.
    log_x, log_y : bool
        Which axes are logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_values: tuple[Coordinate, ...]
    missing: tuple[tuple[Coordinate, str], ...] = ()
    numeric: bool = True
    steps: bool = False
    colours: tuple[float, ...] = ()
    colour_label: str = ""
    log_x: bool = False
    log_y: bool = False


def check_plottable(axes: Sequence[Axis]) -> None:
    """Refuse to plot a study of no or more than two axes."""
    if not 1 <= len(axes) <= 2:
        raise InputError(f"--plot shows one or two axes, not {len(axes)}; allowed: one or two --vary, or no --plot")


def study_chart(study: Study) -> Chart:
    """The best value along one axis, one line for each value of the other."""
    check_plottable(study.axes)
    x_number = _horizontal(study.axes)
    x_axis = study.axes[x_number]
    other = study.axes[1 - x_number] if len(study.axes) == 2 else None
    series = []
    missing: list[tuple[Coordinate, str]] = []
    for place in range(1 if other is None else len(other.values)):
        name = "" if other is None else f"{other.name} = {_text(other.labels[place])}"
        rows: list[tuple[Coordinate, float, float | None, str]] = []
        for position in x_axis.order:
            index = (position,) if other is None else (position, place) if x_number == 0 else (place, position)
            answer, x = study.points[index].answer, _coordinate(x_axis, position)
            status, bound = answer.certificate.status, answer.certificate.lower_bound
            if answer.solution is None or answer.value is None:
                missing.append((x, f"{name}: {status.value}" if name else status.value))
                continue
            low = None if status is Status.OPTIMAL or bound is None else float(bound)
            note = f"{answer.solution.problem.array.name}, {status.value}"
            rows.append((x, float(answer.value), low, note))
        if not rows:
            continue
        series.append(Series(name, *(tuple(row[i] for row in rows) for i in range(4))))  # type: ignore[arg-type]
    objectives = list(dict.fromkeys(p.problems[0].objective.text for p in study.points.values()))
    values = [y for s in series for y in s.y]
    return Chart(
        title=study.provenance.get("title", "what-if study"),
        x_label=_axis_label(x_axis),
        y_label=_metric_label(objectives[0]) if len(objectives) == 1 else "objective",
        series=tuple(series),
        x_values=tuple(_coordinate(x_axis, position) for position in x_axis.order),
        missing=tuple(missing),
        numeric=x_axis.numeric,
        log_x=x_axis.numeric and _spread([float(v) for v in x_axis.labels]),
        log_y=_spread(values),
    )


def check_front_plottable(objectives: int) -> None:
    """Refuse to plot a front of more than three objectives."""
    if not 2 <= objectives <= 3:
        raise InputError(f"--plot shows two or three objectives, not {objectives}; allowed: two or three, or no --plot")


def front_chart(front: Front, title: str = "Pareto front") -> Chart:
    """The first two objectives against each other; a third one as colour."""
    check_front_plottable(len(front.objectives))
    points = front.points
    x, y = (tuple(float(p.values[i]) for p in points) for i in (0, 1))
    notes = tuple(f"{p.problem.array.name}: " + ", ".join(_text(v) for v in p.values) for p in points)
    third = len(front.objectives) == 3
    if not front.complete:
        title += f"\npartial: {front.unfinished}"
    return Chart(
        title=title,
        x_label=_metric_label(front.objectives[0].text),
        y_label=_metric_label(front.objectives[1].text),
        series=(Series("", x, y, (None,) * len(x), notes),),
        x_values=x,
        steps=not third,
        colours=tuple(float(p.values[2]) for p in points) if third else (),
        colour_label=_metric_label(front.objectives[2].text) if third else "",
        log_x=_spread(x),
        log_y=_spread(y),
    )


def _horizontal(axes: Sequence[Axis]) -> int:
    """The axis to draw to the right: a numeric one if there is one, else the first."""
    return next((number for number, axis in enumerate(axes) if axis.numeric), 0)


def _coordinate(axis: Axis, position: int) -> Coordinate:
    label = axis.labels[position]
    return float(label) if axis.numeric else str(label)


def _axis_label(axis: Axis) -> str:
    return f"{axis.name} ({axis.unit})" if axis.unit else axis.name


def _metric_label(text: str) -> str:
    metric = METRICS.get(text.strip())
    return text if metric is None else f"{text} ({metric.unit})"


def _text(value: str | float | Fraction) -> str:
    return value if isinstance(value, str) else f"{float(value):,.6g}"


def _spread(values: Sequence[float]) -> bool:
    finite = [v for v in values if isfinite(v)]
    return bool(finite) and min(finite) > 0 and max(finite) / min(finite) >= LOGARITHMIC
