"""Explain fronts and what-if studies: what is best where, and what one objective or limit costs of
another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ithaca.files.numbers import number, percent
from ithaca.studies.grid import Cell, Index, StudyAxis
from ithaca.studies.region import Vector


def front_statements(
    objectives: Sequence[str], points: Sequence[tuple[str, Vector]]
) -> Iterator[str]:
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
        others = [f"{o} {number(v)}" for o, v in zip(objectives, values, strict=True)]
        del others[place]
        yield f"Least {objective}: {number(values[place])}, with {', '.join(others)} ({name})."
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
    objective: str, axes: Sequence[StudyAxis], cells: Mapping[Index, Cell]
) -> Iterator[str]:
    """The best point of a study, and the values along each axis through it.

    Parameters
    ----------
    objective : str
        What is minimised at every point.
    axes : sequence of StudyAxis
        What is varied.
    cells : mapping
        What came of every point.

    Yields
    ------
    str
        One statement a line.
    """
    reached = {index: cell.value for index, cell in cells.items() if cell.value is not None}
    if not reached:
        return
    best = min(reached, key=lambda index: reached[index])
    place = ", ".join(f"{a.name} {a.labels[i]}" for a, i in zip(axes, best, strict=True))
    proof = cells[best].certificate.told
    yield f"Best: {objective} {number(reached[best])} at {place or 'its point'} ({proof})."
    for position, axis in enumerate(axes):
        values = []
        for step, label in enumerate(axis.labels):
            cell = cells[(*best[:position], step, *best[position + 1 :])]
            status = cell.certificate.status.value
            values.append(f"{label}: {status if cell.value is None else number(cell.value)}")
        others = ", all else as at the best" if len(axes) > 1 else ""
        yield f"Along {axis.name}: {objective} is {'; '.join(values)}{others}."
