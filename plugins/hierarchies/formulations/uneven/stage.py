"""The search of edition ``uneven``: what is kept and the order of storage nodes are decided first,
then the factors of all axes at once.

An *axis* is a loop, or several that share a rank of a tensor. Of its options only those are kept
that none other is as good as in all that the model asks of them. A box holds a group of options of
every axis, and is bounded by the model itself, in numbers over the options (`uneven.separable`). It
is halved along the axis whose options differ most in what they cost, until a mapping is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import EXACT, least_double, loosened
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.remembered import remembered
from ithaca.plugins.hierarchies.formulations.corners import Corners
from ithaca.plugins.hierarchies.formulations.mapping import Slot, keep_quantity, order_quantity
from ithaca.plugins.hierarchies.formulations.orders import sharing
from ithaca.plugins.hierarchies.formulations.search.bounded_objective import nearly
from ithaca.plugins.hierarchies.formulations.search.box_search import (
    BoxSearch,
    OpenBoxes,
    OptionTrees,
)
from ithaca.plugins.hierarchies.formulations.search.pareto import undominated
from ithaca.plugins.hierarchies.formulations.uneven.boxes import Boxes
from ithaca.plugins.hierarchies.formulations.uneven.model import Node
from ithaca.plugins.hierarchies.formulations.uneven.separable import SEPARABLE, Separable
from ithaca.plugins.hierarchies.formulations.uneven.space import NODES, UnevenSpace

#: Bounds that floats cannot tell from the best are computed exactly, of so many at most.
MOST_TIED = 1 << 12

#: Options of an axis by slot and loop: a column each, lanes along X and Y as their product.
AxisOptions = Mapping[tuple[Slot, str], Integers]


@dataclass(frozen=True)
class Variant:
    """Tensors that levels keep, and an order of their storage nodes."""

    keeps: tuple[Mapping[str, int], ...]
    """Whether every level keeps a tensor: 1 or 0."""
    order: tuple[Node, ...]
    """The nodes, outermost first."""
    number: int
    """Which of the design's orders it is, from 1."""


@dataclass(frozen=True)
class Prices:
    """The costs of the options of all axes."""

    variant: Variant
    """The variant whose mappings these are the costs of."""
    tables: tuple[AxisOptions, ...]
    """The options of every axis."""
    metrics: Mapping[str, Separable]
    """Metrics that objective and limits speak of."""
    rules: tuple[tuple[Separable, float], ...]
    """The sums that must not exceed a bound."""


class UnevenStage(BoxSearch):
    """A problem whose objective and limits do not fall as metrics grow."""

    def __init__(self, design: UnevenSpace, problem: Problem) -> None:
        self._design, self._problem, self._corners = design, problem, Corners(problem)

    # -- options -------------------------------------------------------------------------

    @cached_property
    def _axes(self) -> tuple[tuple[str, ...], ...]:
        """The moving loops, those together that share a rank."""
        return tuple(sharing(self._design.nest, self._design.moving))

    @cached_property
    def _options(self) -> Mapping[str, Mapping[Slot, Integers]]:
        """The factors that every loop may have, by slot; lanes as X."""
        known = {}
        for loop in self._design.moving:
            rows = self._design.space.axis_of[self._design.slots[0].quantity(loop)].table()
            columns: dict[Slot, Integers] = {}
            for slot in self._design.slots_of(loop):
                if slot.direction == "y":
                    across = Slot(slot.level, "x")
                    columns[across] = columns[across] * rows[slot.quantity(loop)]
                else:
                    columns[slot] = rows[slot.quantity(loop)]
            distinct = np.unique(np.stack(list(columns.values())), axis=1)
            known[loop] = dict(zip(columns, distinct, strict=True))
        return known

    def _table(self, axis: tuple[str, ...], variant: Variant) -> AxisOptions:
        """Options of an axis where nodes that are not kept have no loops."""
        present = {self._design.slot(node) for node in variant.order}
        absent = {self._design.slot(node) for node in self._design.nodes} - present
        tables = []
        for loop in axis:
            columns = self._options[loop]
            empty = [columns[slot] == 1 for slot in columns if slot in absent]
            places = np.flatnonzero(np.logical_and.reduce([self._least(loop, variant), *empty]))
            tables.append({(slot, loop): values[places] for slot, values in columns.items()})
        sizes = [next(iter(table.values())).size for table in tables]
        grid = np.indices(sizes).reshape(len(sizes), -1)
        joined: dict[tuple[Slot, str], Integers] = {}
        for table, places in zip(tables, grid, strict=True):
            joined |= {at: values[places] for at, values in table.items()}
        return joined

    def _least(self, loop: str, variant: Variant) -> NDArray[np.bool_]:
        """A mask of the options of a loop without a factor that could be less for as many tiles,
        all factors inside of it unchanged."""
        design, columns = self._design, self._options[loop]
        extent, outer = design.nest.sizes[loop], design.outer_nodes(loop)
        inner = {design.slots[0], *map(design.slot, outer)}
        covered = prod(
            (values for slot, values in columns.items() if slot not in inner),
            start=np.ones_like(columns[design.slots[0]]),
        )
        chosen = covered > 0
        for node in reversed(variant.order) if loop in design.ending else ():
            if node in outer:
                factor, rest = columns[design.slot(node)], -(-extent // covered)
                covered = covered * factor
                chosen &= (factor - 1) * -(-extent // covered) < rest
        return chosen

    def _prices(self, variant: Variant) -> Prices:
        """Costs of a variant's options, those left out that others are as good as."""
        tables = tuple(self._table(axis, variant) for axis in self._axes)
        prices = self._priced(variant, tables)
        kept = []
        for axis, table in enumerate(tables):
            numbers = [*prices.metrics.values(), *(used for used, _ in prices.rules)]
            costs = [
                factor if term.scale > 0 else -factor
                for number in numbers
                for term in number.terms
                if (factor := term.factors.get(axis)) is not None
            ]
            if max((abs(row).max() for row in costs), default=0) >= EXACT:
                kept.append(table)  # which option is as good as another is not known
                continue
            keys = [values for (slot, _), values in table.items() if not slot.temporal]
            count = next(iter(table.values())).size
            ones = np.ones(count)
            places = undominated(
                np.array([ones, *keys], dtype=np.float64), np.array([ones, *costs])
            )
            kept.append({at: values[places] for at, values in table.items()})
        kept.sort(key=lambda table: next(iter(table.values())).size)
        return self._priced(variant, tuple(kept))

    def _priced(self, variant: Variant, tables: tuple[AxisOptions, ...]) -> Prices:
        values = {
            at: Separable.of(axis, column)
            for axis, table in enumerate(tables)
            for at, column in table.items()
        }
        one = SEPARABLE.number(Fraction(1))
        place = {node: number for number, node in enumerate(variant.order)}
        model = self._design.uneven_model(
            SEPARABLE,
            lambda slot, loop: values.get((slot, loop), one),
            lambda node, other: int(place.get(node, -1) > place.get(other, -1)),
            variant.keeps,
        )
        rules = [(rule.used, loosened(Fraction(rule.bound))) for rule in model.room_rules()]
        lanes, parts = one, self._design.architecture.parts
        for part, own in zip(parts[1:], model.lanes, strict=True):
            lanes = prod(own.values(), start=lanes)
            rules.append((lanes, float(part.instances)))
        metrics = {name: model.metric(name) for name in self._problem.used_metrics}
        return Prices(variant, tables, metrics, tuple(rules))

    # -- variants ------------------------------------------------------------------------

    @cached_property
    def _variants(self) -> tuple[Variant, ...]:
        return tuple(self._all_variants())

    @remembered
    def _prices_of(self, number: int) -> Prices:
        return self._prices(self._variants[number])

    def _all_variants(self) -> Iterator[Variant]:
        """All choices of tensors that levels keep, and all orders of the storage nodes that there
        are then; none where a loop has no factors."""
        design = self._design
        if not all(next(iter(columns.values())).size for columns in self._options.values()):
            return
        levels = range(len(design.architecture.levels))
        choices = [
            (place, tensor) for place in levels for tensor in sorted(design.may_bypass(place))
        ]
        for left_out in product((False, True), repeat=len(choices)):
            gone = {node for node, out in zip(choices, left_out, strict=True) if out}
            keeps = tuple(
                {
                    t: int(t in design.keeps(place) and (place, t) not in gone)
                    for t in design.tensors
                }
                for place in levels
            )
            orders: dict[tuple[Node, ...], int] = {}
            for number, order in enumerate(design.node_orders, start=1):
                orders.setdefault(tuple(node for node in order if node not in gone), number)
            for order, number in orders.items():
                yield Variant(keeps, order, number)

    # -- search --------------------------------------------------------------------------

    @property
    def variants(self) -> int:
        return len(self._variants)

    def trees(self, variant: int) -> OptionTrees:
        return self._boxes(variant).trees

    @cached_property
    def _floors(self) -> Mapping[str, Fraction]:
        return self._design.least(self._problem.limits)

    @remembered
    def _boxes(self, number: int) -> Boxes:
        prices = self._prices_of(number)
        sizes = [next(iter(table.values())).size for table in prices.tables]
        return Boxes(sizes, prices.metrics, prices.rules)

    def bounded(
        self,
        variant: int,
        nodes: Integers,
        known: Fraction | None,
        least: Floats | float = -inf,
    ) -> OpenBoxes:
        boxes = self._boxes(variant)
        whole, fits, axes = boxes.least(nodes)
        lows = {
            name: np.maximum(values / boxes.metrics[name].unit, float(self._floors.get(name, 0)))
            for name, values in whole.items()
        }
        bounds = np.maximum(np.broadcast_to(self._corners.least(lows, lows), fits.shape), least)
        bounds[~fits] = inf
        if known is not None:
            self._without_ties(boxes, whole, bounds, known)
        order = np.argsort(bounds, kind="stable")
        order = order[: int(np.searchsorted(bounds[order], least_double(known)))]
        return OpenBoxes(variant, nodes[:, order], bounds[order], axes[order])

    def _without_ties(
        self, boxes: Boxes, whole: Mapping[str, Floats], bounds: Floats, known: Fraction
    ) -> None:
        """Make bounds infinite that floats cannot tell from what is known, where exact numbers can.

        Parameters
        ----------
        boxes : Boxes
            The boxes of the variant.
        whole : mapping
            Least metrics, in their units.
        bounds : ndarray
            The bounds; changed in place.
        known : Fraction
            The value to be below.
        """
        near = np.flatnonzero(nearly(bounds, known))
        if not near.size or not all(number.exact for number in boxes.metrics.values()):
            return
        rows = np.array([values[near] for values in whole.values()])
        kinds, which = np.unique(rows, axis=1, return_inverse=True)
        if kinds.shape[1] > MOST_TIED:
            return
        worse = []
        for kind in kinds.T:
            least = {name: boxes.fraction(name, x) for name, x in zip(whole, kind, strict=True)}
            least = {name: max(x, self._floors.get(name, x)) for name, x in least.items()}
            worse.append(self._problem.objective.value(least) >= known)
        bounds[near[np.array(worse)[np.ravel(which)]]] = inf

    def mappings(self, leaves: OpenBoxes) -> tuple[Integers, Floats]:
        rows = self.trees(leaves.variant).options(leaves.nodes)
        fits = self._fits(self._prices_of(leaves.variant), rows)
        return rows[fits], leaves.bounds[fits]

    def configured(self, variant: int, row: Integers) -> Configuration:
        return self._configuration(self._prices_of(variant), row)

    @cached_property
    def _meshes(self) -> tuple[int, ...]:
        """The levels with a mesh inside, outermost first."""
        return tuple(
            place
            for place in range(len(self._design.architecture.levels))
            if self._design.architecture.inner_mesh(place) is not None
        )

    def _lanes(self, prices: Prices, rows: Integers) -> Integers:
        """Lanes of rows, mesh by mesh, of every loop."""
        known = {at: (axis, c) for axis, t in enumerate(prices.tables) for at, c in t.items()}
        names = [self._design.architecture.levels[place].name for place in self._meshes]
        each = [known[Slot(name, "x"), loop] for name in names for loop in self._design.moving]
        lanes = [column[rows[:, axis]] for axis, column in each]
        return np.array(lanes, np.int64).reshape(len(each), rows.shape[0])

    def _fits(self, prices: Prices, rows: Integers) -> NDArray[np.bool_]:
        """Whether lanes fit the meshes."""
        if not self._meshes or not rows.size:
            return np.ones(rows.shape[0], bool)
        distinct, places = np.unique(self._lanes(prices, rows), axis=1, return_inverse=True)
        fits = [self._split(tuple(map(int, lanes))) is not None for lanes in distinct.T]
        return np.array(fits, bool)[places.ravel()]

    @remembered
    def _split(self, lanes: tuple[int, ...]) -> tuple[int, ...] | None:
        """The number of all lanes that lie along X, so that those up to every mesh fit it; None if
        they do not."""
        return self._searched(lanes, 0, 1, 1)

    def _searched(
        self, lanes: tuple[int, ...], place: int, x: int, y: int
    ) -> tuple[int, ...] | None:
        if place == len(lanes):
            return ()
        mesh = self._design.architecture.inner_mesh(self._meshes[place // len(self._design.moving)])
        assert mesh is not None
        own = lanes[place]
        for along in (n for n in range(1, own + 1) if own % n == 0):
            wide, high = x * along, y * own // along
            if wide <= mesh[0] and high <= mesh[1]:
                rest = self._searched(lanes, place + 1, wide, high)
                if rest is not None:
                    return (along, *rest)
        return None

    def _configuration(self, prices: Prices, row: Integers) -> Configuration:
        """The mapping of a row."""
        design, variant = self._design, prices.variant
        values = {
            slot.quantity(loop): int(column[row[axis]])
            for axis, table in enumerate(prices.tables)
            for (slot, loop), column in table.items()
        }
        lanes = tuple(int(n) for n in self._lanes(prices, row[None])[:, 0])
        along = self._split(lanes)
        assert along is not None
        names = [design.architecture.levels[place].name for place in self._meshes]
        slots = ((name, loop) for name in names for loop in design.moving)
        for (name, loop), n, x in zip(slots, lanes, along, strict=True):
            values[Slot(name, "x").quantity(loop)] = x
            values[Slot(name, "y").quantity(loop)] = n // x
        values[order_quantity(NODES)] = variant.number
        for place, level in enumerate(design.architecture.levels):
            for tensor in design.may_bypass(place):
                values[keep_quantity(level.name, tensor)] = 1 + variant.keeps[place][tensor]
        return Configuration({name: values[name] for name in design.space.quantities})
