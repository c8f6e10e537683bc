"""Trade-offs between DSP blocks and time."""

from __future__ import annotations

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
