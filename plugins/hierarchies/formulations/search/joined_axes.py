"""The search of mappings whose axes are joined: variants are decided first, such as what levels
keep, then the options of one axis after the other. Every partial mapping has a bound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.stage import Block, Candidates, Cutoff

#: Partial mappings that are kept at most, about 0.5 GB; of more, half as many of least bounds are.
MOST = 1 << 23

#: The partial mapping of which no axis is decided.
START: Integers = np.zeros((1, 0), np.int64)


class JoinedAxes(ABC):
    """A stage whose rows are an option of every axis, after the number of a variant."""

    least = -inf
    """Nothing is known at once."""

    beam: ClassVar[int] = 256
    """Partial mappings that are kept after every axis in the search for first incumbents."""

    band: ClassVar[int] = 1 << 15
    """Partial mappings, all axes but one decided, that are finished before those with larger
    bounds."""

    def __init__(self) -> None:
        self.dropped: Fraction | float = inf

    @property
    @abstractmethod
    def counts(self) -> tuple[int, int]:
        """The numbers of variants and axes."""

    @abstractmethod
    def extended(self, variant: int, rows: Integers, cutoff: Cutoff) -> tuple[Integers, Floats]:
        """Rows with every option of the next axis, and bounds, where they fit and those are below
        the cutoff.

        Parameters
        ----------
        variant : int
            Number of the variant.
        rows : ndarray
            Partial mappings, a row each: the option of every axis that is decided, in order.
        cutoff : callable
            The value to improve on as it is now; None while nothing is known.
        """

    @abstractmethod
    def completed(self, variant: int, row: Integers, cutoff: Cutoff) -> Candidates:
        """The candidates of a row of all axes, as far as they may improve on the cutoff.

        Parameters
        ----------
        variant : int
            Number of the variant.
        row : ndarray
            The option of every axis, in order.
        cutoff : callable
            The value to improve on as it is now; None while nothing is known.
        """

    def kept(self, parts: list[tuple[Integers, Floats]]) -> list[tuple[Integers, Floats]]:
        """Rows with bounds, those of large ones left out where there are too many."""
        if sum(least.size for _, least in parts) <= MOST:
            return parts
        every = np.concatenate([least for _, least in parts])
        below = float(np.partition(every, MOST // 2)[MOST // 2])
        self.dropped = min(self.dropped, below)
        return [(rows[least < below], least[least < below]) for rows, least in parts]

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """The best that narrow searches find in each variant."""
        variants, axes = self.counts
        for variant in range(variants):
            rows = START
            for _ in range(axes):
                rows, bounds = self.extended(variant, rows, cutoff)
                rows = rows[np.argsort(bounds, kind="stable")[: self.beam]]
                yield None
            for row in rows:
                made = [*self.completed(variant, row, cutoff)]
                yield from made
                if any(each is not None for each in made):
                    break

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Whole mappings that may improve. All axes but the last are joined first, variant by
        variant; then come those of all variants together, those with the least bounds first."""
        yield Block.empty(-inf)
        joined: list[tuple[Integers, Floats]] = [(np.zeros((0, 0), np.int64), np.zeros(0))]
        variants, axes = self.counts
        for variant in range(variants):
            rows, least = START, np.full(1, -inf)
            for _ in range(axes - 1):
                rows, least = self.extended(variant, rows, cutoff)
            joined = self.kept([*joined, (rows, least)])
            yield Block.empty(-inf)
        parts, bounds = zip(*joined, strict=True)
        sizes = [least.size for least in bounds]
        owners = np.repeat(np.arange(-1, variants), sizes)
        places = np.concatenate([np.arange(size) for size in sizes])
        every = np.concatenate(bounds)
        order = np.argsort(every, kind="stable")
        for begin in range(0, order.size, self.band):
            band = order[begin : begin + self.band]
            least_open = float(every[band[0]])
            if not least_open < least_double(cutoff()):
                break
            for variant in np.unique(owners[band]):
                own = places[band[owners[band] == variant]]
                rows, least = self.extended(variant, parts[variant + 1][own], cutoff)
                first = np.full((least.size, 1), variant)
                yield Block(np.concatenate([first, rows], axis=1), least, least_open)
        yield Block.empty(inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The candidates of rows, which begin with their variant, as far as they may improve on the
        cutoff."""
        for row in rows:
            yield from self.completed(int(row[0]), row[1:], cutoff)
