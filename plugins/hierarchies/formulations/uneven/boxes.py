"""Boxes of mappings: of every axis a group of options, all of them or ever fewer.

The options of an axis are halved again and again where they differ most, which makes a tree. What a
group costs at least is known by its node: the least of every factor. A box is a node of each tree,
and every number of its mappings is at least that of its nodes' factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import EXACT, ROUNDING
from ithaca.plugins.hierarchies.formulations.uneven.separable import Separable

#: A smaller factor is taken for this where factors are compared by their quotients.
TINY = 0.5


@dataclass(frozen=True, eq=False)
class OptionTree:
    """The options of an axis, halved again and again; the halves of node n are 2·n + 1 and 2·n + 2.

    Nodes of one option have no halves, and those that would be theirs hold nothing.
    """

    low: Floats
    """The least of every factor, shape (factors, nodes)."""
    high: Floats
    """The largest of every factor."""
    size: Integers
    """The number of options of each node."""
    option: Integers
    """One of them."""

    @staticmethod
    def grown(factors: Floats) -> OptionTree:
        """The tree of options with these factors, shape (factors, options); there is one at
        least."""
        count = factors.shape[1]
        order, scaled = np.arange(count), np.log(np.maximum(factors, TINY))
        lows: list[Floats] = []
        highs: list[Floats] = []
        sizes: list[Integers] = []
        firsts: list[Integers] = []
        for level in range((count - 1).bit_length() + 1):
            ends = (np.arange((1 << level) + 1) * count) >> level
            begins, own = ends[:-1], np.diff(ends)
            some = np.flatnonzero(own)
            low = np.zeros((factors.shape[0], own.size))
            high = low.copy()
            low[:, some] = np.minimum.reduceat(factors[:, order], begins[some], axis=1)
            high[:, some] = np.maximum.reduceat(factors[:, order], begins[some], axis=1)
            lows.append(low)
            highs.append(high)
            sizes.append(own)
            firsts.append(begins)
            if own.max() == 1:
                break
            node = np.repeat(np.arange(own.size), own)
            widest = _spread(low, high).argmax(axis=0)
            order = order[np.lexsort((scaled[widest[node], order], node))]
        begin = np.minimum(np.concatenate(firsts), count - 1)
        return OptionTree(
            np.concatenate(lows, axis=1),
            np.concatenate(highs, axis=1),
            np.concatenate(sizes),
            order[begin],
        )

    @property
    def spread(self) -> Floats:
        """How many times as large as its least every factor may be: logarithms."""
        return _spread(self.low, self.high)


def _spread(low: Floats, high: Floats) -> Floats:
    wide: Floats = np.log(np.maximum(high, TINY) / np.maximum(low, TINY))
    return wide


@dataclass(frozen=True)
class Sums:
    """A number as whole numbers: the largest of sums of products, divided by a unit."""

    sums: tuple[tuple[tuple[float, Mapping[int, int]], ...], ...]
    """Per term its scale, and by axis the place of its factor."""
    unit: int
    """What is divided by."""
    exact: bool
    """Whether no sum can round."""


class Boxes:
    """Numbers of boxes of one variant: an array each, shape (axes, boxes), of nodes."""

    def __init__(
        self,
        sizes: Sequence[int],
        metrics: Mapping[str, Separable],
        rules: Sequence[tuple[Separable, float]],
    ) -> None:
        """The boxes of options.

        Parameters
        ----------
        sizes : sequence of int
            The number of options of every axis.
        metrics : mapping
            The numbers that are bounded, by name.
        rules : sequence
            Numbers, and what they must not exceed.
        """
        self._factors: list[list[Floats]] = [[] for _ in sizes]
        self._places: dict[tuple[int, bytes], int] = {}
        self.metrics = {name: self._sums(number) for name, number in metrics.items()}
        limits: dict[str, tuple[Sums, float]] = {}
        for used, most in rules:
            own = self._sums(used)
            key = repr(own.sums)
            limits[key] = own, min(most * own.unit, limits.get(key, (own, np.inf))[1])
        self._rules = list(limits.values())
        self._sizes = tuple(sizes)
        self.trees = tuple(
            OptionTree.grown(
                np.array(own) if own and count else np.ones((max(len(own), 1), max(count, 1)))
            )
            for own, count in zip(self._factors, sizes, strict=True)
        )
        self._spreads = tuple(tree.spread for tree in self.trees)

    def _sums(self, number: Separable) -> Sums:
        unit = lcm(*(term.scale.denominator for term in number.terms))
        sums, largest = [], 0.0
        for each in number.sums:
            terms, most = [], 0.0
            for term in each:
                places = {axis: self._place(axis, own) for axis, own in term.factors.items()}
                terms.append((float(term.scale * unit), places))
                most += abs(terms[-1][0]) * prod(
                    float(own.max(initial=0)) for own in term.factors.values()
                )
            sums.append(tuple(terms))
            largest = max(largest, most)
        return Sums(tuple(sums), unit, largest < EXACT)

    def _place(self, axis: int, factor: Floats) -> int:
        """The place of a factor among those of its axis."""
        key = axis, np.ascontiguousarray(factor).tobytes()
        if key not in self._places:
            self._places[key] = len(self._factors[axis])
            self._factors[axis].append(factor)
        return self._places[key]

    @property
    def all(self) -> Integers:
        """The one box of all options; none where an axis has no option."""
        return np.zeros((len(self.trees), int(all(self._sizes))), np.int32)

    def leaves(self, boxes: Integers) -> Mask:
        """Whether boxes hold one mapping alone."""
        one = [tree.size[own] == 1 for tree, own in zip(self.trees, boxes, strict=True)]
        return np.asarray(np.logical_and.reduce(one))

    def options(self, boxes: Integers) -> Integers:
        """An option of every axis, shape (boxes, axes)."""
        own = [tree.option[nodes] for tree, nodes in zip(self.trees, boxes, strict=True)]
        return np.stack(own, axis=1)

    def least(self, boxes: Integers) -> tuple[dict[str, Floats], Mask, Integers]:
        """Least metrics of boxes, in their units; whether they may meet the rules; and the axis
        whose options differ most in what they cost and use, of those with several."""
        known: dict[tuple[int, int], tuple[Floats, Floats, Floats]] = {}

        def factor(axis: int, place: int) -> tuple[Floats, Floats, Floats]:
            if (axis, place) not in known:
                tree, nodes = self.trees[axis], boxes[axis]
                values = (tree.low, tree.high, self._spreads[axis])
                known[axis, place] = tuple(each[place][nodes] for each in values)
            return known[axis, place]

        tension = np.zeros(boxes.shape)

        def value(number: Sums, most: float | None) -> Floats:
            parts, sums = [], []
            for each in number.sums:
                total, error = np.zeros(boxes.shape[1]), np.zeros(boxes.shape[1])
                for scale, factors in each:
                    part = np.full(boxes.shape[1], scale)
                    for axis, place in factors.items():
                        part *= factor(axis, place)[scale < 0]
                    total += part
                    error += np.abs(part)
                    parts.append((part, factors))
                sums.append(total if number.exact else total - ROUNDING * error)
            largest: Floats = np.maximum.reduce(sums)
            whole = np.maximum(np.abs(largest), 1) if most is None else max(abs(most), 1)
            for part, factors in parts:
                share = np.abs(part) / whole
                for axis, place in factors.items():
                    tension[axis] += share * factor(axis, place)[2]
            return largest

        metrics = {name: value(number, None) for name, number in self.metrics.items()}
        fits = np.ones(boxes.shape[1], bool)
        for used, most in self._rules:
            fits &= value(used, most) <= most
        for axis, tree in enumerate(self.trees):
            tension[axis][tree.size[boxes[axis]] == 1] = -1
        return metrics, fits, tension.argmax(axis=0)

    def halves(self, boxes: Integers, axes: Integers) -> Integers:
        """Both halves of boxes, each along one axis."""
        first = boxes.copy()
        every = np.arange(boxes.shape[1])
        first[axes, every] = 2 * boxes[axes, every] + 1
        second = first.copy()
        second[axes, every] += 1
        return np.concatenate([first, second], axis=1)

    def fraction(self, name: str, value: float) -> Fraction:
        """A metric that is known exactly, from its whole number."""
        return Fraction(int(value), self.metrics[name].unit)
