"""One layer of a shared array: its bounds for whole classes of hardware, and its optimum for one.

Rows of the candidate tables are grouped by the hardware they need: lanes and SIMD factor, and on a
finer level the data packing factors. Column statistics of the groups, put into the program that
bounds boxes, bound the layer for every combination of groups at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from ithaca.files.clock import StoppedError, ending
from ithaca.formulations.algebra.array_types import Floats, Integers, Mask
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.rounding import all_below, below, loosened
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.remembered import remembered
from ithaca.formulations.space import Axis, Role
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design import Spans, fixed, systolic
from ithaca.solver.exact.search import Search, SearchState
from ithaca.solver.options import SolveOptions, never
from ithaca.solver.tables.frame import bound_model, build_tables, lower_problem
from ithaca.solver.tables.granularity import common_step, granularity
from ithaca.solver.tables.lowered import LoweredProblem
from ithaca.solver.tables.relaxation import statistic
from ithaca.solver.tables.table import CandidateTable, without_dominated
from ithaca.solver.tables.tree import build_tree
from ithaca.workloads.nest import Sizes


@dataclass(frozen=True)
class Room:
    """An array's room within limits that arrays share, or the room that a configuration needs."""

    bram18k: Fraction | None = None
    """Block RAM in all; None: as much as the limits allow."""
    bandwidth: Fraction | None = None
    """Bandwidth (GB/s); None: as much as the limits allow."""
    words: Sizes = ()
    """Words of buffers, by I/O group; the others' do not matter."""

    @property
    def bounds(self) -> dict[str, Fraction]:
        """The limits on block RAM and bandwidth, by metric."""
        own = {"bram18k": self.bram18k, "bandwidth": self.bandwidth}
        return {metric: bound for metric, bound in own.items() if bound is not None}

    def inside(self, other: Room) -> bool:
        """Whether a room has no more of anything than another."""
        own, words = self.bounds, dict(self.words)
        return all(
            name in own and own[name] <= bound for name, bound in other.bounds.items()
        ) and all(name in words and words[name] <= bound for name, bound in other.words)


#: All that the limits allow.
FREE = Room()

#: Parts of a limit on the bandwidth that bounds of layers are made for.
PARTS = tuple(Fraction(n, 8) for n in (1, 2, 4, 8))


@dataclass(frozen=True)
class TabledLayer:
    """A layer with its tables, which have what is best on all hardware: what one layer never needs
    another may."""

    problem: Problem
    """The layer on a design, hardware free."""
    count: int
    """How many times it occurs."""
    tables: tuple[CandidateTable, ...]
    """One per axis."""
    lowered: LoweredProblem
    """Bounds and values it."""

    @cached_property
    def high(self) -> frozenset[str]:
        """The symbols of its program that are largest values of columns; the others are
        smallest."""
        return frozenset(
            statistic(column.index, True).name for table in self.tables for column in table.columns
        )

    @cached_property
    def floor(self) -> float:
        """No configuration has a smaller objective, whatever the hardware."""
        floor = self.problem.floor
        return -np.inf if floor is None else below(floor)

    def floors(self, rooms: Sequence[Room]) -> list[float]:
        """The layer's floor within each of several rooms."""
        problems = (self.problem.within(room.bounds) for room in rooms)
        return [-np.inf if p.floor is None else below(p.floor) for p in problems]

    def within(self, room: Room) -> TabledLayer:
        """The layer with tighter limits on what arrays share."""
        own = {x.metric: x.bound for x in self.problem.open_limits}
        bounds = {metric: b for metric, b in room.bounds.items() if b < own.get(metric, b)}
        room = Room(bounds.get("bram18k"), bounds.get("bandwidth"))
        return self._narrowed(room) if bounds else self

    @remembered
    def _narrowed(self, room: Room) -> TabledLayer:
        """The layer with limits that are all tighter."""
        lowered, bounds = self.lowered, room.bounds
        if room.bandwidth is not None:
            (most,) = (x.bound for x in self.problem.open_limits if x.metric == "bandwidth")
            part = next(p for p in PARTS if room.bandwidth <= p * most)
            lowered = self._lowered_to(part * most)
        limits = lowered.limits.copy()
        for metric, bound in bounds.items():
            limits[place_of_limit(self.problem, metric)] = loosened(bound)
        lowered = replace(lowered, limits=limits)
        return replace(self, problem=self.problem.within(bounds), lowered=lowered)

    @remembered
    def _lowered_to(self, bandwidth: Fraction) -> LoweredProblem:
        """The layer's bounds and values with less bandwidth, over the same columns."""
        lowered = lower_problem(self.problem.within({"bandwidth": bandwidth}))
        return lowered if lowered.bounds.symbols == self.lowered.bounds.symbols else self.lowered

    def optimum(self, hardware: Mapping[str, int], options: SolveOptions) -> SearchState:
        """The best configuration on given hardware (quantities by name), proven unless stopped."""
        problem = self.problem.with_design(hardware=fixed(hardware))
        prune = not problem.space.entangled
        parts = []
        for table in self.tables:
            keep = [
                table.rows[name] == value for name, value in hardware.items() if name in table.rows
            ]
            own = table.only(np.logical_and.reduce(keep)) if keep else table
            parts.append(without_dominated(own) if prune else own)
        return Search(
            bound_model(problem, self.lowered, tuple(map(build_tree, parts))), options
        ).run()


def place_of_limit(problem: Problem, metric: str) -> int | None:
    """The index of a problem's limit on a metric among its open limits; None if there is none that
    may be exceeded."""
    return next(
        (place for place, limit in enumerate(problem.open_limits) if limit.metric == metric), None
    )


def _any_lanes(problem: Problem, most: int) -> Spans:
    """Up to so many lanes along each space loop, idle or not."""
    return tuple(
        (quantities.lanes(loop).name, (1, most)) for loop in systolic(problem).array.dataflow
    )


def buffer_words(problem: Problem, configuration: Configuration) -> dict[str, int]:
    """Words that each buffer of a configuration needs, by name of the quantity."""
    design = systolic(problem)
    values = {**design.extents, **configuration}
    return {
        quantities.buffer(name).name: int(size.evaluate(values, FRACTION))
        for name, size in design.buffers.items()
    }


def hardware_names(axis: Axis, *, ports: bool) -> tuple[str, ...]:
    """The quantities of an axis that are hardware, with ``ports`` those of the second rank, too."""
    roles = (Role.HARDWARE, Role.PORT) if ports else (Role.HARDWARE,)
    return tuple(quantity.name for quantity in axis.quantities if quantity.role in roles)


def build_layer(
    problem: Problem, count: int, most_lanes: int, checkpoint: Callable[[], None] = never
) -> TabledLayer:
    """Tables of a layer on every array with up to ``most_lanes`` PEs along a loop.

    Parameters
    ----------
    problem : Problem
        The layer's problem, of one design.
    count : int
        How often the layer runs.
    most_lanes : int
        PEs along a loop at most.
    checkpoint : callable, optional
        Called now and then; what it raises ends the work.
    """
    free = problem.with_design(hardware=_any_lanes(problem, most_lanes))
    lowered = lower_problem(free, checkpoint)
    tables = build_tables(
        free.space, lowered.columns, checkpoint, partial(hardware_names, ports=True)
    )
    return TabledLayer(free, count, tuple(tables), lowered)


@dataclass(frozen=True)
class Groups:
    """The rows of a layer's axes grouped by hardware."""

    layer: TabledLayer
    """The layer."""
    statistics: tuple[tuple[int, Floats], ...]
    """For each symbol of its program its axis, and its value on each group."""
    present: tuple[Mask, ...]
    """Per axis the groups that have rows."""

    def bound(self, nodes: Integers) -> tuple[Floats, Mask]:
        """Bound the layer on hardware: the group of each axis, shape (axes, combinations).

        Returns per combination a bound that no configuration on such hardware is below, and False
        where none meets the limits.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            objective, *used = self.layer.lowered.bounds.gather(self.statistics, nodes)
        bound = np.broadcast_to(
            np.where(np.isnan(objective), -np.inf, objective), (nodes.shape[1],)
        )
        return np.maximum(all_below(bound), self.layer.floor), self._within_limits(nodes, used)

    def least(self, metric: str, nodes: Integers) -> Floats:
        """The least use, on such hardware, of a limited metric that is an integer; 0 if it is not
        limited."""
        place = place_of_limit(self.layer.problem, metric)
        if place is None:
            return np.zeros(nodes.shape[1])
        with np.errstate(invalid="ignore", over="ignore"):
            (used,) = self.layer.lowered.constraints.part(slice(place, place + 1)).gather(
                self.statistics, nodes
            )
        used = np.broadcast_to(np.where(np.isnan(used), 0.0, used), (nodes.shape[1],))
        return np.ceil(all_below(np.maximum(used, 0.0)))

    def may_run(self, nodes: Integers) -> Mask:
        """Whether configurations on such hardware may meet the limits, alone."""
        with np.errstate(invalid="ignore", over="ignore"):
            return self._within_limits(
                nodes, self.layer.lowered.constraints.gather(self.statistics, nodes)
            )

    def _within_limits(self, nodes: Integers, used: Sequence[Floats]) -> Mask:
        feasible: Mask = np.logical_and.reduce(
            [p.take(n) for p, n in zip(self.present, nodes, strict=True)]
        )
        for value, limit in zip(used, self.layer.lowered.limits, strict=True):
            feasible &= ~(value > limit)
        return feasible

    def halved(self, axis: int) -> Groups:
        """Every two neighbouring groups of an axis as one."""
        pairs = np.arange(0, self.present[axis].size, 2)
        statistics = tuple(
            (
                at,
                (np.maximum if symbol in self.layer.high else np.minimum).reduceat(values, pairs)
                if at == axis
                else values,
            )
            for symbol, (at, values) in zip(
                self.layer.lowered.bounds.symbols, self.statistics, strict=True
            )
        )
        present = (
            *self.present[:axis],
            np.logical_or.reduceat(self.present[axis], pairs),
            *self.present[axis + 1 :],
        )
        return replace(self, statistics=statistics, present=present)


def group_rows(layer: TabledLayer, classes: Sequence[Integers], counts: Sequence[int]) -> Groups:
    """Group a layer's rows: per axis the class of each row, or -1 to leave it out, and how many
    classes there are.

    Parameters
    ----------
    layer : Layer
        The layer, with the tables of its axes.
    classes : sequence of Integers
        Of each axis, the class of every row, shape (rows); -1 leaves it out.
    counts : sequence of int
        How many classes each axis has.
    """
    statistics: dict[str, tuple[int, Floats]] = {}
    present = []
    for axis, (table, classed, count) in enumerate(zip(layer.tables, classes, counts, strict=True)):
        # neighbours in order of their class, with as few bits as sorting needs
        order = np.argsort(classed.astype(np.int16 if count < 1 << 15 else np.int64), kind="stable")
        order = order[np.searchsorted(classed, 0, sorter=order) :]
        ordered = classed[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        own = ordered[starts]
        present.append(np.isin(np.arange(count), own))
        for column, values in zip(table.columns, table.values, strict=True):
            for wanted, extreme, nothing in (
                (column.low, np.minimum, np.inf),
                (column.high, np.maximum, -np.inf),
            ):
                if wanted:
                    each = np.full(count, nothing)
                    if starts.size:
                        each[own] = extreme.reduceat(values[order], starts)
                    statistics[statistic(column.index, extreme is np.maximum).name] = axis, each
    return Groups(
        layer, tuple(statistics[symbol] for symbol in layer.lowered.bounds.symbols), tuple(present)
    )


def total(values: Sequence[Fraction], layers: Sequence[TabledLayer]) -> Fraction:
    """The objective of all layers, each as often as it occurs."""
    return sum(
        (value * layer.count for value, layer in zip(values, layers, strict=True)),
        start=Fraction(0),
    )


def objective_step(problems: Sequence[Problem]) -> Fraction:
    """The coarsest grid on which the objectives of all problems lie; 0 if unknown, as where the
    call's time is over before."""
    with ending(), suppress(StoppedError):
        return common_step([granularity(p.symbolic().objective, p.space.powers) for p in problems])
    return Fraction(0)
