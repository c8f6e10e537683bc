"""Trade-offs between DSP blocks and time, and their combination over the stages of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Minimise(Enum):
    """What the arrays of a pipeline are judged by."""

    SLOWEST = "slowest"
    """The stage that takes longest: it sets the rate of a stream of inputs."""
    TOTAL = "total"
    """All stages one after the other: the time of one input."""


@dataclass(frozen=True)
class Front:
    """Choices none of which is better than another in both respects, DSP blocks ascending.

    Attributes
    ----------
    dsp : array, shape (choices,)
        DSP blocks.
    value : array, shape (choices,)
        Lower bound of the objective; descending.
    choice : array, shape (choices,)
        Number of the choice.
    """

    dsp: Floats
    value: Floats
    choice: Indices


@dataclass(frozen=True)
class Plan:
    """Stages in order: first layer, end (exclusive), number of the choice; and the bound of what they do together."""

    stages: tuple[tuple[int, int, int], ...]
    value: float


def front_of(dsp: Floats, value: Floats, choice: Indices) -> Front:
    """The choices that are not dominated."""
    order = np.lexsort((value, dsp))
    values = value[order]
    best = np.minimum.accumulate(values)
    keep = np.isfinite(values)
    keep[1:] &= values[1:] < best[:-1]
    kept = order[keep]
    return Front(dsp[kept], value[kept], choice[kept])


def best_plan(
    fronts: Mapping[tuple[int, int], Front], layers: int, arrays: int, budget: float, minimise: Minimise, below: float
) -> Plan | None:
    """The best way to cut layers into consecutive stages, each on an array of its own, within a budget of DSP blocks.

    Parameters
    ----------
    fronts : mapping of (int, int) to Front
        Choices of every stage by its first layer and its end.
    layers : int
        Number of layers.
    arrays : int
        Most stages.
    budget : float
        DSP blocks of all arrays together.
    minimise : Minimise
        What counts.
    below : float
        Plans that are not better than this need not be found.
    """
    nothing = np.zeros(1)
    reached: list[dict[int, _Reached]] = [{0: _Reached(Front(nothing, nothing, np.zeros(1, np.int64)), ())}]
    for _ in range(arrays):
        step: dict[int, _Reached] = {}
        for end in range(1, layers + 1):
            parts = [(a, reached[-1][a].front, fronts[a, end]) for a in reached[-1] if (a, end) in fronts]
            if (found := _extend(parts, budget, minimise, below)) is not None:
                step[end] = found
        reached.append(step)
    ends = [(float(step[layers].front.value[-1]), count) for count, step in enumerate(reached) if layers in step]
    if not ends:
        return None
    value, count = min(ends)
    return Plan(_trace(reached, fronts, layers, count), value)


@dataclass(frozen=True)
class _Reached:
    """Plans for the first layers, and where each came from: first layer of its last stage, plan before, choice."""

    front: Front
    back: tuple[tuple[int, int, int], ...]


def _extend(parts: Sequence[tuple[int, Front, Front]], budget: float, minimise: Minimise, below: float) -> _Reached | None:
    dsp, value, back = [], [], []
    for first, before, stage in parts:
        used = before.dsp[:, None] + stage.dsp
        taken = (
            np.maximum(before.value[:, None], stage.value)
            if minimise is Minimise.SLOWEST
            else before.value[:, None] + stage.value
        )
        i, j = np.nonzero((used <= budget) & (taken < below))
        dsp.append(used[i, j])
        value.append(taken[i, j])
        back.append(np.stack([np.full(i.size, first), i, j], axis=1))
    if not sum(d.size for d in dsp):
        return None
    came = np.concatenate(back)
    front = front_of(np.concatenate(dsp), np.concatenate(value), np.arange(len(came)))
    return _Reached(front, tuple((int(a), int(i), int(j)) for a, i, j in came[front.choice]))


def _trace(
    reached: Sequence[Mapping[int, _Reached]], fronts: Mapping[tuple[int, int], Front], layers: int, count: int
) -> tuple[tuple[int, int, int], ...]:
    stages: list[tuple[int, int, int]] = []
    end, index = layers, len(reached[count][layers].back) - 1
    for step in range(count, 0, -1):
        first, before, chosen = reached[step][end].back[index]
        stages.insert(0, (first, end, int(fronts[first, end].choice[chosen])))
        end, index = first, before
    return tuple(stages)
