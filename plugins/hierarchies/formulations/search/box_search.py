"""Boxes of mappings: of every axis a group of options, all of them or ever fewer.

The options of an axis are halved again and again where they differ most, which makes a tree. What a
group costs at least is known by its node: the least of every factor. A box is a node of each tree,
and whoever searches bounds all its mappings by these. Boxes are halved along the axis that decides
most, those of the least bound first, until a mapping is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.stage import Block, Candidates, Cutoff

#: A smaller factor is taken for this where factors are compared by their quotients.
TINY = 0.5

#: Boxes that are halved at once; boxes of a variant that are kept in the search for first
#: incumbents; and open ones from which on the last ones come first, about 0.2 GB.
TOGETHER, BEAM, CROWDED = 1 << 13, 64, 1 << 22


@dataclass(frozen=True, eq=False)
class OptionTree:
    """The options of an axis, halved again and again; nodes of one option have no halves."""

    low: Floats
    """The least of every factor, shape (factors, nodes)."""
    high: Floats
    """The largest of every factor."""
    spread: NDArray[np.float32]
    """How many times as large as its least every factor may be: logarithms."""
    size: Integers
    """The number of options of each node."""
    option: Integers
    """One of them."""
    half: Integers
    """The node of the first half; that of the second follows."""

    @staticmethod
    def grown(factors: Floats, weights: Floats | float = 1.0) -> OptionTree:
        """The tree of options with these factors, shape (factors, options); there is one at least.

        Options are halved along the factor of the largest spread, times its weight.
        """
        count = factors.shape[1]
        order, ordered = np.arange(count), factors
        lows: list[Floats] = []
        highs: list[Floats] = []
        spreads: list[NDArray[np.float32]] = []
        sizes: list[Integers] = []
        firsts: list[Integers] = []
        for level in range((count - 1).bit_length() + 1):
            ends = (np.arange((1 << level) + 1) * count) >> level
            begins, own = ends[:-1], np.diff(ends)
            some = np.flatnonzero(own)
            low = np.zeros((factors.shape[0], own.size))
            high = low.copy()
            low[:, some] = np.minimum.reduceat(ordered, begins[some], axis=1)
            high[:, some] = np.maximum.reduceat(ordered, begins[some], axis=1)
            lows.append(low)
            highs.append(high)
            spread = _spread(low, high)
            spreads.append(spread.astype(np.float32))
            sizes.append(own)
            firsts.append(begins)
            if own.max() == 1:
                break
            node = np.repeat(np.arange(own.size), own)
            widest = (spread * weights).argmax(axis=0)
            own_widest = np.maximum(ordered[widest[node], np.arange(count)], TINY)
            change = np.lexsort((order, own_widest, node))
            order, ordered = order[change], ordered[:, change]
        begin = np.minimum(np.concatenate(firsts), count - 1)
        return OptionTree(
            np.concatenate(lows, axis=1),
            np.concatenate(highs, axis=1),
            np.concatenate(spreads, axis=1),
            np.concatenate(sizes),
            order[begin],
            2 * np.arange(begin.size) + 1,
        )


def _spread(low: Floats, high: Floats) -> Floats:
    wide: Floats = np.log(np.maximum(high, TINY) / np.maximum(low, TINY))
    return wide


@dataclass(frozen=True)
class OptionTrees:
    """The trees of all axes; boxes are nodes of them, shape (axes, boxes)."""

    trees: tuple[OptionTree, ...]
    """The tree of every axis."""
    some: bool = True
    """Whether every axis has an option."""

    @property
    def all(self) -> Integers:
        """The one box of all options; none where an axis has no option."""
        return np.zeros((len(self.trees), int(self.some)), np.int32)

    def leaves(self, boxes: Integers) -> Mask:
        """Whether boxes hold one mapping alone."""
        one = [tree.size[own] == 1 for tree, own in zip(self.trees, boxes, strict=True)]
        return np.asarray(np.logical_and.reduce(one))

    def options(self, boxes: Integers) -> Integers:
        """An option of every axis, shape (boxes, axes)."""
        own = [tree.option[nodes] for tree, nodes in zip(self.trees, boxes, strict=True)]
        return np.stack(own, axis=1)

    def halves(self, boxes: Integers, axes: Integers) -> Integers:
        """Both halves of boxes, each along one axis."""
        first = boxes.copy()
        for axis, tree in enumerate(self.trees):
            own = axes == axis
            first[axis, own] = tree.half[boxes[axis, own]]
        second = first.copy()
        second[axes, np.arange(boxes.shape[1])] += 1
        return np.concatenate([first, second], axis=1)


@dataclass(frozen=True)
class OpenBoxes:
    """Boxes of a variant that may hold improvements, those of least bounds first."""

    variant: int
    """Its number."""
    nodes: Integers
    """The nodes of every axis, shape (axes, boxes)."""
    bounds: Floats
    """Lower bounds."""
    axes: Integers
    """The axis along which each is halved next."""

    @property
    def count(self) -> int:
        """The number of boxes."""
        return self.bounds.size

    def take(self, which: Integers | Mask | slice) -> OpenBoxes:
        """Some of the boxes."""
        return OpenBoxes(self.variant, self.nodes[:, which], self.bounds[which], self.axes[which])

    def first(self, count: int) -> OpenBoxes:
        """The first boxes, so many at most."""
        return self.take(slice(count))

    def apart(self, trees: OptionTrees) -> tuple[OpenBoxes, OpenBoxes]:
        """Boxes of one mapping, and the others."""
        one = trees.leaves(self.nodes)
        return self.take(one), self.take(~one)

    def parts(self, count: int) -> list[OpenBoxes]:
        """All boxes, so many together."""
        return [self.take(slice(n, n + count)) for n in range(0, self.count, count)]


class BoxSearch(ABC):
    """A stage whose rows are an option of every axis, after the number of a variant."""

    least = -inf
    """Nothing is known at once."""

    dropped: Fraction | float = inf
    """Nothing is left out."""

    @property
    @abstractmethod
    def variants(self) -> int:
        """The number of variants."""

    @abstractmethod
    def trees(self, variant: int) -> OptionTrees:
        """The trees of a variant's options."""

    def begun(self, variant: int, known: Fraction | None) -> OpenBoxes:
        """Boxes that hold all mappings of a variant together, as far as these may be better than
        what is known.

        Parameters
        ----------
        variant : int
            Number of the variant.
        known : Fraction, optional
            The value to be below; None: there is none.
        """
        return self.bounded(variant, self.trees(variant).all, known)

    @abstractmethod
    def bounded(
        self,
        variant: int,
        nodes: Integers,
        known: Fraction | None,
        least: Floats | float = -inf,
    ) -> OpenBoxes:
        """Boxes that may be better than what is known, those of least bounds first.

        Parameters
        ----------
        variant : int
            Number of the variant.
        nodes : ndarray
            The boxes, shape (axes, boxes).
        known : Fraction, optional
            The value to be below; None: there is none.
        least : ndarray or float, optional
            Lower bounds of the boxes that are known.
        """

    @abstractmethod
    def mappings(self, leaves: OpenBoxes) -> tuple[Integers, Floats]:
        """Boxes of one mapping each, as the options of all axes, and their bounds: those that are
        feasible."""

    @abstractmethod
    def configured(self, variant: int, row: Integers) -> Configuration | None:
        """The mapping of an option of every axis; None if it turns out not to be feasible."""

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """The best that is found in each variant if few boxes are kept."""
        for number in range(self.variants):
            open_ = self.begun(number, cutoff())
            trees = self.trees(number)
            while open_.count:
                leaves, open_ = open_.apart(trees)
                for row in self.mappings(leaves)[0][:1]:
                    yield self.configured(number, row)
                open_ = open_.first(BEAM)
                open_ = self.bounded(number, trees.halves(open_.nodes, open_.axes), cutoff())
            yield None

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """Mappings that may improve, those of the least bound first as far as memory allows."""
        yield Block.empty(-inf)
        open_: dict[int, OpenBoxes] = {}  # by number, the last ones last
        order: list[tuple[float, int]] = []
        count = numbers = 0

        def keep(boxes: OpenBoxes) -> None:
            nonlocal count, numbers
            for part in reversed(boxes.parts(TOGETHER)):
                open_[numbers] = part
                heappush(order, (float(part.bounds[0]), numbers))
                count, numbers = count + part.count, numbers + 1

        for variant in range(self.variants):
            keep(self.begun(variant, cutoff()))
            yield Block.empty(-inf)
        while open_ and order[0][0] < least_double(cutoff()):
            chosen = open_.pop(next(reversed(open_)) if count > CROWDED else order[0][1])
            count -= chosen.count
            trees = self.trees(chosen.variant)
            leaves, whole = chosen.apart(trees)
            halves = trees.halves(whole.nodes, whole.axes)
            keep(self.bounded(chosen.variant, halves, cutoff(), np.tile(whole.bounds, 2)))
            while order and order[0][1] not in open_:
                heappop(order)
            rows, bounds = self.mappings(leaves)
            first = np.full((bounds.size, 1), chosen.variant)
            rest = order[0][0] if order else inf
            yield Block(np.concatenate([first, rows], axis=1), bounds, rest)
        yield Block.empty(inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The mappings of rows, which begin with their variant."""
        for row in rows:
            yield self.configured(int(row[0]), row[1:])
