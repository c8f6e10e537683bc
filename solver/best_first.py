"""The common base of all best-first searches: their open parts, and for boxes of trees how these
are examined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from heapq import heappop, heappush, nsmallest
from itertools import count
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Mask
from ithaca.solver.tables.model import Nodes
from ithaca.solver.tables.table import picked
from ithaca.solver.tables.tree import RowTree, split_boxes

Bound = TypeVar("Bound")
Item = TypeVar("Item")


class BestFirst(Generic[Bound, Item]):
    """The open parts of a search: the one of least bound first, of equal ones the one that came
    first; several may be ``numbered`` together."""

    def __init__(self, numbered: Iterator[int] | None = None) -> None:
        self._heap: list[tuple[Any, int, Item]] = []
        self._number = numbered or count()

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[Item]:
        return (item for *_, item in self._heap)

    @property
    def least(self) -> Bound:
        """The least bound; there is one at least."""
        least: Bound = self._heap[0][0]
        return least

    def __lt__(self, other: BestFirst[Bound, Item]) -> bool:
        """Whether its first part comes before that of another; each has one at least."""
        return self._heap[0][:2] < other._heap[0][:2]

    def push(self, bound: Bound, item: Item) -> None:
        """Add a part with its lower bound to the open ones."""
        heappush(self._heap, (bound, next(self._number), item))

    def pop(self) -> tuple[Bound, Item]:
        """Take the most promising part, with its bound."""
        bound, _, item = heappop(self._heap)
        return bound, item

    def first(self, most: int) -> list[Item]:
        """The most promising parts, up to so many, in this order; all stay open."""
        return [item for *_, item in nsmallest(most, self._heap, key=lambda entry: entry[:2])]

    def clear(self) -> None:
        """Drop all open parts."""
        self._heap.clear()


class TreeSearch(ABC):
    """A search over boxes, a node of each axis' tree each, thousands at a time.

    A box has one bound or several, which are compared one after the other: arrays of bounds have
    shape (bounds, boxes), arrays of nodes (axes, boxes).
    """

    batch: ClassVar[int]
    """Boxes split at once."""

    def __init__(self, trees: tuple[RowTree, ...]) -> None:
        self._trees = trees
        self._parts: BestFirst[tuple[float, ...], tuple[Nodes, Floats]] = BestFirst()

    @abstractmethod
    def _bound(self, nodes: Nodes) -> tuple[Floats, Mask]:
        """Bounds of boxes, and which of them may hold an improvement."""

    @abstractmethod
    def _improving(self, bounds: Floats) -> Mask:
        """A mask of the bounds that may still be those of an improvement."""

    @abstractmethod
    def _take(self, nodes: Nodes, bounds: Floats) -> None:
        """Take what improves among boxes of one configuration, the most promising first."""

    def _begin(self) -> None:
        """Examine the box of everything, unless an axis has no rows."""
        if all(tree.table.count for tree in self._trees):
            self._examine(np.zeros((len(self._trees), 1), np.int32))

    def _split(self, nodes: Nodes) -> None:
        """Split boxes, and examine their parts."""
        self._examine(split_boxes(self._trees, nodes))

    def _open(self, nodes: Nodes, bounds: Floats) -> tuple[Nodes, Floats]:
        """The boxes that may still hold an improvement."""
        open_ = self._improving(bounds)
        return (nodes, bounds) if open_.all() else (picked(nodes, open_), picked(bounds, open_))

    def _examine(self, nodes: Nodes) -> None:
        """Bound boxes, take what improves among single configurations, and keep the others that are
        open."""
        bounds, open_ = self._bound(nodes)
        if not open_.any():
            return
        nodes, bounds = picked(nodes, open_), picked(bounds, open_)
        single = np.ones(bounds.shape[1], bool)
        for tree, node in zip(self._trees, nodes, strict=True):
            single &= tree.left.take(node) == 0
        if single.any():
            order = np.flatnonzero(single)[np.lexsort(bounds[::-1, single])]
            self._take(picked(nodes, order), picked(bounds, order))
            nodes, bounds = self._open(picked(nodes, ~single), picked(bounds, ~single))
        self._keep(nodes, bounds)

    def _keep(self, nodes: Nodes, bounds: Floats) -> None:
        """Add boxes to those that are open."""
        order = np.lexsort(bounds[::-1])
        for begin in range(0, order.size, self.batch):
            part = order[begin : begin + self.batch]
            self._parts.push(
                tuple(bounds[:, part[0]].tolist()), (picked(nodes, part), picked(bounds, part))
            )

    def _rows(self, nodes: Nodes) -> list[int]:
        """The rows of a box of one configuration, or of each axis' first one: nodes have shape
        (axes,)."""
        return [int(tree.row[node]) for tree, node in zip(self._trees, nodes, strict=True)]
