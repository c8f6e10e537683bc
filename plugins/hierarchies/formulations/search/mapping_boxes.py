"""Boxes of mappings of the edition ``timeloop``, of nests whose tiles do not overlap.

A tile is fetched anew in every trip of the loops around it, but for those directly around it that
leave its tensor alone. So every count is a sum of products: of what loops cover that move the
tensor, and of the trips, or lanes, of the others. In a box the loops directly around a tile reach
out as far as any of its mappings lets them: up to a loop that moves the tensor and has more than
one trip in all mappings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.stage import Block, Cutoff
from ithaca.plugins.hierarchies.formulations.search.box_search import (
    BoxSearch,
    OpenBoxes,
    OptionTrees,
)
from ithaca.plugins.hierarchies.formulations.search.flows import Flow, flows_of
from ithaca.plugins.hierarchies.formulations.search.gathered import Gathered
from ithaca.plugins.hierarchies.formulations.search.loop_options import LoopOptions, loop_options
from ithaca.plugins.hierarchies.formulations.search.needed_orders import NeededOrders
from ithaca.plugins.hierarchies.formulations.search.option_forest import OptionForest

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension

#: Options of a loop at most: trees of more take too much memory.
MOST_OPTIONS = 1 << 19

#: What decides where boxes are halved, found by trial: how far between 1 and their mean (of
#: logarithms) factors are typical, how much one of what must fit matters in trees, and how much
#: what tiles take of their room does in boxes.
TYPICAL, ROOM, FITTING = 0.5, 0.25, 0.15

#: A mapping from what loops cover by every step, the orders of levels, and its value.
Mapped = Callable[[Floats, Sequence[int], Fraction], Configuration]

#: A row of a tree: what it is of, and of which levels.
Row = tuple[str, int, int]


class MappingBoxes(BoxSearch):
    """The search of a stage, by boxes."""

    def __init__(self, search: Extension, options: tuple[LoopOptions, ...], mapped: Mapped) -> None:
        """Boxes of the mappings of a problem.

        Parameters
        ----------
        search : Extension
            The problem, as labels see it.
        options : tuple of LoopOptions
            The options of every loop.
        mapped : callable
            The mapping of what loops cover by every step, orders, and its value.
        """
        self._search, self._options, self._mapped = search, options, mapped
        self._hierarchy, self._goal = search.hierarchy, search.goal
        self._rows: list[dict[Row, int]] = [{} for _ in options]
        self._loops = range(len(options))
        self._levels = range(len(self._hierarchy.levels))

    @staticmethod
    def of(search: Extension, mapped: Mapped) -> MappingBoxes | None:
        """The boxes of a problem; None where it asks for what these do not bound, or loops have too
        many options."""
        hierarchy, goal = search.hierarchy, search.goal
        suits = (
            hierarchy.largest < 2.0**53
            and not hierarchy.ending
            and not hierarchy.leaks
            and not hierarchy.overlapping
            and not goal.accesses.shared
            and not search.least_lanes
        )
        every = []
        for loop in range(len(hierarchy.loops)) if suits else ():
            if (own := loop_options(search, loop, MOST_OPTIONS)) is None:
                return None
            every.append(own)
        boxes = MappingBoxes(search, tuple(every), mapped) if suits else None
        # the first boxes are all combinations of the loops' kinds, bounded at once
        return None if boxes is None or boxes.kinds > MOST_OPTIONS else boxes

    @property
    def kinds(self) -> int:
        """The boxes that a search begins with."""
        return prod(forest.kinds for forest in self._forests)

    # -- what options cost -----------------------------------------------------------------

    @cached_property
    def _flows(self) -> tuple[tuple[Flow, ...], ...]:
        """The words of every count."""
        return tuple(tuple(flows_of(self._hierarchy, count)) for count in self._goal.counts)

    def _values(self, loop: int, row: Row) -> Floats:
        """A factor of a loop for all its options."""
        (what, own, level), options = row, self._options[loop]
        if what == "covered":
            return options.covered(level)
        if what == "trips":
            return options.trips(level)
        if what == "run":  # what an instance's tiles and trips cover
            return options.covered(0) / options.lanes_outside(own)
        if what == "mesh":
            return options.lanes(own)
        if what == "steps":
            return options.trips_outside(self._levels[-1])
        if what == "lanes":
            return options.lanes_outside(own)
        around = options.trips_outside(level)
        return (around - 1 if what == "again" else around) * options.lanes_outside(own)

    def _row(self, loop: int, what: str, own: int = 0, level: int = 0) -> int:
        """The place of a factor among those of its loop; those of all levels follow one another."""
        rows = self._rows[loop]
        key = what, own, level
        if key not in rows:
            for each in range(-1, len(self._levels)) if what in ("around", "again") else (level,):
                rows[what, own, each] = len(rows)
        return rows[key]

    @cached_property
    def _forests(self) -> tuple[OptionForest, ...]:
        """The trees of all loops, of all factors that anything asks for."""
        none = np.zeros((len(self._loops), 0), np.int64)
        self._evaluated(0, none, None)  # names the factors
        values = [
            np.array([self._values(loop, row) for row in rows])
            for loop, rows in enumerate(self._rows)
        ]
        weights = self._weights(values)
        return tuple(
            OptionForest(
                values[loop],
                [place for (what, _, _), place in rows.items() if what == "trips"],
                weights[loop],
            )
            for loop, rows in enumerate(self._rows)
        )

    def _weights(self, values: list[Floats]) -> list[Floats]:
        """The weights of the factors of the options of every loop: shares of the costs where all
        factors are typical, and a little where they are of what must fit."""
        typical = [np.exp(TYPICAL * np.log(np.maximum(own, 1)).mean(axis=1)) for own in values]
        weights = [np.zeros(own.shape[0]) for own in values]
        gathered = Gathered(self, self._orders[0], np.zeros((len(values), 1), np.int32), None)
        for count, flows in zip(self._goal.counts, self._flows, strict=True):
            parts = []
            for flow in flows:
                own: dict[int, int] = {}
                for factors in gathered.factors(flow, count.adds, far=True):
                    own |= {d: int(np.ravel(row)[0]) for d, row in factors.items()}
                usual = prod(float(typical[d][row]) for d, row in own.items())
                parts.append((flow.weight * usual, own))
            whole = sum(part for part, _ in parts) or 1.0
            for part, own in parts:
                for d, row in own.items():
                    weights[d][row] += part / whole
        for loop, rows in enumerate(self._rows):
            for (what, _, level), place in rows.items():
                if what in ("lanes", "mesh") or (what == "covered" and level):
                    weights[loop][place] += ROOM
        return weights

    # -- boxes -----------------------------------------------------------------------------

    @cached_property
    def _orders(self) -> tuple[tuple[int, ...], ...]:
        """The orders of the loops of every level, as numbers."""
        return tuple(product(*(range(len(own)) for own in self._hierarchy.orders)))

    @cached_property
    def _needed(self) -> NeededOrders:
        """The orders without which each kind of boxes does."""
        several = [
            {level: forest.several(at) for (what, _, level), at in rows.items() if what == "trips"}
            for forest, rows in zip(self._forests, self._rows, strict=True)
        ]
        return NeededOrders(self._hierarchy, several)

    @property
    def variants(self) -> int:
        return len(self._orders)

    def trees(self, variant: int) -> OptionTrees:
        return OptionTrees(tuple(forest.tree for forest in self._forests))

    def begun(self, variant: int, known: Fraction | None) -> OpenBoxes:
        """Boxes whose loops have more than one trip in the same levels: which loops move a tensor
        first is then decided, and of orders that cost the same the first one is enough."""
        sizes = [forest.kinds for forest in self._forests]
        every = np.indices(sizes).reshape(len(sizes), -1)
        needed = self._needed.mask(self._orders[variant], every)
        open_ = self.bounded(variant, every[:, needed], known)
        nodes = open_.nodes.copy()
        for loop, forest in enumerate(self._forests):
            kinds, which = np.unique(nodes[loop], return_inverse=True)
            roots = [forest.root(int(kind)) for kind in kinds]
            nodes[loop] = np.array(roots, np.int64)[np.ravel(which)]
        return self.bounded(variant, nodes, known)

    def _evaluated(
        self, order: int, nodes: Integers, trees: tuple[OptionForest, ...] | None
    ) -> tuple[Floats, Mask, Callable[[Integers], Integers]]:
        """Least numbers of boxes; whether they may fit; and of some boxes the loop whose options
        differ most. Without trees, the factors are only named.
        """
        gathered = Gathered(self, self._orders[order], nodes, trees)
        vector = np.zeros((self._goal.size, nodes.shape[1]))
        every = len(self._levels) - 1
        steps = gathered.product({d: self._row(d, "steps") for d in self._loops})
        vector[0] = steps
        whole = gathered.product({d: self._row(d, "covered") for d in self._loops})
        vector[1] = whole
        vector[2] = gathered.product({d: self._row(d, "lanes", every + 1) for d in self._loops})
        shares = []
        for place, (count, flows) in enumerate(zip(self._goal.counts, self._flows, strict=True)):
            parts = [gathered.flow(flow, count.adds) for flow in flows]
            own = count.step * whole if count.step else np.zeros(nodes.shape[1])
            vector[3 + place] = sum((part for part, _ in parts), own)
            shares.append((vector[3 + place], parts, count.rate))
        return vector, gathered.fitting(), lambda places: gathered.decisive(places, steps, shares)

    def bounded(self, variant: int, nodes: Integers, known: Fraction | None) -> OpenBoxes:
        vector, fits, decisive = self._evaluated(variant, nodes, self._forests)
        fitting = np.flatnonzero(fits)
        vector = vector[:, fitting]
        bounds = self._goal.without_ties(vector, self._goal.bounds(vector), known)
        order = np.argsort(bounds, kind="stable")
        order = order[: int(np.searchsorted(bounds[order], least_double(known)))]
        places = fitting[order]
        return OpenBoxes(variant, nodes[:, places], bounds[order], decisive(places))

    def mappings(self, leaves: OpenBoxes) -> tuple[Integers, Floats]:
        rows = self.trees(leaves.variant).options(leaves.nodes)
        fits = np.ones(leaves.count, bool)
        layouts, states = self._search.layouts, np.zeros(leaves.count)
        for number, step in enumerate(self._search.steps):
            if step.lanes and leaves.count:
                states[fits] = layouts.open(states[fits])
                for loop, options in enumerate(self._options):
                    lanes = options.factors[number][rows[:, loop]]
                    along = self._search.along(step, loop)
                    states[fits] = layouts.add(states[fits], lanes[fits], along)
                    fits &= states >= 0
        return rows[fits], leaves.bounds[fits]

    def configured(self, variant: int, row: Integers) -> Configuration | None:
        chosen = tuple(
            LoopOptions(own.factors[:, [option]], own.steps)
            for own, option in zip(self._options, row, strict=True)
        )
        alone = MappingBoxes(self._search, chosen, self._mapped)
        whole = np.zeros((len(chosen), 1), np.int64)
        vector, _, _ = alone._evaluated(variant, whole, alone._forests)
        value = self._goal.exact(vector[:, 0])
        if value is None:
            return None
        extents = np.cumprod(np.concatenate([own.factors for own in chosen], axis=1), axis=0)
        return self._mapped(extents, self._orders[variant], value)

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        yield from super().blocks(cutoff)
        vars(self).pop("_forests", None)  # rows do without
