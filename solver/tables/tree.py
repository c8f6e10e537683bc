"""Group the rows of a table in a binary tree of regions, hardware first.

Once lanes and the like are known the work of an array is known, and bounds are close: so the rows
are told apart by the hardware that they ask for before all else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.space import Role
from ithaca.solver.options import never
from ithaca.solver.tables.table import CandidateTable

#: Keeps logarithms of column values finite; columns are of the order of 1 and above.
LOG_OFFSET = 1e-3

#: Weight of the variation of a hardware quantity beside that of a column.
HARDWARE_FIRST = 1000.0


@dataclass(frozen=True)
class RowTree:
    """A binary tree over the rows of a table. Node 0 holds all of them (of an empty table,
    none)."""

    table: CandidateTable
    """The rows."""
    low: Floats
    """Smallest value on a node's rows of each column whose smallest value bounds use."""
    high: Floats
    """Largest value on a node's rows of each column whose largest value bounds use."""
    left: NDArray[np.int32]
    """First child; the second is ``left + 1``; 0 for leaves."""
    row: NDArray[np.int32]
    """For leaves the row; for others a typical row of the node."""
    spread: NDArray[np.float32]
    """How much the columns and the hardware vary on the node; 0 for leaves."""

    def rows_under(self, node: int) -> NDArray[np.int32]:
        """The rows of a node."""
        rows, level = [], np.array([node])
        while level.size:
            left = self.left[level]
            rows.append(self.row[level[left == 0]])
            level = np.concatenate([left[left > 0], left[left > 0] + 1])
        return np.concatenate(rows)


def build_tree(table: CandidateTable, checkpoint: Callable[[], None] = never) -> RowTree:
    """Split the rows top-down, level by level, at what varies most: a hardware quantity where there
    is one, else a column.

    Each node is cut at the geometric middle of its range.
    """
    values = table.values
    if not table.count:
        nothing = np.zeros((len(table.columns), 1))
        return RowTree(
            table,
            nothing,
            nothing,
            np.zeros(1, np.int32),
            np.zeros(1, np.int32),
            np.zeros(1, np.float32),
        )
    use_low, use_high = np.array([(c.low, c.high) for c in table.columns], bool).reshape(-1, 2).T
    hardware = [q.name for q in table.axis.quantities if q.role is Role.HARDWARE]
    guides = [table.rows[name].astype(np.float64) for name in hardware] or [np.ones(table.count)]
    weights = np.repeat([1.0, HARDWARE_FIRST], [len(values), len(guides)])[:, None]
    values, unused = np.concatenate([values, guides]), np.zeros(len(guides), bool)
    use_low, use_high = np.concatenate([use_low, unused]), np.concatenate([use_high, unused])
    signed = values.min(axis=1) < 0
    logs = _logarithms(values)
    order = np.arange(table.count)
    starts = np.zeros(1, np.int64)
    sizes = np.array([table.count])
    lows, highs, lefts, rows, spreads = [], [], [], [], []
    next_node = 1
    while sizes.size:
        checkpoint()
        # this level's nodes: their rows lie consecutively in `order`
        inner = np.flatnonzero(sizes > 1)
        left, spread = np.zeros(sizes.size, np.int32), np.zeros(sizes.size, np.float32)
        left[inner] = next_node + 2 * np.arange(inner.size)
        next_node += 2 * inner.size
        typical = order[starts + sizes // 2]
        low = values.take(typical, axis=1)
        high = low.copy()
        if inner.size:
            order = order[np.repeat(sizes > 1, sizes)]
            sizes = sizes[inner]
            starts = np.cumsum(sizes) - sizes
            ordered = values.take(order, axis=1)
            low[:, inner] = ends_low = np.minimum.reduceat(ordered, starts, axis=1)
            high[:, inner] = ends_high = np.maximum.reduceat(ordered, starts, axis=1)
            log_low, log_high = _logarithms(ends_low), _logarithms(ends_high)
            if signed.any():
                ordered = logs[signed].take(order, axis=1)
                log_low[signed] = np.minimum.reduceat(ordered, starts, axis=1)
                log_high[signed] = np.maximum.reduceat(ordered, starts, axis=1)
            ranges = weights * (log_high - log_low)
            spread[inner] = np.maximum(ranges.sum(axis=0).astype(np.float32), np.float32(1e-6))
        lows.append(low[use_low])
        highs.append(high[use_high])
        lefts.append(left)
        rows.append(typical.astype(np.int32))
        spreads.append(spread)
        if not inner.size:
            break
        chosen, nodes = ranges.argmax(axis=0), np.arange(inner.size)
        middle = 0.5 * (log_low[chosen, nodes] + log_high[chosen, nodes])
        segment = np.repeat(nodes, sizes)
        below = logs[chosen[segment], order] <= middle[segment]
        first = np.add.reduceat(below, starts, dtype=np.int64)
        # those below come first, all in their order
        ahead = np.cumsum(below) - below - (np.cumsum(first) - first)[segment]
        place = np.where(
            below, starts[segment] + ahead, first[segment] + np.arange(order.size) - ahead
        )
        moved = np.empty_like(order)
        moved[place] = order
        order = moved
        # rows that agree in every column are halved: nothing tells where to cut
        first = np.where(ranges[chosen, nodes] > 0, np.clip(first, 1, sizes - 1), sizes // 2)
        sizes = np.stack([first, sizes - first], axis=1).ravel()
        starts = np.cumsum(sizes) - sizes
    return RowTree(
        table,
        np.concatenate(lows, axis=1),
        np.concatenate(highs, axis=1),
        np.concatenate(lefts),
        np.concatenate(rows),
        np.concatenate(spreads),
    )


def split_boxes(trees: Sequence[RowTree], nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The halves of boxes, nodes of each tree, along the axis whose node varies most."""
    spread = np.stack([tree.spread.take(n) for tree, n in zip(trees, nodes, strict=True)])
    axis = spread.argmax(axis=0)
    children = np.repeat(nodes, 2, axis=1)
    for index, tree in enumerate(trees):
        mine = np.flatnonzero(axis == index)
        first = tree.left.take(nodes[index, mine])
        children[index, 2 * mine] = first
        children[index, 2 * mine + 1] = first + 1
    return children


def _logarithms(values: Floats) -> Floats:
    logarithms: Floats = np.log(np.abs(values) + LOG_OFFSET)
    return logarithms
