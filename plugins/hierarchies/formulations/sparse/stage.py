"""The search of mappings of sparse tensors: what is kept is decided first, then the factors of one
loop after the other, then orders of loops; what bounds leave is evaluated exactly."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.remembered import remembered
from ithaca.formulations.stage import Candidates, Cutoff
from ithaca.plugins.hierarchies.formulations.corners import Corners
from ithaca.plugins.hierarchies.formulations.mapping import (
    Order,
    Slot,
    keep_quantity,
    order_quantity,
)
from ithaca.plugins.hierarchies.formulations.search.joined_axes import JoinedAxes
from ithaca.plugins.hierarchies.formulations.sparse.bounds import LeastModel
from ithaca.plugins.hierarchies.formulations.sparse.parts import SparseLevel, Sparsity
from ithaca.plugins.hierarchies.formulations.sparse.space import SparseSpace

#: Combinations that are bounded at once, and mappings that are evaluated between looks at the
#: clock.
AT_ONCE, EVALUATED = 1 << 15, 64


#: Orders of all levels together that rows are bounded for.
ORDERS = 64


class SparseStage(JoinedAxes):
    """A problem whose objective and limits do not fall as metrics grow."""

    beam, band = 64, 1 << 9

    def __init__(self, design: SparseSpace, problem: Problem) -> None:
        super().__init__()
        self._design, self._problem, self._corners = design, problem, Corners(problem)

    @cached_property
    def _tables(self) -> tuple[Mapping[str, Integers], ...]:
        """The factors that each moving loop may have, by quantity; loops of windows first, of
        which bounds know nothing while they are open."""
        design, nest = self._design, self._design.nest
        windows = {d for each in nest.accesses for s in each if len(s.terms) > 1 for d in s.loops}
        loops = sorted(design.moving, key=lambda loop: loop not in windows)
        slot = design.slots[0]
        return tuple(design.space.axis_of[slot.quantity(loop)].table() for loop in loops)

    @cached_property
    def _variants(self) -> tuple[Mapping[str, int], ...]:
        """All choices of tensors that levels keep, the most first, by quantity."""
        names = [
            keep_quantity(level.name, tensor)
            for place, level in enumerate(self._design.architecture.levels)
            for tensor in sorted(self._design.may_bypass(place))
        ]
        return tuple(
            dict(zip(names, each, strict=True)) for each in product((2, 1), repeat=len(names))
        )

    @property
    def counts(self) -> tuple[int, int]:
        return len(self._variants), len(self._tables)

    def _columns(self, rows: Integers) -> dict[str, Any]:
        tables = self._tables[: rows.shape[1]]
        return {
            name: column[rows[:, axis]].astype(float)
            for axis, table in enumerate(tables)
            for name, column in table.items()
        }

    def _bounds(self, variant: int, columns: Mapping[str, Any], inside: Any = lambda *_: 0) -> Any:
        """Lower bounds of the objectives of mappings, of which some loops are decided; infinite
        where none fits."""
        design = self._design
        factors = {
            (slot, loop): columns[name]
            for slot in design.slots
            for loop in design.moving
            if (name := slot.quantity(loop)) in columns
        }
        keeps = tuple(
            {tensor: int(kept) for tensor, kept in level.items()}
            for level in design.kept_at(self._variants[variant])
        )
        model = LeastModel(design, factors, inside, keeps)
        metrics = {name: model.metric(name) for name in self._problem.used_metrics}
        bounds = np.where(model.unsuited(), np.inf, self._corners.least(metrics, {}))
        for rule in model.rules(design.options.within_parent):
            bounds = np.where(np.asarray(rule.used) > rule.bound, np.inf, bounds)
        return bounds

    def _ordered(self, variant: int, columns: Mapping[str, Any]) -> Floats:
        """The least bounds over the orders that suffice for dense tensors, which have the least
        counts of all; nothing where they are many."""
        offers, bounds = self._design.reusing.values(), list[Any]()
        if prod(map(len, offers)) > ORDERS:
            return np.zeros(1)
        for orders in product(*offers):
            offered, only = [[order] for order in orders], np.zeros((len(orders), 1), np.int64)
            bounds.append(self._bounds(variant, columns, _inside(offered, only)))
        least: Floats = np.minimum.reduce(bounds)
        return least

    def extended(self, variant: int, rows: Integers, cutoff: Cutoff) -> tuple[Integers, Floats]:
        axis = rows.shape[1]
        count = next(iter(self._tables[axis].values())).size
        step = max(AT_ONCE // max(count, 1), 1)
        parts: list[tuple[Integers, Floats]] = [(np.zeros((0, axis + 1), np.int64), np.zeros(0))]
        for begin in range(0, rows.shape[0], step):
            part = np.repeat(rows[begin : begin + step], count, axis=0)
            options = np.tile(np.arange(count), len(part) // max(count, 1))
            made = np.concatenate([part, options[:, None]], axis=1)
            least = np.broadcast_to(self._bounds(variant, self._columns(made)), len(made))
            open_ = least < least_double(cutoff())
            made, least = made[open_], least[open_]
            if made.size:
                least = np.maximum(least, self._ordered(variant, self._columns(made)))
                open_ = least < least_double(cutoff())
                parts = self.kept([*parts, (made[open_], least[open_])])
        made, least = map(np.concatenate, zip(*parts, strict=True))
        return made, least

    def completed(self, variant: int, row: Integers, cutoff: Cutoff) -> Candidates:
        # the orders of a row's loops whose bounds are below the cutoff, evaluated exactly
        columns = {name: column[0] for name, column in self._columns(row[None]).items()}
        values = {**{name: int(n) for name, n in columns.items()}, **self._variants[variant]}
        names = [*self._design.orders]
        several: list[list[str]] = [[] for _ in names]
        for name, n in columns.items():
            if n > 1:
                several[names.index(self._level_of[name])].append(name)
        numbers = [
            self._orders(variant, place, frozenset(own)) for place, own in enumerate(several)
        ]
        offered = [[*own] for own in numbers]
        every = np.indices([len(each) for each in offered]).reshape(len(offered), -1)
        bounds = np.broadcast_to(
            self._bounds(variant, columns, _inside(offered, every)), every.shape[1]
        )
        for count, place in enumerate(np.argsort(bounds, kind="stable")):
            if not bounds[place] < least_double(cutoff()):
                break
            chosen = {
                order_quantity(name): own[each[n]]
                for name, own, each, n in zip(names, numbers, offered, every[:, place], strict=True)
            }
            configuration = Configuration(
                {name: (values | chosen)[name] for name in self._design.space.quantities}
            )
            value, known = self._problem.feasible_value(configuration), cutoff()
            if value is not None and (known is None or value < known):
                yield configuration
            elif count % EVALUATED == 0:
                yield None
        yield None

    @cached_property
    def _level_of(self) -> Mapping[str, str]:
        """The level of every factor."""
        slots, loops = self._design.slots, self._design.moving
        return {slot.quantity(loop): slot.level for slot in slots for loop in loops}

    @remembered
    def _orders(self, variant: int, place: int, several: frozenset[str]) -> Mapping[Order, int]:
        """The orders of a level that may differ in cost, where some of its factors are above 1,
        with their numbers.

        Of loops of one trip counts the one by which the tool takes reads where none moves what is
        read: the last lane or, without, the first loop at the multipliers, the outermost of
        another level. Ranks are told apart by whether the first loop of a tensor is one; of
        tensors that are marked, but not compressed, inner tiles go to the first loops.
        """
        design, levels = self._design, self._design.architecture.levels
        kept, last = design.kept_at(self._variants[variant]), len(levels) - 1
        sparsity = design.architecture.sparsity
        assert isinstance(sparsity, Sparsity)  # as designs are
        parts = [sparsity.levels.get(each.name, SparseLevel()) for each in levels]

        def home(tensor: str, within: int) -> int:
            return max(n for n in range(within + 1) if kept[n][tensor])

        homes = [
            (home(tensor, n), not any(own[tensor] for own in kept[n + 1 :]))
            for n, part in enumerate(parts)
            for saving in part.savings
            for tensor, _ in saving.options
        ]
        lanes = Slot(levels[place].name, "x") in design.slots
        by_end = any(
            place == (last if scalar else n) and (levels[n].block > 1 or (scalar and lanes))
            for n, scalar in homes
        )
        stored = [
            (access, parts[home(access.tensor, place)].formats.get(access.tensor))
            for access in design.nest.accesses
            if place == last or kept[place + 1][access.tensor]
        ]
        ranked = [access for access, own in stored if own and len(own.ranks) > 1]
        merged = place < last and any(own and not own.compressed for _, own in stored)
        distinct: dict[Any, tuple[Order, int]] = {}
        for number, order in enumerate(design.orders[levels[place].name], 1):
            nested = design.nested(levels[place].name, order, several)
            row = [(slot.quantity(d), d) for slot, loops in nested.items() for d in loops]
            end = max(len(row) - len(order), 1) - 1 if place == last else -1
            firsts = (next(n for n, d in row if each.indexed_by(d)) in several for each in ranked)
            runs = (own for own in row if merged or own[0] in several)
            distinct.setdefault((by_end and row[end], *firsts, *runs), (order, number))
        return dict(distinct.values())


def _inside(offered: list[list[Order]], every: Integers) -> Any:
    """Whether, in the orders of each column, one loop lies inside another at a level."""

    def inside(level: int, inner: str, outer: str) -> Any:
        each = [int(order.index(inner) > order.index(outer)) for order in offered[level]]
        return each[0] if len(each) == 1 else np.array(each)[every[level]]

    return inside
