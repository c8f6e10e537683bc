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
from math import inf, prod
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
from ithaca.plugins.hierarchies.formulations.search.dual_kinds import DualKinds
from ithaca.plugins.hierarchies.formulations.search.factor_rows import FactorRows
from ithaca.plugins.hierarchies.formulations.search.gathered import Gathered
from ithaca.plugins.hierarchies.formulations.search.needed_orders import NeededOrders
from ithaca.plugins.hierarchies.formulations.search.option_forest import OptionForest
from ithaca.plugins.hierarchies.formulations.search.option_table import (
    OptionTable,
    Tables,
    option_tables,
)
from ithaca.plugins.hierarchies.formulations.search.partial_mappings import fits

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension

#: Combinations of kinds of loops at most: more take too much memory.
MOST_KINDS = 1 << 19

#: What decides where boxes are halved, found by trial: how far between 1 and their mean (of
#: logarithms) factors are typical, how much one of what must fit matters in trees, and how much
#: what tiles take of their room does in boxes.
TYPICAL, ROOM, FITTING = 0.5, 0.25, 0.15

#: A mapping from what loops cover by every step, the orders of levels, and its value.
Mapped = Callable[[Floats, Sequence[int], Fraction], Configuration]


class MappingBoxes(FactorRows, BoxSearch):
    """The search of a stage, by boxes."""

    def __init__(self, search: Extension, tables: tuple[OptionTable, ...], mapped: Mapped) -> None:
        """Boxes of the mappings of a problem.

        Parameters
        ----------
        search : Extension
            The problem, as labels see it.
        tables : tuple of OptionTable
            The options of every loop.
        mapped : callable
            The mapping of what loops cover by every step, orders, and its value.
        """
        super().__init__(search, tuple(table.options for table in tables))
        self._tables, self._mapped = tables, mapped

    @staticmethod
    def of(search: Extension, mapped: Mapped, made: Tables = option_tables) -> MappingBoxes | None:
        """The boxes of a problem; None where it asks for what these do not bound, or loops have too
        many options.

        Parameters
        ----------
        search : Extension
            The problem, as labels see it.
        mapped : callable
            As of the boxes.
        made : callable, optional
            Who makes the options of loops.
        """
        hierarchy, goal = search.hierarchy, search.goal
        suits = (
            hierarchy.largest < 2.0**53
            and not hierarchy.ending
            and not hierarchy.leaks
            and not hierarchy.overlapping
            and not goal.accesses.shared
            and not search.least_lanes
        )
        tables = made(search) if suits else None
        boxes = None if tables is None else MappingBoxes(search, tables, mapped)
        # the first boxes are all combinations of the loops' kinds, bounded at once
        return None if boxes is None or boxes.kinds > MOST_KINDS else boxes

    @property
    def kinds(self) -> int:
        """The boxes that a search begins with."""
        return prod(forest.kinds for forest in self._forests)

    # -- what options cost -----------------------------------------------------------------

    @cached_property
    def _forests(self) -> tuple[OptionForest, ...]:
        """The trees of all loops, of all factors that anything asks for."""
        none = np.zeros((len(self.loops), 0), np.int64)
        self._evaluated(0, none, None)  # names the factors
        weights = self._weights()
        return tuple(
            OptionForest(table, list(rows), own, self._legal(loop))
            for loop, (table, rows, own) in enumerate(
                zip(self._tables, self.rows, weights, strict=True)
            )
        )

    def _legal(self, loop: int) -> Mask:
        """Whether the tiles of a loop's options fit, those of other loops being 1."""
        options = self.options[loop]
        legal = np.ones(options.count, bool)
        for level in self.levels:
            extents = np.ones((len(self.options), options.count))
            extents[loop] = options.covered(level)
            legal &= fits(self.hierarchy, extents, level)
        return legal

    def _weights(self) -> list[Floats]:
        """The weights of the factors of the options of every loop: shares of the costs where all
        factors are typical, and a little where they are of what must fit."""
        typical = [
            [float(np.exp(TYPICAL * table.typical(row))) for row in rows]
            for table, rows in zip(self._tables, self.rows, strict=True)
        ]
        weights = [np.zeros(len(rows)) for rows in self.rows]
        gathered = Gathered(self, self.orders[0], np.zeros((len(weights), 1), np.int32), None)
        for count, flows in zip(self.goal.counts, self.flows, strict=True):
            parts = []
            for flow in flows:
                own: dict[int, int] = {}
                for factors in gathered.factors(flow, count.adds, far=True):
                    own |= {d: int(np.ravel(row)[0]) for d, row in factors.items()}
                usual = prod(typical[d][row] for d, row in own.items())
                parts.append((flow.weight * usual, own))
            whole = sum(part for part, _ in parts) or 1.0
            for part, own in parts:
                for d, row in own.items():
                    weights[d][row] += part / whole
        for loop, rows in enumerate(self.rows):
            for (what, _, level), place in rows.items():
                if what in ("lanes", "mesh") or (what == "covered" and level):
                    weights[loop][place] += ROOM
        return weights

    # -- boxes -----------------------------------------------------------------------------

    @cached_property
    def _needed(self) -> NeededOrders:
        """The orders without which each kind of boxes does."""
        several = [
            {level: forest.several(at) for (what, _, level), at in rows.items() if what == "trips"}
            for forest, rows in zip(self._forests, self.rows, strict=True)
        ]
        return NeededOrders(self.hierarchy, several)

    @property
    def dual(self) -> bool:
        """Whether boxes have dual bounds."""
        return self._duals is not None

    @cached_property
    def _duals(self) -> DualKinds | None:
        return DualKinds.of(self, self._forests)

    @property
    def variants(self) -> int:
        return len(self.orders)

    def trees(self, variant: int) -> OptionTrees:
        return OptionTrees(tuple(forest.tree for forest in self._forests))

    def begun(self, variant: int, known: Fraction | None) -> OpenBoxes:
        """Boxes whose loops have more than one trip in the same levels: which loops move a tensor
        first is then decided, and of orders that cost the same the first one is enough."""
        sizes = [forest.kinds for forest in self._forests]
        every = np.indices(sizes).reshape(len(sizes), -1)
        needed = self._needed.mask(self.orders[variant], every)
        open_ = self.bounded(variant, every[:, needed], known)
        least = open_.bounds
        kept: list[dict[int, Mask]] = [{} for _ in self.loops]
        if known is not None and self._duals is not None:
            cutoff = least_double(known)
            least = self._duals.least(variant, open_.nodes, least, cutoff)
            left = least < cutoff
            open_, least = open_.take(left), least[left]
            if cutoff > 0:
                kept = self._duals.kept(variant, open_.nodes, cutoff)
        nodes, some = open_.nodes.copy(), np.ones(open_.count, bool)
        for loop, forest in enumerate(self._forests):
            kinds, which = np.unique(nodes[loop], return_inverse=True)
            own = [kept[loop].get(kind) for kind in kinds.tolist()]
            some &= np.array([each is None or each.any() for each in own], bool)[np.ravel(which)]
            roots = [
                forest.root(kind, each) if each is None or each.any() else -1
                for kind, each in zip(kinds.tolist(), own, strict=True)
            ]
            nodes[loop] = np.array(roots, np.int64)[np.ravel(which)]
        return self.bounded(variant, nodes[:, some], known, least[some])

    def _evaluated(
        self, order: int, nodes: Integers, trees: tuple[OptionForest, ...] | None
    ) -> tuple[Floats, Mask, Callable[[Integers], Integers]]:
        """Least numbers of boxes; whether they may fit; and of some boxes the loop whose options
        differ most. Without trees, the factors are only named.
        """
        gathered = Gathered(self, self.orders[order], nodes, trees)
        vector = np.zeros((self.goal.size, nodes.shape[1]))
        every = len(self.levels) - 1
        steps = gathered.product({d: self.row(d, "steps") for d in self.loops})
        vector[0] = steps
        whole = gathered.product({d: self.row(d, "covered") for d in self.loops})
        vector[1] = whole
        vector[2] = gathered.product({d: self.row(d, "lanes", every + 1) for d in self.loops})
        shares = []
        for place, (count, flows) in enumerate(zip(self.goal.counts, self.flows, strict=True)):
            parts = [gathered.flow(flow, count.adds) for flow in flows]
            own = count.step * whole if count.step else np.zeros(nodes.shape[1])
            vector[3 + place] = sum((part for part, _ in parts), own)
            shares.append((vector[3 + place], parts, count.rate))
        return vector, gathered.fitting(), lambda places: gathered.decisive(places, steps, shares)

    def bounded(
        self,
        variant: int,
        nodes: Integers,
        known: Fraction | None,
        least: Floats | float = -inf,
    ) -> OpenBoxes:
        vector, fits, decisive = self._evaluated(variant, nodes, self._forests)
        fitting = np.flatnonzero(fits)
        vector = vector[:, fitting]
        bounds = self.goal.without_ties(vector, self.goal.bounds(vector), known)
        bounds = np.maximum(bounds, np.broadcast_to(least, fits.shape)[fitting])
        order = np.argsort(bounds, kind="stable")
        order = order[: int(np.searchsorted(bounds[order], least_double(known)))]
        places = fitting[order]
        return OpenBoxes(variant, nodes[:, places], bounds[order], decisive(places))

    def mappings(self, leaves: OpenBoxes) -> tuple[Integers, Floats]:
        rows = self.trees(leaves.variant).options(leaves.nodes)
        fits = np.ones(leaves.count, bool)
        layouts, states = self.search.layouts, np.zeros(leaves.count)
        for number, step in enumerate(self.search.steps):
            if step.lanes and leaves.count:
                states[fits] = layouts.open(states[fits])
                for loop, options in enumerate(self.options):
                    lanes = options.factors[number][rows[:, loop]]
                    along = self.search.along(step, loop)
                    states[fits] = layouts.add(states[fits], lanes[fits], along)
                    fits &= states >= 0
        return rows[fits], leaves.bounds[fits]

    def configured(self, variant: int, row: Integers) -> Configuration | None:
        chosen = tuple(
            own.take(np.array([option])) for own, option in zip(self.options, row, strict=True)
        )
        alone = MappingBoxes(self.search, tuple(OptionTable(own) for own in chosen), self._mapped)
        whole = np.zeros((len(chosen), 1), np.int64)
        vector, _, _ = alone._evaluated(variant, whole, alone._forests)
        value = self.goal.exact(vector[:, 0])
        if value is None:
            return None
        extents = np.cumprod(np.concatenate([own.factors for own in chosen], axis=1), axis=0)
        return self._mapped(extents, self.orders[variant], value)

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        yield from super().blocks(cutoff)
        vars(self).pop("_forests", None)  # rows do without
        vars(self).pop("_duals", None)
