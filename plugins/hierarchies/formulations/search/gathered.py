"""Factors of boxes of mappings: what of each counts for words, and what must fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.search.factor_rows import FactorRows
from ithaca.plugins.hierarchies.formulations.search.flows import Flow
from ithaca.plugins.hierarchies.formulations.search.option_forest import OptionForest

#: How much what tiles take of their room matters where boxes are halved; found by trial.
FITTING = 0.15

#: How much more than others the waits count that are the longest, as a power of their share.
LONGEST = 8


@dataclass(frozen=True)
class Rule:
    """A sum of products of factors that may not be more than a number."""

    most: float
    """The number."""
    level: int
    """The level whose room it is, or inside which a mesh is."""
    parts: tuple[tuple[int | None, Mapping[int, int]], ...]
    """Tensors with the rows, by loop, whose product their tile is; lanes are of no tensor."""


class Gathered:
    """Factors of some boxes, and what they say."""

    def __init__(
        self,
        search: FactorRows,
        orders: tuple[int, ...],
        nodes: Integers,
        forests: tuple[OptionForest, ...] | None,
    ) -> None:
        self._search, self._nodes, self._forests = search, nodes, forests
        self._trees = None if forests is None else [forest.tree for forest in forests]
        self._hierarchy = search.hierarchy
        self._sequence = [own[n] for own, n in zip(self._hierarchy.orders, orders, strict=True)]
        self._fitting: list[tuple[Floats, Mapping[int, int]]] = []
        self._known: dict[tuple[int, int], Floats] = {}

    def low(self, loop: int, row: Any) -> Floats:
        """The least of a factor; of another one for each box, if rows are many."""
        if self._trees is None or self._forests is None:
            return np.ones(self._nodes.shape[1])
        place = self._forests[loop].places[row]
        if not isinstance(row, int):
            varying: Floats = self._trees[loop].low[place, self._nodes[loop]]
            return varying
        if (loop, place) not in self._known:
            self._known[loop, place] = self._trees[loop].low[place][self._nodes[loop]]
        return self._known[loop, place]

    def product(self, rows: Mapping[int, Any]) -> Floats:
        """The product of a factor of each loop."""
        return prod(
            (self.low(d, row) for d, row in rows.items()), start=np.ones(self._nodes.shape[1])
        )

    @remembered
    def _closing(self, loop: int, level: int) -> Mask:
        """Whether a loop has more than one trip in a level: in all mappings of a box, or in
        none."""
        return self.low(loop, self._search.row(loop, "trips", 0, level)) > 1

    @remembered
    def _reach(self, tensor: int, child: int) -> Mapping[int, Integers]:
        """Per loop that leaves a tensor alone, the level from which on outwards its trips count for
        a tile."""
        moved = self._hierarchy.tensors[tensor].moved
        count, levels = self._nodes.shape[1], len(self._hierarchy.levels)
        from_: dict[int, Integers] = {
            d: np.full(count, child - 1) for d in self._search.loops if not moved[d]
        }
        open_ = np.full(count, child < levels)
        for level in range(child - 1, -1, -1) if child < levels else ():
            for d in self._sequence[level]:
                if moved[d]:
                    open_ = open_ & ~self._closing(d, level)
                else:
                    from_[d][open_] = level - 1
        return from_

    def factors(self, flow: Flow, adds: bool, *, far: bool = False) -> list[dict[int, Any]]:
        """The factors whose product some words are; of words that are counted again less the first
        time by several loops, the trips by themselves at last.

        Parameters
        ----------
        flow : Flow
            The words.
        adds : bool
            Whether they add up over instances.
        far : bool, optional
            Whether no trips leave the tensor alone.
        """
        search, tensor = self._search, self._hierarchy.tensors[flow.tensor]
        own = flow.own if adds else 0
        rows: dict[int, Any] = {
            d: search.row(d, "covered") if adds else search.row(d, "run", flow.own)
            for d in search.loops
            if tensor.moved[d]
        }
        from_ = self._reach(flow.tensor, flow.child)
        if far:
            from_ = {d: np.full(1, flow.child - 1) for d in from_}
        several = flow.again and len(from_) != 1
        what = "again" if flow.again and not several else "around"
        begin = {d: search.row(d, what, 0 if several else own, -1) + 1 for d in from_}
        trips = {d: begin[d] + level for d, level in from_.items()}
        if not several:
            return [{**rows, **trips}]
        return [{**rows, **{d: search.row(d, "lanes", own) for d in from_}}, trips]

    def flow(self, flow: Flow, adds: bool) -> tuple[Floats, list[dict[int, Any]]]:
        """The least of some words, and their factors."""
        words, *trips = self.factors(flow, adds)
        least = flow.weight * self.product(words)
        for each in trips:
            least = least * (self.product(each) - 1)
        return least, [words, *trips]

    @property
    def rules(self) -> list[Rule]:
        """Rules on what must fit: the tiles of levels, and the lanes of meshes."""
        search, hierarchy, rules = self._search, self._hierarchy, []
        for level in search.levels:
            for tensors, words in hierarchy.room(level):
                tiles = []
                for v in tensors:
                    moved = hierarchy.tensors[v].moved
                    rows = {d: search.row(d, "covered", 0, level) for d in search.loops if moved[d]}
                    tiles.append((v, rows))
                rules.append(Rule(float(words), level, tuple(tiles)))
        for mesh in hierarchy.meshes:
            within = search.search.layouts.within_parent
            x, y = mesh.own if within else (mesh.x, mesh.y)
            what, level = ("mesh", mesh.level) if within else ("lanes", mesh.level + 1)
            lanes = {d: search.row(d, what, level) for d in search.loops}
            rules.append(Rule(float(x * y), mesh.level, ((None, lanes),)))
        return rules

    def fitting(self) -> Mask:
        """Whether tiles and lanes may fit."""
        fits = np.ones(self._nodes.shape[1], bool)
        for rule in self.rules:
            used = np.zeros(fits.size)
            for v, rows in rule.parts:
                part = self.product(rows)
                part = part if v is None else self._hierarchy.filled(rule.level, v, part)
                used = used + part
                self._fitting.append((FITTING * part / max(rule.most, 1), rows))
            fits &= used <= rule.most
        return fits

    def decisive(self, places: Integers, steps: Floats, counts: Any) -> Integers:
        """The loop whose options differ most in what decides, of those with several: in what they
        take of room, in all that adds up, and in the longest of what waits.

        Parameters
        ----------
        places : ndarray
            The boxes that are looked at.
        steps : ndarray
            The least steps of all boxes.
        counts : list
            Of every count its least, its words with their factors, and its rate.
        """
        forests, nodes = self._forests, self._nodes[:, places]
        if forests is None:
            return np.zeros(places.size, np.int64)
        trees, tension = [forest.tree for forest in forests], np.zeros(nodes.shape)

        def weigh(share: Floats, rows: Mapping[int, Any]) -> None:
            for d, row in rows.items():
                own = row if isinstance(row, int) else row[places]
                tension[d] += share * trees[d].spread[forests[d].places[own], nodes[d]]

        for share, rows in self._fitting:
            weigh(share[places], rows)
        times = [steps[places]]
        for total, _, rate in counts:
            times.append(0 * times[0] if rate is None else total[places] / float(rate))
        longest = np.maximum(np.maximum.reduce(times), 1)
        if any(rate is not None for _, _, rate in counts):
            every = {d: self._search.row(d, "steps") for d in self._search.loops}
            weigh((times[0] / longest) ** LONGEST, every)
        for (total, parts, rate), time in zip(counts, times[1:], strict=True):
            weight = 1.0 if rate is None else (time / longest) ** LONGEST
            weight = weight / np.maximum(total[places], 1)
            for part, factors in parts:
                for rows in factors:
                    weigh(weight * part[places], rows)
        for d, tree in enumerate(trees):
            tension[d][tree.size[nodes[d]] <= 1] = -1
        axes: Integers = tension.argmax(axis=0)
        return axes
