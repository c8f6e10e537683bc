"""Dual bounds of boxes of mappings whose loops have more than one trip in the same levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.logarithms import surely_above
from ithaca.formulations.algebra.rounding import all_below, duality_below
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.search.dual_bounds import (
    Monomials,
    Multipliers,
    multipliers,
)
from ithaca.plugins.hierarchies.formulations.search.factor_rows import FactorRows
from ithaca.plugins.hierarchies.formulations.search.gathered import Gathered
from ithaca.plugins.hierarchies.formulations.search.loop_options import LoopOptions
from ithaca.plugins.hierarchies.formulations.search.option_forest import OptionForest
from ithaca.plugins.hierarchies.formulations.search.option_table import TINY

#: Boxes whose multipliers are found together, and whose bounds are computed together.
TOGETHER = 128

#: Boxes that are bounded by multipliers of their own at most: more are by those of all boxes in
#: which the same trips count.
MOST = 2048


@dataclass(frozen=True)
class Part:
    """A product of factors: the logarithm of its weight, and rows by loop."""

    weight: float
    rows: Mapping[int, int]


@dataclass(frozen=True)
class Sums:
    """Sums of logarithms that multipliers make of boxes, of every loop apart."""

    constant: Floats
    """The part that no loop changes."""
    loops: tuple[Floats, ...]
    """Weights of the logarithms of each loop's table, shape (boxes, logarithms)."""
    size: Floats
    """How much is added up at most, whatever its sign: rounding is relative to it."""


class DualKinds:
    """Dual bounds of a search whose objective is one count."""

    def __init__(self, boxes: FactorRows, forests: tuple[OptionForest, ...], place: int) -> None:
        """Bounds of a count.

        Parameters
        ----------
        boxes : FactorRows
            The factors of the search.
        forests : tuple of OptionForest
            The trees of every loop.
        place : int
            The place of the count among those of its goal.
        """
        self._boxes, self._forests, self._place = boxes, forests, place
        self._loops, self._steps = boxes.loops, boxes.search.steps

    @staticmethod
    def of(boxes: FactorRows, forests: tuple[OptionForest, ...]) -> DualKinds | None:
        """The bounds of a search; None where it has none."""
        goal = boxes.goal
        name = goal.problem.objective.expression
        if not isinstance(name, Symbol) or name.name not in goal.names:
            return None
        suits = min(boxes.hierarchy.extents) > 1 and len(boxes.search.steps) > 1
        return DualKinds(boxes, forests, goal.names[name.name]) if suits else None

    @cached_property
    def _magnitude(self) -> float:
        """No logarithm of what is added up is larger."""
        return max(float(np.abs(own.table.logs).max(initial=1)) for own in self._forests)

    @cached_property
    def _parts(self) -> list[Floats]:
        """By loop, the exponents of the table's logarithms in each of its rows."""
        every = []
        for forest, rows in zip(self._forests, self._boxes.rows, strict=True):
            parts = [forest.table.exponents(row) for row in rows]
            every.append(np.array(parts).reshape(len(rows), -1))
        return every

    @cached_property
    def _exponents(self) -> list[Floats]:
        """By loop, the exponents of the factors of its steps in each of its rows; of trips less 1
        those of the trips."""
        boxes, count = self._boxes, len(self._steps)
        every = []
        for loop in self._loops:
            twos = LoopOptions(1 + np.eye(count), self._steps)
            rows = [
                np.log2(twos.value(("around" if what == "again" else what, own, level)))
                for what, own, level in boxes.rows[loop]
            ]
            every.append(np.array(rows).reshape(-1, count))
        return every

    @cached_property
    def _rules(self) -> list[tuple[float, list[Part]]]:
        """Rules on what must fit: the logarithm of its most, and its parts."""
        hierarchy, rules = self._boxes.hierarchy, []
        for rule in self._gathered(0, np.zeros((len(self._loops), 0), np.int64)).rules:
            parts = []
            for v, rows in rule.parts:
                weight = 1.0
                if v is not None:
                    weight = float(hierarchy.units[rule.level].share(hierarchy.tensors[v].name))
                parts.append(Part(float(np.log(weight)), rows))
            if rule.most > 0 and parts:
                rules.append((float(np.log(rule.most)), parts))
        return rules

    def _gathered(self, variant: int, kinds: Integers) -> Gathered:
        boxes = self._boxes
        return Gathered(boxes, boxes.orders[variant], kinds, self._forests)

    def _words(self, variant: int, kinds: Integers) -> tuple[Integers, Floats]:
        """The rows of the words of boxes, shape (words, loops, boxes), -1 for none, or -2 where
        they are 0; and the logarithms of their weights."""
        boxes, goal = self._boxes, self._boxes.goal
        gathered = self._gathered(variant, kinds)
        count, flows = goal.counts[self._place], boxes.flows[self._place]
        every, weights = [], []
        if count.step:
            every.append(np.tile([[boxes.row(d, "covered")] for d in self._loops], kinds.shape[1]))
            weights.append(float(np.log(count.step)))
        for flow in flows:
            factors = gathered.factors(flow, count.adds)
            if len(factors) > 1:  # no product
                continue
            own = np.full(kinds.shape, -1)
            for d, row in factors[0].items():
                own[d] = row
            own[:, gathered.product(factors[0]) <= 0] = -2
            every.append(own)
            weights.append(float(np.log(float(flow.weight))))
        return np.array(every), np.array(weights)

    def _monomials(self, words: Integers, weights: Floats) -> Monomials:
        """Words of boxes in the factors of all steps."""
        boxes, steps = words.shape[2], len(self._steps)
        exponents = np.zeros((boxes, len(words), len(self._loops), steps))
        for d in self._loops:
            table = np.concatenate([self._exponents[d], np.zeros((1, steps))])
            exponents[:, :, d] = table[np.maximum(words[:, d], -1).T]
        alive = np.where(words[:, 0] == -2, -np.inf, weights[:, None]).T
        return Monomials(alive, exponents.reshape(boxes, len(words), -1))

    @cached_property
    def _limits(self) -> list[Monomials]:
        limits = []
        for most, parts in self._rules:
            words = np.full((len(parts), len(self._loops), 1), -1)
            for place, part in enumerate(parts):
                for d, row in part.rows.items():
                    words[place, d] = row
            limits.append(self._monomials(words, np.array([part.weight - most for part in parts])))
        return limits

    def _multipliers(self, words: Integers, weights: Floats, fixed: Mask) -> Multipliers:
        extents = np.log(np.array(self._boxes.hierarchy.extents, float))
        return multipliers(self._monomials(words, weights), self._limits, extents, fixed)

    def _sums(self, guides: Multipliers, words: Integers, weights: Floats) -> Sums:
        """Sums that multipliers make of words."""
        count = words.shape[2]
        alive = words[:, 0].T != -2
        shares = np.where(alive, guides.shares, 0)
        with np.errstate(invalid="ignore"):  # of boxes without words
            shares /= shares.sum(axis=1)[:, None]
        each = shares * (weights - np.log(np.maximum(shares, TINY)))
        constant, size = each.sum(axis=1), np.abs(each).sum(axis=1)
        sums = [np.zeros((count, own.shape[1])) for own in self._parts]
        for share, rows in zip(shares.T, words, strict=True):
            for d in self._loops:
                own = rows[d] >= 0
                sums[d][own] += share[own, None] * self._parts[d][rows[d][own]]
        for (most, parts), (weight, kappas) in zip(self._rules, guides.rules, strict=True):
            constant, size = constant - weight * most, size + weight * abs(most)
            for part, kappa in zip(parts, kappas.T, strict=True):
                own = weight * kappa
                each = own * (part.weight - np.log(np.maximum(kappa, TINY)))
                constant, size = constant + each, size + np.abs(each)
                for d, row in part.rows.items():
                    sums[d] += own[:, None] * self._parts[d][row]
        for own in sums:
            size = size + self._magnitude * np.abs(own).sum(axis=1)
        return Sums(constant, tuple(sums), size)

    def _least(self, loop: int, kind: int, sums: Floats) -> Floats:
        """The least sums of a kind's options."""
        own = self._logs_of(loop, kind)
        parts = [
            (sums[begin : begin + TOGETHER] @ own).min(axis=1)
            for begin in range(0, len(sums), TOGETHER)
        ]
        return np.concatenate(parts)

    @remembered
    def _logs_of(self, loop: int, kind: int) -> Floats:
        forest = self._forests[loop]
        return np.ascontiguousarray(forest.table.logs[:, forest.options(kind)])

    def _by_loop(self, sums: Sums, which: Integers, kinds: Integers) -> Floats:
        """The least that loops add to bounds of multipliers ``which``: shape (loops, boxes)."""
        least = np.zeros(kinds.shape)
        for d in self._loops:
            for kind in np.unique(kinds[d]):
                poll()
                own = np.flatnonzero(kinds[d] == kind)
                some, at = np.unique(which[own], return_inverse=True)
                least[d, own] = self._least(d, int(kind), sums.loops[d][some])[np.ravel(at)]
        return least

    def _bounds(self, sums: Sums, which: Integers, kinds: Integers) -> Floats:
        """Bounds of boxes of the multipliers ``which``."""
        bounds = sums.constant[which] + self._by_loop(sums, which, kinds).sum(axis=0)
        low = [
            duality_below(*each)
            for each in zip(bounds.tolist(), sums.size[which].tolist(), strict=True)
        ]
        least = all_below(np.exp(low) / self._scale)
        return np.where(np.isnan(least), -np.inf, least)  # of boxes without words

    @property
    def _scale(self) -> float:
        return float(self._boxes.goal.counts[self._place].scale)

    def _own_sums(self, words: Integers, weights: Floats, kinds: Integers) -> Sums:
        """Sums of multipliers of each box by itself."""
        fixed = [[self._forests[d].fixed(int(k)) for d, k in enumerate(own)] for own in kinds.T]
        return self._sums(self._multipliers(words, weights, np.array(fixed)), words, weights)

    def least(self, variant: int, kinds: Integers, bounds: Floats, cutoff: float) -> Floats:
        """Lower bounds of boxes.

        Parameters
        ----------
        variant : int
            The orders of the levels.
        kinds : ndarray
            The kind of every loop, shape (loops, boxes).
        bounds : ndarray
            Bounds that are known.
        cutoff : float
            Bounds that are not below this need not be sharp.
        """
        if not kinds.shape[1]:
            return bounds
        words, weights = self._words(variant, kinds)
        if not len(words):  # nothing that counts is a product
            return bounds
        flat = words.reshape(-1, words.shape[2])
        patterns, which = np.unique(flat, axis=1, return_inverse=True)
        patterns = patterns.reshape(*words.shape[:2], -1)
        none = np.zeros((patterns.shape[2], len(self._loops), len(self._steps)), bool)
        sums = self._sums(self._multipliers(patterns, weights, none), patterns, weights)
        bounds = np.maximum(bounds, self._bounds(sums, np.ravel(which), kinds))
        left = np.flatnonzero(bounds < cutoff)
        left = left[np.argsort(bounds[left], kind="stable")][:MOST]
        for begin in range(0, left.size, TOGETHER):
            some = left[begin : begin + TOGETHER]
            sums = self._own_sums(words[:, :, some], weights, kinds[:, some])
            own = self._bounds(sums, np.arange(some.size), kinds[:, some])
            bounds[some] = np.maximum(bounds[some], own)
        return bounds

    def kept(self, variant: int, kinds: Integers, cutoff: float) -> list[dict[int, Mask]]:
        """By loop and kind, the options that any of some boxes may need: with others, the bounds of
        all of these are not below a cutoff.

        Parameters
        ----------
        variant : int
            The orders of the levels.
        kinds : ndarray
            The kind of every loop, shape (loops, boxes).
        cutoff : float
            The value to be below, above 0.
        """
        kept: list[dict[int, Mask]] = [{} for _ in self._loops]
        words, weights = self._words(variant, kinds)
        if not len(words) or kinds.shape[1] > MOST:
            return kept
        most = surely_above(np.log(cutoff) + np.log(self._scale))
        for begin in range(0, kinds.shape[1], TOGETHER):
            own = kinds[:, begin : begin + TOGETHER]
            sums = self._own_sums(words[:, :, begin : begin + TOGETHER], weights, own)
            least = self._by_loop(sums, np.arange(own.shape[1]), own)
            for d in self._loops:
                room = most - (sums.constant + np.delete(least, d, axis=0).sum(axis=0))
                room = np.array(
                    [-duality_below(-r, n) for r, n in zip(room, sums.size, strict=True)]
                )
                for kind in np.unique(own[d]).tolist():
                    poll()
                    logs = self._logs_of(d, kind)
                    some = kept[d].setdefault(kind, np.zeros(logs.shape[1], bool))
                    for box in np.flatnonzero(own[d] == kind):
                        some |= ~(sums.loops[d][box] @ logs > room[box])  # not a number: unknown
        return kept
