"""Loops cut into tiles, and of the ways to cut one those that waste nothing.

A loop is cut into ``count`` tiles of ``size`` = ``inner`` times ``outer`` iterations. Where costs
only rise with one of both factors, the least that gives a number of tiles will do, and the least
multiple of each width that data may be packed in: some 2·√(N/other) of them instead of N/other.
Widths are powers of two, as are the parts of them that the other factor leaves to this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ithaca.formulations.algebra.array_types import Integers, Mask

#: Pairs of factors generated at once.
CHUNK = 1 << 20


@dataclass(frozen=True)
class Cut:
    """The names of what cuts a loop, and its extent."""

    extent: int
    """Iterations of the loop."""
    inner: str
    """The first factor of a tile."""
    outer: str
    """The second factor: how often the first is repeated."""
    size: str
    """Iterations of a tile."""
    count: str
    """Tiles."""

    def other(self, name: str) -> str:
        """The factor beside one of both."""
        return self.outer if name == self.inner else self.inner

    def least(
        self, fixed: Integers, most: int, widths: Sequence[int], keep: int = 0
    ) -> Iterator[tuple[Integers, Integers]]:
        """Pairs of factors of which the second is the least that cuts the loop into as many tiles,
        among the multiples of a width; all up to ``keep``, and the least beyond.

        Parameters
        ----------
        fixed : Integers
            Values of the first factor, shape (values).
        most : int
            Largest size of a tile (iterations).
        widths : sequence of int
            Powers of two, 1 among them.
        keep : int, optional
            Values of the second factor below which each counts.
        """
        blocks = -(-self.extent // fixed)
        roots = np.sqrt(blocks).astype(np.int64) + 1
        for part in _chunks((2 * roots + 1) * len(widths) + keep):
            pairs = _pairs(fixed[part], blocks[part], roots[part], most, widths, keep)
            yield pairs // (most + 1), pairs % (most + 1)

    def like(
        self, fixed: Integers, count: Integers, most: int
    ) -> Iterator[tuple[Integers, Integers]]:
        """All pairs of factors of which the first is one of some, with a number of tiles for each.

        Parameters
        ----------
        fixed : Integers
            Values of the first factor, shape (values).
        count : Integers
            The tiles of each, shape (values).
        most : int
            Largest size of a tile (iterations).
        """
        low = -(-self.extent // (fixed * count))
        # one iteration less than what fewer tiles take
        size = np.where(count > 1, -(-self.extent // np.maximum(count - 1, 1)) - 1, most)
        return _ranges(fixed, low, np.minimum(size, most) // fixed)

    def counted(
        self, fixed: Integers, counts: Integers, most: int
    ) -> Iterator[tuple[Integers, Integers]]:
        """All pairs of factors, the first one of some, that cut the loop into one of some numbers
        of tiles.

        Parameters
        ----------
        fixed : Integers
            Values of the first factor.
        counts : Integers
            Numbers of tiles.
        most : int
            Largest size of a tile (iterations).
        """
        wanted = np.zeros(self.extent + 1, bool)
        wanted[counts] = True
        for first, second in _ranges(fixed, np.ones_like(fixed), most // fixed):
            kept = wanted[-(-self.extent // (first * second))]
            yield first[kept], second[kept]

    def wasteful(
        self, factor: Integers, other: Integers, widths: Sequence[int], keep: int = 0
    ) -> Mask:
        """A mask of the pairs whose first factor could be less for as many tiles and every width;
        parameters as of `least`.

        Parameters
        ----------
        factor : Integers
            The first factor, shape (pairs).
        other : Integers
            The second one.
        widths : sequence of int
            Powers of two, 1 among them.
        keep : int, optional
            Values of the first factor up to which each counts.
        """
        blocks = -(-self.extent // other)
        count, spare = -(-blocks // factor), factor > keep
        for width in widths:
            less = np.maximum(factor - width, 1)
            same = (factor - width >= max(keep, 1)) & (-(-blocks // less) == count)
            spare &= same | (factor % width != 0)
        return spare


def counted_up(counts: Integers) -> Integers:
    """Whole numbers from 0 on, so many for each count, one after the other."""
    numbers: Integers = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return numbers


def _chunks(sizes: Integers) -> Iterator[slice]:
    """Slices of entries of given sizes that are about `CHUNK` together."""
    ends = np.flatnonzero(np.diff(np.cumsum(sizes) // CHUNK)) + 1
    yield from (slice(*each) for each in pairwise([0, *ends.tolist(), sizes.size]))


def _ranges(fixed: Integers, low: Integers, high: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Each of some values with all whole numbers of its range, in chunks."""
    counts = np.maximum(high - low + 1, 0)
    for part in _chunks(counts):
        own = counts[part]
        yield np.repeat(fixed[part], own), np.repeat(low[part], own) + counted_up(own)


def _pairs(
    fixed: Integers,
    blocks: Integers,
    roots: Integers,
    most: int,
    widths: Sequence[int],
    keep: int,
) -> Integers:
    """Codes ``fixed * (most + 1) + factor`` of the pairs of `Cut.least`, ascending."""
    counts = roots + 1
    place = counted_up(counts)
    first, whole = np.repeat(fixed, counts), np.repeat(blocks, counts)
    # for few tiles by their number, for many by the factor itself; and the first beyond those kept
    least = np.concatenate([place + 1, -(-whole // (place + 1)), np.full_like(place, keep)])
    owner = np.concatenate([first] * 3)
    codes = []
    for width in widths:
        factor = np.maximum(-(-least // width) * width, 1)
        legal = owner * factor <= most
        codes.append((owner * (most + 1) + factor)[legal])
    if keep:
        small = np.add.outer(fixed * (most + 1), np.arange(1, min(keep, most) + 1)).ravel()
        codes.append(small[(small // (most + 1)) * (small % (most + 1)) <= most])
    every = np.concatenate(codes)
    every.sort()  # several times as fast as the hashes of `np.unique`
    different = np.ones(every.size, bool)
    np.not_equal(every[1:], every[:-1], out=different[1:])
    return every[different]
