"""Boxes of mappings of the edition ``timeloop``, of nests whose tiles do not overlap.

A tile is fetched anew in every trip of the loops around it, but for those directly around it that
leave its tensor alone. So every count is a sum of products: of what loops cover that move the
tensor, and of the trips, or lanes, of the others. In a box the loops directly around a tile reach
out as far as any of its mappings lets them: up to a loop that moves the tensor and has more than
one trip in all mappings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.remembered import remembered
from ithaca.formulations.stage import Block, Cutoff
from ithaca.plugins.hierarchies.formulations.search.box_search import (
    BoxSearch,
    OpenBoxes,
    OptionTrees,
)
from ithaca.plugins.hierarchies.formulations.search.flows import Flow, flows_of
from ithaca.plugins.hierarchies.formulations.search.loop_options import LoopOptions, loop_options
from ithaca.plugins.hierarchies.formulations.search.option_forest import OptionForest

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.search.extension import Extension

#: Options of a loop at most: trees of more take too much memory.
MOST_OPTIONS = 1 << 19

#: What decides where boxes are halved, found by trial: how far between 1 and their mean (of
#: logarithms) factors are typical, how much one of what must fit matters in trees, and how much
#: what tiles take of their room does in boxes.
TYPICAL, ROOM, FITTING = 0.5, 0.25, 0.15

#: How much more than others the waits count that are the longest, as a power of their share.
LONGEST = 8

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
        gathered = _Gathered(self, self._orders[0], np.zeros((len(values), 1), np.int32), None)
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

    @property
    def variants(self) -> int:
        return len(self._orders)

    def trees(self, variant: int) -> OptionTrees:
        return OptionTrees(tuple(forest.tree for forest in self._forests))

    def begun(self, variant: int, known: Fraction | None) -> OpenBoxes:
        """Boxes whose loops have more than one trip in the same levels: which loops move a tensor
        first is then decided."""
        sizes = [forest.kinds for forest in self._forests]
        every = np.indices(sizes).reshape(len(sizes), -1)
        open_ = self.bounded(variant, every, known)
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
        gathered = _Gathered(self, self._orders[order], nodes, trees)
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


class _Gathered:
    """Factors of some boxes, and what they say."""

    def __init__(
        self,
        search: MappingBoxes,
        orders: tuple[int, ...],
        nodes: Integers,
        forests: tuple[OptionForest, ...] | None,
    ) -> None:
        self._search, self._nodes, self._forests = search, nodes, forests
        self._trees = None if forests is None else [forest.tree for forest in forests]
        self._hierarchy = search._hierarchy
        self._sequence = [own[n] for own, n in zip(self._hierarchy.orders, orders, strict=True)]
        self._fitting: list[tuple[Floats, dict[int, int]]] = []
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
        return self.low(loop, self._search._row(loop, "trips", 0, level)) > 1

    @remembered
    def _reach(self, tensor: int, child: int) -> Mapping[int, Integers]:
        """Per loop that leaves a tensor alone, the level from which on outwards its trips count for
        a tile."""
        moved = self._hierarchy.tensors[tensor].moved
        count, levels = self._nodes.shape[1], len(self._hierarchy.levels)
        from_: dict[int, Integers] = {
            d: np.full(count, child - 1) for d in self._search._loops if not moved[d]
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
            d: search._row(d, "covered") if adds else search._row(d, "run", flow.own)
            for d in search._loops
            if tensor.moved[d]
        }
        from_ = self._reach(flow.tensor, flow.child)
        if far:
            from_ = {d: np.full(1, flow.child - 1) for d in from_}
        several = flow.again and len(from_) != 1
        what = "again" if flow.again and not several else "around"
        begin = {d: search._row(d, what, 0 if several else own, -1) + 1 for d in from_}
        trips = {d: begin[d] + level for d, level in from_.items()}
        if not several:
            return [{**rows, **trips}]
        return [{**rows, **{d: search._row(d, "lanes", own) for d in from_}}, trips]

    def flow(self, flow: Flow, adds: bool) -> tuple[Floats, list[dict[int, Any]]]:
        """The least of some words, and their factors."""
        words, *trips = self.factors(flow, adds)
        least = flow.weight * self.product(words)
        for each in trips:
            least = least * (self.product(each) - 1)
        return least, [words, *trips]

    def fitting(self) -> Mask:
        """Whether tiles and lanes may fit."""
        search, hierarchy, fits = self._search, self._hierarchy, np.ones(self._nodes.shape[1], bool)
        rules: list[tuple[float, list[tuple[Floats, dict[int, int]]]]] = []
        for level in search._levels:
            for tensors, words in hierarchy.room(level):
                tiles = []
                for v in tensors:
                    moved = hierarchy.tensors[v].moved
                    rows = {
                        d: search._row(d, "covered", 0, level) for d in search._loops if moved[d]
                    }
                    tiles.append((hierarchy.filled(level, v, self.product(rows)), rows))
                rules.append((float(words), tiles))
        for mesh in hierarchy.meshes:
            within = search._search.layouts.within_parent
            x, y = mesh.own if within else (mesh.x, mesh.y)
            what, level = ("mesh", mesh.level) if within else ("lanes", mesh.level + 1)
            lanes = {d: search._row(d, what, level) for d in search._loops}
            rules.append((float(x * y), [(self.product(lanes), lanes)]))
        for most, parts in rules:
            fits &= sum((part for part, _ in parts), np.zeros(fits.size)) <= most
            for part, rows in parts:
                self._fitting.append((FITTING * part / max(most, 1), rows))
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
            every = {d: self._search._row(d, "steps") for d in self._search._loops}
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
