"""What is asked of designs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from math import inf

import numpy as np

from ithaca.formulations.algebra.array_types import Floats


class Minimise(Enum):
    """What the arrays of a pipeline are judged by."""

    SLOWEST = "slowest"
    """The stage that takes longest: it sets the rate of a stream of inputs."""
    TOTAL = "total"
    """All stages one after the other: the time of one input."""

    @property
    def joined(self) -> Callable[[Floats, Floats], Floats]:
        """What two parts of a pipeline take together."""
        return np.maximum if self is Minimise.SLOWEST else np.add

    @property
    def nothing(self) -> float:
        """What a pipeline without stages takes."""
        return -inf if self is Minimise.SLOWEST else 0.0
