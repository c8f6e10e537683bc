"""Numbers of boxes (`search.box_search`): what all mappings of a box cost at least is the number of
its nodes' factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import EXACT, ROUNDING
from ithaca.plugins.hierarchies.formulations.search.box_search import OptionTree, OptionTrees
from ithaca.plugins.hierarchies.formulations.uneven.separable import Separable


@dataclass(frozen=True)
class Sums:
    """A number as whole numbers: the largest of sums of products, divided by a unit."""

    sums: tuple[tuple[tuple[float, Mapping[int, int]], ...], ...]
    """Per term its scale, and by axis the place of its factor."""
    unit: int
    """The divisor."""
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
        grown = tuple(
            OptionTree.grown(
                np.array(own) if own and count else np.ones((max(len(own), 1), max(count, 1)))
            )
            for own, count in zip(self._factors, sizes, strict=True)
        )
        self.trees = OptionTrees(grown, all(sizes))

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

    def least(self, boxes: Integers) -> tuple[dict[str, Floats], Mask, Integers]:
        """Least metrics of boxes, in their units; whether they may meet the rules; and the axis
        whose options differ most in what they cost and use, of those with several."""
        known: dict[tuple[int, int], tuple[Floats, Floats, Floats]] = {}

        def factor(axis: int, place: int) -> tuple[Floats, Floats, Floats]:
            if (axis, place) not in known:
                tree, nodes = self.trees.trees[axis], boxes[axis]
                values = (tree.low, tree.high, tree.spread)
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
        for axis, tree in enumerate(self.trees.trees):
            tension[axis][tree.size[boxes[axis]] == 1] = -1
        return metrics, fits, tension.argmax(axis=0)

    def fraction(self, name: str, value: float) -> Fraction:
        """A metric that is known exactly, from its whole number."""
        return Fraction(int(value), self.metrics[name].unit)
