"""How to cut layers into stages, each on an array of its own, within one budget of DSP blocks: fronts of time over blocks."""

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
    """Choices none of which is better than another in both respects, DSP blocks ascending."""

    dsp: Floats  #: DSP blocks; shape (choices,)
    value: Floats  #: Lower bound of the objective; descending; shape (choices,)
    choice: Indices  #: Number of the choice; shape (choices,)


def front_of_sorted(dsp: Floats, value: Floats) -> Front:
    """The choices that are not dominated, of choices with DSP blocks ascending."""
    # of choices with as many blocks, only the best counts
    best = np.minimum.accumulate(value)
    kept = np.flatnonzero(np.isfinite(value) & (value < np.concatenate([[np.inf], best[:-1]])))
    last = np.append(dsp[kept][1:] > dsp[kept][:-1], True) if kept.size else kept.astype(bool)
    kept = kept[last]
    return Front(dsp[kept], value[kept], kept)


def front_of(dsp: Floats, value: Floats, choice: Indices) -> Front:
    """The choices that are not dominated."""
    order = np.argsort(dsp, kind="stable")
    front = front_of_sorted(dsp[order], value[order])
    return Front(front.dsp, front.value, choice[order][front.choice])


@dataclass(frozen=True)
class Plan:
    """Stages in order: first layer, end (exclusive), number of the choice; and the bound of what they do together."""

    stages: tuple[tuple[int, int, int], ...]
    value: float


def best_plan(
    fronts: Mapping[tuple[int, int], Front], layers: int, arrays: int, budget: float, minimise: Minimise, below: float
) -> Plan | None:
    """The best way to cut layers into consecutive stages, each on an array of its own, within a budget of DSP blocks.

    ``fronts`` has the choices of every stage by its first layer and its end. Plans not better than ``below`` need not be found.
    """
    solve = _least_slowest if minimise is Minimise.SLOWEST else _least_total
    return solve(fronts, layers, arrays, budget, below)


def _least_slowest(
    fronts: Mapping[tuple[int, int], Front], layers: int, arrays: int, budget: float, below: float
) -> Plan | None:
    """Plan with the least time of the slowest stage.

    Whether stages of at most some time fit the budget takes one pass: each stage by itself needs the fewest DSP blocks.
    The least such time is one of the choices' and is found by bisection.
    """
    times = np.unique(np.concatenate([front.value for front in fronts.values()]))
    times = times[times < below]
    low, high = 0, times.size  # no plan takes less than times[low]; some plan takes times[high], if there is one
    found: _Cheapest | None = None
    while low < high:
        middle = (low + high) // 2
        cheapest = _cheapest(fronts, layers, arrays, float(times[middle]))
        if cheapest.dsp[:, layers].min() <= budget:
            high, found = middle, cheapest
        else:
            low = middle + 1
    if found is None:
        return None
    count = int(np.argmax(found.dsp[:, layers] <= budget))
    stages: list[tuple[int, int, int]] = []
    end = layers
    for stage in range(count, 0, -1):
        first = int(found.first[stage, end])
        front = fronts[first, end]
        stages.insert(0, (first, end, int(front.choice[_within(front, float(times[high]))])))
        end = first
    return Plan(tuple(stages), float(times[high]))


@dataclass(frozen=True)
class _Cheapest:
    """The fewest DSP blocks for the first layers on so many arrays, and the first layer of the last array's.

    Both arrays have shape (arrays + 1, layers + 1).
    """

    dsp: Floats
    first: Indices


def _cheapest(fronts: Mapping[tuple[int, int], Front], layers: int, arrays: int, time: float) -> _Cheapest:
    """What stages need of which none takes more than some time."""
    need = np.full((layers + 1, layers + 1), np.inf)
    for (first, end), front in fronts.items():
        place = _within(front, time)
        if place < front.dsp.size:
            need[first, end] = front.dsp[place]
    dsp = np.full((arrays + 1, layers + 1), np.inf)
    came = np.zeros((arrays + 1, layers + 1), np.int64)
    dsp[0, 0] = 0.0
    for count in range(1, arrays + 1):
        sums = dsp[count - 1][:, None] + need
        came[count] = np.argmin(sums, axis=0)
        dsp[count] = np.min(sums, axis=0)
    return _Cheapest(dsp, came)


def _within(front: Front, time: float) -> int:
    """Place of the cheapest choice that takes at most some time; the size of the front if none does."""
    return int(np.searchsorted(-front.value, -time))


def _least_total(fronts: Mapping[tuple[int, int], Front], layers: int, arrays: int, budget: float, below: float) -> Plan | None:
    """Plan with the least time of all stages together: fronts of the first layers are extended stage by stage."""
    # a stage may take less than nothing (comm - comp): what is reached before it may be so much worse
    least = min((float(front.value[-1]) for front in fronts.values() if front.value.size), default=0.0)
    reachable = below - arrays * min(least, 0.0)
    nothing = np.zeros(1)
    reached: list[dict[int, _Reached]] = [{0: _Reached(Front(nothing, nothing, np.zeros(1, np.int64)), ())}]
    for _ in range(arrays):
        step: dict[int, _Reached] = {}
        for end in range(1, layers + 1):
            parts = [(a, reached[-1][a].front, fronts[a, end]) for a in reached[-1] if (a, end) in fronts]
            if (found := _extend(parts, budget, reachable)) is not None:
                step[end] = found
        reached.append(step)
    ends = [(float(step[layers].front.value[-1]), count) for count, step in enumerate(reached) if layers in step]
    ends = [end for end in ends if end[0] < below]
    if not ends:
        return None
    value, count = min(ends)
    return Plan(_trace(reached, fronts, layers, count), value)


@dataclass(frozen=True)
class _Reached:
    """Plans for the first layers, and where each came from: first layer of its last stage, plan before, choice."""

    front: Front
    back: tuple[tuple[int, int, int], ...]


def _extend(parts: Sequence[tuple[int, Front, Front]], budget: float, below: float) -> _Reached | None:
    dsp, value, back = [], [], []
    for first, before, stage in parts:
        used = before.dsp[:, None] + stage.dsp
        taken = before.value[:, None] + stage.value
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
