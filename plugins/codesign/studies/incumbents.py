"""Good accelerators by local search: steps of one quantity, or of two that pay for each other,
judged by known mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import inf

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.space import Quantity
from ithaca.plugins.codesign.studies.layer_cache import Bound

#: Steps from where known mappings see no better one that are looked at with new mappings.
LOOKED = 24


def climb(
    quantities: tuple[Quantity, ...],
    point: Configuration,
    judge: Callable[[Configuration, Bound], Bound],
    solve: Callable[[Configuration, Bound], Bound],
    over: Callable[[], bool],
) -> Configuration:
    """Improve on an accelerator until no step helps; the best that came of it.

    ``judge`` says what known mappings make of an accelerator, infinity where it breaks rules or
    limits, or is known not to be below another value. Of all steps the best is taken. Where they
    see no better one, accelerators around are tried with mappings of their own, the most promising
    first: ``solve`` gives their value if it is below another one, else infinity.

    Parameters
    ----------
    quantities : tuple of Quantity
        Those that steps may change.
    point : Configuration
        The accelerator to begin with.
    judge : callable
        From an accelerator and another value, its own with known mappings.
    solve : callable
        From an accelerator and another value, its own with the best mappings.
    over : callable
        Whether to stop.
    """
    value = solve(point, inf)
    tried = {point}
    while not over():
        judged = _judged(_steps(quantities, point), judge, value) or [(inf, point)]
        if judged[0][0] >= value:
            judged = sorted(
                [*judged, *_judged(_exchanges(quantities, point), judge, value)],
                key=lambda entry: entry[0],
            )
        if judged[0][0] < value:
            value, point = judged[0]
            continue
        for _, step in [(value, point), *judged][:LOOKED]:
            if step not in tried and not over():
                tried.add(step)
                if (reached := solve(step, value)) < value:
                    value, point = reached, step
                    break
        else:
            break
    return point


def _judged(
    steps: Iterator[Configuration], judge: Callable[[Configuration, Bound], Bound], below: Bound
) -> list[tuple[Bound, Configuration]]:
    """Steps that keep rules and limits, the best first."""
    ranked = sorted(
        ((judge(step, below), number, step) for number, step in enumerate(steps)),
        key=lambda entry: entry[:2],
    )
    return [(value, step) for value, _, step in ranked if value < inf]


def _steps(quantities: tuple[Quantity, ...], point: Configuration) -> Iterator[Configuration]:
    """Neighbours with one quantity at its next value, or half as far as it goes, either way."""
    for quantity in quantities:
        place, last = quantity.values.index(point[quantity.name]), len(quantity.values) - 1
        for other in sorted({place - 1, place // 2, place + 1, (place + last + 1) // 2} - {place}):
            if 0 <= other <= last:
                yield Configuration({**point, quantity.name: quantity.values[other]})


def _exchanges(quantities: tuple[Quantity, ...], point: Configuration) -> Iterator[Configuration]:
    """Neighbours with one quantity a step up, another one a step down."""
    for more, less in product(quantities, repeat=2):
        up, down = more.values.index(point[more.name]) + 1, less.values.index(point[less.name]) - 1
        if more != less and up < len(more.values) and down >= 0:
            yield Configuration({**point, more.name: more.values[up], less.name: less.values[down]})
