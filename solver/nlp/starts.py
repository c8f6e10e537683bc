"""Where to start: a known configuration, the middle, random points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, log, sqrt

import numpy as np


def starting_points(
    ranges: Mapping[str, tuple[float, float]], seed: int, known: Mapping[str, float] | None = None
) -> Iterator[Mapping[str, float]]:
    """Starting points without end: what is known, the middle of all ranges, then random points in them (of logarithms).

    Parameters
    ----------
    ranges : mapping of str to (float, float)
        Smallest and largest value of each quantity.
    seed : int
        The same seed gives the same points.
    known : mapping of str to float, optional
        The quantities of a configuration.
    """
    if known is not None:
        yield known
    yield {name: sqrt(low * high) for name, (low, high) in ranges.items()}
    generator = np.random.default_rng(seed)
    while True:
        yield {name: exp(generator.uniform(log(low), log(high))) for name, (low, high) in ranges.items()}
