"""Explain fronts and what-if studies: what is best where, and what one objective or limit costs of
another; and their tables of points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ithaca.files.numbers import counted, number, percent, rounded
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.directions import as_asked, bound_as_asked, goal, name_asked
from ithaca.results.result_view import run_text
from ithaca.results.view import Table, View, tabled
from ithaca.results.wording import (
    gap_text,
    limited_metrics,
    metric_label,
    seconds,
    unit_cells,
)
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.solver.infeasibility import why_infeasible
from ithaca.solver.runs import not_run
from ithaca.studies.front import Front
from ithaca.studies.grid import Cell, Index, StudyAxis
from ithaca.studies.marginal import Marginal
from ithaca.studies.points import GridAnswer
from ithaca.studies.region import Vector
from ithaca.studies.whatif import Study

#: Points whose times are not known.
NO_TIMES: Mapping[Index, Fraction | None] = MappingProxyType({})


def front_lines(objectives: Sequence[str], points: Sequence[tuple[str, Vector]]) -> Iterator[str]:
    """The ends of a front, and of two objectives the step that buys most for least.

    Parameters
    ----------
    objectives : sequence of str
        What is minimised.
    points : sequence of tuple
        Name and objectives of every point, by ascending first objective.

    Yields
    ------
    str
        One statement a line.
    """
    for place, objective in enumerate(objectives):
        name, values = min(points, key=lambda point: point[1][place])
        known = list(map(as_asked, objectives, values))
        what, own = known.pop(place)
        others = ", ".join(f"{other} {number(value)}" for other, value in known)
        side = "Least" if what == objective else "Most"
        yield f"{side} {what}: {number(own)}, with {others} ({name})."
    if len(objectives) != 2:
        return
    steps = []
    for (_, (paid, before)), (_, (more, after)) in pairwise(points):
        if paid > 0 and before > 0:
            steps.append(((before - after) / before, (more - paid) / paid, paid))
    if steps:
        gain, price, paid = max(steps, key=lambda step: step[0] / step[1])
        first, second = objectives
        yield (
            f"Best step: from {first} {number(paid)} on, {percent(price)} more {first} "
            f"buys {percent(gain)} less {second}."
        )


def grid_statements(
    objective: str,
    axes: Sequence[StudyAxis],
    cells: Mapping[Index, Cell],
    times: Mapping[Index, Fraction | None] = NO_TIMES,
) -> Iterator[str]:
    """The best point of a study, and the values along each axis through it: the fastest, where
    cycles are minimised and points differ by their clocks.

    Parameters
    ----------
    objective : str
        What is minimised at every point.
    axes : sequence of StudyAxis
        What is varied.
    cells : mapping
        What came of every point.
    times : mapping, optional
        How long points take (ms), where that is known.

    Yields
    ------
    str
        One statement a line.
    """
    reached = {index: cell.value for index, cell in cells.items() if cell.value is not None}
    if not reached:
        return
    timed = _by_time(objective, reached, times)
    best = min(reached, key=lambda index: (timed or reached)[index])
    place = partial(_place_of, axes)
    proof = cells[best].certificate.stated(cells[best].basis)
    at = f"{place(best) and ' at '}{place(best)}{also(timed or reached, best, place)}"
    what, own = as_asked(objective, reached[best])
    least = f"{what} {number(own)}{at}"
    by = f"{rounded(timed[best])} ms, the least time, as clocks differ; " if timed else ""
    yield f"Best: {least} ({by}{proof})."
    for position, axis in enumerate(axes):
        values = []
        for step, label in enumerate(axis.labels):
            cell = cells[(*best[:position], step, *best[position + 1 :])]
            status = cell.certificate.status.value
            value = status if cell.value is None else number(as_asked(objective, cell.value)[1])
            step_time = timed.get((*best[:position], step, *best[position + 1 :]))
            took = "" if step_time is None else f" ({rounded(step_time)} ms)"
            values.append(f"{label}: {value}{took}")
        others = ", all else as at the best" if len(axes) > 1 else ""
        yield f"Along {axis.name}: {what} is {'; '.join(values)}{others}."


def _place_of(axes: Sequence[StudyAxis], index: Index) -> str:
    return ", ".join(f"{a.name} {a.labels[i]}" for a, i in zip(axes, index, strict=True))


def also(values: Mapping[Index, Fraction], best: Index, place: Callable[[Index], str]) -> str:
    """Words on the other points that are as good as the best: two by name, more by their number.

    Parameters
    ----------
    values : mapping
        Values by point.
    best : tuple of int
        The best point.
    place : callable
        The words for a point.
    """
    equal = [index for index, value in values.items() if value == values[best] and index != best]
    if len(equal) > 2:
        return f", also {counted(len(equal), 'other point')}"
    return f", also {' and '.join(map(place, equal))}" if equal else ""


def _by_time(
    objective: str,
    reached: Mapping[Index, Fraction],
    times: Mapping[Index, Fraction | None],
) -> dict[Index, Fraction]:
    """The times of points by which their cycles compare; empty where cycles do that."""
    known = {index: time for index in reached if (time := times.get(index))}
    clocks = {reached[index] / time for index, time in known.items()}
    same = objective.strip() != "latency" or len(clocks) < 2 or known.keys() != reached.keys()
    return {} if same else known


def front_statements(front: Front) -> tuple[str, ...]:
    """Statements, one a line: the points of the front, and the price of one objective in terms of
    another."""
    texts = [objective.text for objective in front.objectives]
    points = [(point.problem.design.name, point.values) for point in front.points]
    lines = front_lines(texts, points) if points else [f"No point: {front.failure}."]
    many = f"{counted(len(points), 'point')} ({front.status}{front.basis}{as_stated(front)})"
    return (f"Front: {front.title}, {goal(texts)}; {many}.", *lines)


def value_cell(text: str, value: Fraction | None, design: Design) -> tuple[str, str]:
    """An objective as a column of a table, as it was asked for.

    Parameters
    ----------
    text : str
        The objective.
    value : Fraction, optional
        Its value; None where there is none.
    design : Design
        A design, which knows units.
    """
    name, own = as_asked(text, value)
    return metric_label(name, design), number(own)


def bound_cells(certificate: Certificate, objective: str) -> list[tuple[str, str]]:
    """The proof as columns of a table: the bound of an objective, and the gap."""
    name, bound = bound_as_asked(objective, certificate.lower_bound)
    return [(name, number(bound)), ("gap", gap_text(certificate.gap))]


def front_rows(front: Front) -> list[list[tuple[str, str]]]:
    """Heading and cell of every column of the table of points."""
    texts = [objective.text for objective in front.objectives]
    names = [name_asked(text) for text in texts]
    limited = [n for n in limited_metrics(front.problems[0].limits) if n not in names]
    rows, design = [], front.problems[0].design
    for place, point in enumerate(front.points, 1):
        row = [("point", str(place))]
        row += [value_cell(t, v, design) for t, v in zip(texts, point.values, strict=True)]
        row.append(("design", point.problem.design.name))
        row += unit_cells(point.metrics, point.problem.design.vocabulary)
        row += [(metric_label(name, design), number(point.metrics.get(name))) for name in limited]
        rows.append([*row, ("seconds", f"{sum(step.seconds for step in point.proof):.2f}")])
    return rows


def front_view(front: Front) -> View:
    """The view of a front: its proof, then its points."""
    points, among = counted(len(front.points), "point"), f" among {front.among}" * bool(front.among)
    boxes = f"{front.nodes:,} boxes, " if front.nodes else ""
    effort = f"{boxes}{front.seconds:.2f} s"
    complete = (
        f"complete: {points}, and no other vector of objectives is on the front{among}{front.basis}"
    )
    proven = f"{points}, each proven to be on the front{among}{front.basis}; others may exist"
    known = complete if front.complete else f"partial ({front.unfinished!s}): {proven}"
    table = (tabled(front_rows(front), {"design"}),) if front.points else ()
    target = front.provenance.get("for")
    what = f"the front of what --for {target} allows; the front without it shows what that costs"
    return (front.title, f"{known}; {effort}", *table, *((what,) if target else ()))


def study_view(study: Study) -> View:
    """A table of the points, then what each limit is worth, then why some points are infeasible."""
    view: list[str | Table] = [study.title]
    if not study.complete:
        reached = sum(
            p.answer.certificate.nodes > 0 or p.answer.settled for p in study.points.values()
        )
        view.append(f"interrupted: {reached} of {len(study.points)} points were reached")
    texts = {"status", "best design", *(axis.name for axis in study.axes if not axis.numeric)}
    view.append(tabled(study_rows(study), texts))
    if target := study.provenance.get("for"):
        vary = f"--vary for=none,{target} shows what that costs"
        view.append(f"each the best of what --for {target} allows; {vary}")
    return (*view, *study_remarks(study, apart=True))


def study_statements(study: Study) -> tuple[str, ...]:
    """Statements, one a line: the best points along the axes, the worth of limits, and the reasons
    of infeasible points."""
    known = Counter(cell.certificate.status.value for cell in study.cells.values())
    proofs = ", ".join(f"{count} {status}" for status, count in known.items())
    many = f"{counted(len(study.points), 'point')} ({proofs}{study.basis}{as_stated(study)})"
    lines = [f"Study: {study.title}{sought(study.objective)}; {many}."]
    if study.objective != "objective":
        answers = {index: point.answer.configured for index, point in study.points.items()}
        times = {i: own.metrics.get("time") for i, own in answers.items() if own is not None}
        lines += grid_statements(study.objective, study.axes, study.cells, times)
    return (*lines, *map(remark, study_remarks(study)))


def sought(objective: str) -> str:
    """Words on the direction of a study's objective; none where that varies."""
    return "" if objective == "objective" else f", {goal([objective])}"


def remark(text: str) -> str:
    """A remark on a point as a statement: the worth of its limits, or another one.

    Parameters
    ----------
    text : str
        The remark.
    """
    return f"{'Worth of limits' if ' % more ' in text else 'Remark'}: {text}."


def study_remarks(study: Study, *, apart: bool = False) -> list[str]:
    """Remarks, point by point: the worth of each limit, and the reasons of infeasible points.

    Parameters
    ----------
    study : Study
        The study.
    apart : bool, optional
        Whether each limit of a point has a line of its own.
    """
    lines = []
    for index, point in study.points.items():
        place = ", ".join(f"{name} = {label}" for name, label in coordinates(study, index))
        start = f"{place}: " if place else ""
        if point.marginals:
            design, objective = point.problems[0].design, point.problems[0].objective.text
            by = not_run([design])
            problem = objective, design.vocabulary
            lines += worth_lines(start, point.marginals, problem, by, apart=apart)
        for run in point.runs:
            if run.cycles != point.answer.metrics["latency"]:
                lines.append(f"{start}simulated: {run_text(run, point.answer)}")
        if point.answer.certificate.status is Status.INFEASIBLE:
            why = why_infeasible(point.problems, point.answer.shortfalls)
            lines.append(f"{start}infeasible{point.basis}: {why}")
    return lines


def study_rows(study: Study) -> list[list[tuple[str, str]]]:
    """Heading and cell of every column of the table of points."""
    points = study.points.values()
    unproven = any(p.answer.value is not None and not p.answer.settled for p in points)
    limited = limited_metrics(limit for point in points for limit in point.problems[0].limits)
    rows = []
    for index, point in study.points.items():
        answer, certificate = point.answer, point.answer.certificate
        metrics = {} if answer.configured is None else answer.configured.metrics
        row = coordinates(study, index)
        design = point.problems[0].design
        varied = study.objective in dict(row)  # the objective itself
        own = point.problems[0].objective.text
        heading, value = value_cell(own, answer.value, design)
        row.append(("value" if varied else heading, value))
        (side, bound), left = bound_cells(certificate, own)
        row += [("bound" if varied else side, bound), left] if unproven else []
        row.append(("status", certificate.stated(point.basis)))
        row.append(("best design", "–" if answer.configured is None else answer.design))
        row += unit_cells(metrics, point.problems[0].design.vocabulary)
        row += [(metric_label(name, design), number(metrics.get(name))) for name in limited]
        rows.append([*row, ("seconds", seconds(certificate))])
    return rows


def worth_lines(
    start: str,
    marginals: Sequence[Marginal[Any]],
    problem: tuple[str, Mapping[str, Metric]],
    by: str = "",
    *,
    apart: bool,
) -> list[str]:
    """The worth of the limits of a point after its name.

    Parameters
    ----------
    start : str
        The name of the point.
    marginals : sequence of Marginal
        The optima with a limit raised.
    problem : tuple of str and mapping
        What is minimised, and the metrics.
    by : str, optional
        Words on what proves optima.
    apart : bool
        Whether each limit has a line of its own.
    """
    texts = [worth_text(marginal, *problem, by) for marginal in marginals]
    return [start + text for text in texts] if apart else [start + "; ".join(texts)]


def worth_text(
    marginal: Marginal[Any], objective: str, units: Mapping[str, Metric], by: str = ""
) -> str:
    """The worth of a limit as a sentence without its full stop, such as ``10 % more dsp (100 → 110
    blocks) lowers latency by 4.1 %, from 1,000 to 959 cycles``.

    Parameters
    ----------
    marginal : Marginal
        The optimum with the limit raised.
    objective : str
        What is minimised.
    units : mapping of str to Metric
        The metrics, of which limits and objective have their units.
    by : str, optional
        Words on what proves it, where it is proven.
    """
    metric, bound, raised = marginal.limit.metric, marginal.limit.bound, marginal.raised.bound
    step = 100 * (raised - bound) / abs(bound) if bound else Fraction(0)
    limits = f"({number(bound)} → {_amount(raised, metric, units)})"
    name, after = as_asked(objective, marginal.after.value)
    own = as_asked(objective, marginal.before.value)[1]
    moves = "lowers" if name == objective else "raises"
    before, after, objective = number(own), _amount(after, name, units), name
    if marginal.after.value is None:
        text = "was not answered in time"
    elif marginal.before.value is None:
        text = f"allows {objective} of {after}"
    elif marginal.change is None:
        text = f"leaves {objective} at {after}"
    elif marginal.change < 0:
        text = f"{moves} {objective} by {percent(-marginal.change)}, from {before} to {after}"
    elif marginal.proven:
        text = f"buys nothing, {objective} stays at {after}"
    else:
        text = f"was not seen to buy anything, {objective} stays at {before}"
    return f"{float(step):g} % more {metric} {limits} {text}" + (
        by if marginal.proven else " (not proven)"
    )


def _amount(value: Fraction | None, name: str, units: Mapping[str, Metric]) -> str:
    """An amount of a metric with its unit."""
    unit = units[name].unit if name in units else ""
    return f"{number(value)} {unit}".rstrip()


def coordinates(study: GridAnswer, index: Index) -> list[tuple[str, str]]:
    """The axes and the coordinates of a point, as tables show them: what is maximised goes by its
    own name where that tells it from the other objectives.

    Parameters
    ----------
    study : GridAnswer
        The study.
    index : Index
        The place of the point on every axis.
    """
    cells = []
    for axis, place in zip(study.axes, index, strict=True):
        texts = [label_text(label) for label in axis.labels]
        names = [name_asked(text) if axis.name == "objective" else text for text in texts]
        cells.append((axis.name, names[place] if len({*names}) == len(names) else texts[place]))
    return cells


def label_text(label: str | int | float) -> str:
    """A coordinate of a point, as tables show it."""
    return (
        label
        if isinstance(label, str)
        else f"{label:,.10g}"
        if isinstance(label, float)
        else f"{label:,}"
    )
