"""The search of edition ``uneven``: what is kept and the order of storage nodes are decided first,
then the factors of one axis after the other.

An *axis* is a loop, or several that share a rank of a tensor. Of its options only those are kept
that none other is as good as in all that the model asks of them. Every partial mapping is bounded
by the model itself, in numbers over the options (`uneven.separable`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ithaca.files.fraction import Fraction
from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import EXACT, least_double, loosened
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.remembered import remembered
from ithaca.formulations.stage import Candidates, Cutoff
from ithaca.plugins.hierarchies.formulations.corners import Corners
from ithaca.plugins.hierarchies.formulations.mapping import Slot, keep_quantity, order_quantity
from ithaca.plugins.hierarchies.formulations.orders import sharing
from ithaca.plugins.hierarchies.formulations.search.joined_axes import JoinedAxes
from ithaca.plugins.hierarchies.formulations.search.pareto import undominated
from ithaca.plugins.hierarchies.formulations.uneven.model import Node
from ithaca.plugins.hierarchies.formulations.uneven.separable import SEPARABLE, Separable
from ithaca.plugins.hierarchies.formulations.uneven.space import NODES, UnevenSpace

#: Combinations that are bounded at once.
AT_ONCE = 1 << 18

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


class UnevenStage(JoinedAxes):
    """A problem whose objective and limits do not fall as metrics grow."""

    def __init__(self, design: UnevenSpace, problem: Problem) -> None:
        super().__init__()
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
    def counts(self) -> tuple[int, int]:
        return len(self._variants), len(self._axes)

    def extended(self, variant: int, rows: Integers, cutoff: Cutoff) -> tuple[Integers, Floats]:
        prices = self._prices_of(variant)
        axis = rows.shape[1]
        count = next(iter(prices.tables[axis].values())).size
        step = max(AT_ONCE // count, 1)
        parts: list[tuple[Integers, Floats]] = [(np.zeros((0, axis + 1), np.int64), np.zeros(0))]
        for begin in range(0, rows.shape[0], step):
            part = rows[begin : begin + step]
            metrics = {
                name: np.maximum(number.least(part, axis), self._floors.get(name, 0.0))
                for name, number in prices.metrics.items()
            }
            bounds = np.broadcast_to(self._corners.least(metrics, metrics), (len(part), count))
            row, option = np.nonzero(bounds < least_double(cutoff()))
            made, least = np.concatenate([part[row], option[:, None]], axis=1), bounds[row, option]
            for used, most in prices.rules:
                fits = used.least(made)[:, 0] <= most
                made, least = made[fits], least[fits]
            parts = self.kept([*parts, (made, least)])
        made, least = map(np.concatenate, zip(*parts, strict=True))
        if axis + 1 < len(prices.tables):
            return made, least
        fits = self._fits(prices, made)
        return made[fits], least[fits]

    @cached_property
    def _floors(self) -> Mapping[str, float]:
        least = self._design.least(self._problem.limits)
        return {name: float(value) for name, value in least.items()}

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

    def completed(self, variant: int, row: Integers, cutoff: Cutoff) -> Candidates:
        yield self._configuration(self._prices_of(variant), row)

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
