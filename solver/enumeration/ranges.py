"""Rows of an axis in nested ranges, hardware first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.space import Axis, Role, Rows

#: Weight of hardware beside what else tells rows apart.
HARDWARE_FIRST = 1000.0


@dataclass(frozen=True)
class Ranges:
    """Rows of an axis in ranges, each halved again and again; the first is of all rows."""

    rows: Rows
    """The rows, hardware first."""
    ends: Floats
    """Both ends of every column on every range, shape (2 * columns, ranges)."""
    left: NDArray[np.int64]
    """The first half of a range, the second is the next one; 0 for single rows."""
    first: NDArray[np.int64]
    """The first row of a range."""
    spread: Floats
    """How much rows of a range differ; 0 for single rows."""


def in_order(axis: Axis, rows: Rows) -> NDArray[np.int64]:
    """An order of rows: by hardware, then by the number of tiles, by ports, and by the rest."""
    names = [q.name for q in axis.quantities if q.role is Role.HARDWARE]
    names += [] if axis.cut is None else [axis.cut.count]
    names += [q.name for q in axis.quantities if q.role is Role.PORT]
    names += [q.name for q in axis.quantities if q.name not in names]
    return np.lexsort([rows[name] for name in reversed(names)])


def ranges_of(axis: Axis, rows: Rows, values: Floats) -> Ranges:
    """The ranges of rows, at least one, with the ends of their columns.

    Parameters
    ----------
    axis : Axis
        The axis.
    rows : Rows
        Its rows.
    values : Floats
        Both ends of every column on the rows.
    """
    order = in_order(axis, rows)
    rows, values = {name: v[order] for name, v in rows.items()}, values[:, order]
    count = order.size
    hardware = [rows[q.name] for q in axis.quantities if q.role is Role.HARDWARE]
    new = np.zeros(count, bool)
    new[:1] = True
    for column in hardware:
        new[1:] |= column[1:] != column[:-1]
    group = np.cumsum(new) - 1
    edges = np.append(np.flatnonzero(new), count)
    levels = [(np.zeros(1, np.int64), np.full(1, count))]
    lefts, made = [], 1
    while True:
        low, high = levels[-1]
        inner = np.flatnonzero(high - low > 1)
        left = np.zeros(low.size, np.int64)
        left[inner] = made + 2 * np.arange(inner.size)
        lefts.append(left)
        if not inner.size:
            break
        made += 2 * inner.size
        low, high = low[inner], high[inner]
        middle = (low + high) // 2
        # where hardware differs it is cut there
        start, end = edges[group[middle]], edges[group[middle] + 1]
        cut = np.where(start > low, start, np.where(end < high, end, middle))
        levels.append((np.stack([low, cut], 1).ravel(), np.stack([cut, high], 1).ravel()))
    first = np.concatenate([level[0] for level in levels])
    left = np.concatenate(lefts)
    ends = np.empty((values.shape[0], left.size))
    single = left == 0
    ends[:, single] = values[:, first[single]]
    wide = [np.log(v) for v in hardware]
    differ = np.zeros((2 * len(wide), left.size))
    for n, column in enumerate(wide):
        differ[2 * n : 2 * n + 2, single] = column[first[single]]
    begin = left.size
    for own in reversed(lefts):
        begin -= own.size
        inner = begin + np.flatnonzero(own)
        child = left[inner]
        for all_ends in (ends, differ):
            all_ends[::2, inner] = np.minimum(all_ends[::2, child], all_ends[::2, child + 1])
            all_ends[1::2, inner] = np.maximum(all_ends[1::2, child], all_ends[1::2, child + 1])
    spread = (np.log1p(np.abs(ends[1::2])) - np.log1p(np.abs(ends[::2]))).sum(0)
    spread = np.abs(spread) + HARDWARE_FIRST * (differ[1::2] - differ[::2]).sum(0)
    spread[~single] = np.maximum(spread[~single], 1e-6)
    spread[single] = 0
    return Ranges(rows, ends, left, first, spread)
