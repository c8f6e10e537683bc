"""Points of a grid counted block by block, those around its center first, so that a part of them is
an answer, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import inf

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.space import Values
from ithaca.refine.grid import Best, best_at, evaluate, placed
from ithaca.refine.window import Window

#: Points of a block: a fraction of a second.
BLOCK = 1 << 15


@dataclass(frozen=True)
class Tally:
    """The points of a window that were evaluated."""

    points: int
    """How many there are, legal or not."""
    legal: int
    """How many of them are points of the design space."""
    feasible: int
    """How many of these meet limits and conditions."""
    best: Best | None
    """The feasible one of least objective, the first of equals; None if there is none."""


def tallies(window: Window) -> Iterator[Tally]:
    """Evaluate a window block by block, and tally after each what was evaluated so far."""
    done = legal = feasible = 0
    least: tuple[float, tuple[int, ...]] = inf, ()
    for part in blocks(window, BLOCK):
        poll()
        shape = tuple(part.shape.values())
        points = evaluate(part, placed(part))
        masks = [np.broadcast_to(mask, shape) for mask in (points.legal, points.feasible)]
        done += part.points
        legal += int(masks[0].sum())
        feasible += int(masks[1].sum())
        objective = np.broadcast_to(np.where(points.feasible, points.objective, inf), shape)
        first = np.unravel_index(objective.argmin(), shape)
        if (value := float(objective[first])) < inf:
            place = tuple(
                int(np.searchsorted(window.free[name], values[at]))
                for (name, values), at in zip(part.free.items(), first, strict=True)
            )
            least = min(least, (value, place))
        best = None if least[0] == inf else best_at(window, least[1], least[0])
        yield Tally(done, legal, feasible, best)


def blocks(window: Window, most: int) -> Iterator[Window]:
    """The parts of a window with at most so many points each, those around its center first."""
    parts, rest = dict[str, list[Values]](), window.points
    for name, values in window.free.items():
        if rest <= most:
            parts[name] = [values]
            continue
        rest //= values.size
        step = max(1, most // rest)
        near = values[np.argsort(np.abs(values - window.center[name]), kind="stable")]
        parts[name] = [np.sort(near[at : at + step]) for at in range(0, values.size, step)]
        rest *= step
    for chosen in product(*parts.values()):
        yield replace(window, free=dict(zip(parts, chosen, strict=True)))
