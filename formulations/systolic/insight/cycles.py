"""Shares of a configuration's cycles: what binds its main phase (the PEs or an I/O module), and
what is padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs, ModuleCost
from ithaca.formulations.systolic.systolic_array import Edition, GroupRole, IOGroup, Module
from ithaca.workloads.nest import LoopNest

#: Name of the PEs beside those of the I/O modules.
PES = "PE"


@dataclass(frozen=True, slots=True)
class Contender:
    """A module, or the PEs, that works all through the main phase."""

    name: str
    """`PES`, or the name of an I/O module."""
    cycles: Fraction
    """How long it works (cycles); for a buffer that waits for the PEs, how long its transfers
    take."""
    takes: Fraction
    """Cycles that it works, for the PEs with those in which the buffers that feed them swap."""


@dataclass(frozen=True, slots=True)
class ArrayBottleneck:
    """The processes that set how long an array takes."""

    first: Contender
    """The contender that takes longest."""
    second: Contender | None
    """The contender that takes longest of the others."""
    phase: str
    """The phase that it works in: the main phase, which lasts as long, or in the cycle edition the
    whole run."""
    main: Fraction
    """Cycles of that."""
    latency: Fraction
    """All of the latency (cycles)."""

    @property
    def ratio(self) -> Fraction | None:
        """The time of the first contender over that of the second, at least 1; None where that does
        nothing."""
        return (
            None
            if self.second is None or not self.second.takes
            else self.first.takes / self.second.takes
        )

    @property
    def with_swaps(self) -> Fraction | None:
        """Cycles of the first with those in which buffers swap, where only these put it before the
        second; else None."""
        behind = self.second is not None and self.second.cycles > self.first.cycles
        return self.first.takes if behind else None

    @property
    def waiting(self) -> Fraction:
        """Cycles of the phase in which the first does not work: of the main phase, buffers that
        swap, one cycle a tile."""
        return self.main - self.first.cycles

    @property
    def share(self) -> Fraction:
        """The part of the latency in which the first works."""
        return self.first.cycles / self.latency


def binding(costs: Costs) -> ArrayBottleneck:
    """Rank the PEs and the I/O modules of exact costs.

    A buffer that waits for the PEs it feeds takes as long as they do, and a cycle a tile to swap.
    That is the PEs' doing, so such a buffer counts with its transfers alone.
    """
    modules, fed = [], costs.pe
    # of equals, the module nearest to DRAM is named: it is what the others wait for
    for group, module in sorted(costs.point.array.modules, key=lambda entry: -entry[1].level):
        cost = costs.modules[module.name]
        busy = cost.total
        if _waits(group, module, cost):
            busy, fed = cost.transfer * cost.total / cost.per_tile, max(fed, cost.total)
        modules.append(Contender(module.name, busy, busy))
    ranked = sorted(
        [Contender(PES, costs.pe, fed), *modules], key=lambda contender: -contender.takes
    )
    second = ranked[1] if len(ranked) > 1 else None
    if costs.point.array.edition is Edition.CYCLE:  # modules work beyond their tiles' phase
        return ArrayBottleneck(ranked[0], second, "run", costs.latency, costs.latency)
    return ArrayBottleneck(ranked[0], second, "main phase", costs.main, costs.latency)


def _waits(group: IOGroup, module: Module, cost: ModuleCost) -> bool:
    """Whether a buffer is filled before the PEs have used up the one they work on."""
    feeds = group.role is GroupRole.READ and module.buffer and group.double_buffered
    return bool(feeds and cost.per_tile - 1 > cost.transfer)


@dataclass(frozen=True, slots=True)
class CycleShares:
    """The latency in parts that add up to it (cycles)."""

    useful: Fraction
    """The nest's operations on all MAC units at once."""
    padding: Fraction
    """Operations on padding."""
    partial_sums: Fraction
    """PEs that load and store partial sums."""
    waiting: Fraction
    """PEs that wait for transfers in the main phase, or for buffers to swap."""
    prologue: Fraction
    """Filling the pipeline with the first tile, and draining the last."""
    epilogue: Fraction

    @property
    def latency(self) -> Fraction:
        """The sum of the parts."""
        return self.useful + self.padding + self.partial_sums + self.waiting + self.fill

    @property
    def fill(self) -> Fraction:
        """The cycles of prologue and epilogue together."""
        return self.prologue + self.epilogue

    @property
    def shares(self) -> Mapping[str, Fraction]:
        """The share of each part in the latency."""
        return {name: getattr(self, name) / self.latency for name in self.__slots__}


def cycles(nest: LoopNest, costs: Costs) -> CycleShares:
    """Split the latency of exact costs into its parts."""
    point = costs.point
    moves: Fraction = point.array.pe.moves.evaluate(point.values, point.numbers)
    useful = Fraction(nest.operations) / costs.comp
    return CycleShares(
        useful,
        costs.pe - moves - useful,
        moves,
        costs.main - costs.pe,
        costs.prologue,
        costs.epilogue,
    )


@dataclass(frozen=True, slots=True)
class LoopPadding:
    """The padding of one band loop to whole tiles."""

    loop: str
    """Its name."""
    extent: int
    """Iterations of the nest, and of the tiling: tiles · t1."""
    padded: int
    lanes: int
    """PEs along a space loop (1 for another), and those without any work in the last tile."""
    idle_lanes: int
    idle_simd: int
    """SIMD lanes without work in the last vector that has any; 0 but for the SIMD loop."""


@dataclass(frozen=True, slots=True)
class Padding:
    """Padding of a tiling."""

    loops: tuple[LoopPadding, ...]
    """One per band loop."""
    operations: int
    """Multiply-accumulates of the nest, and of the tiling."""
    padded_operations: int

    @property
    def share(self) -> Fraction:
        """The part of the operations done that is padding."""
        return 1 - Fraction(self.operations, self.padded_operations)


def padding(nest: LoopNest, costs: Costs) -> Padding:
    """Compare the iterations of a tiling with those of its nest."""
    array, values = costs.point.array, costs.point.values
    loops = []
    for loop in array.band:
        t1, t2 = int(values[quantities.t1(loop).name]), int(values[quantities.t2(loop).name])
        extent, padded = nest.sizes[loop], int(values[quantities.tiles(loop).name]) * t1
        space = loop in array.dataflow
        lanes = int(values[quantities.lanes(loop).name]) if space else 1
        idle_lanes = (padded - extent) // t2 if space else 0
        idle_simd = (padded - extent) % t2 if loop == array.simd_loop else 0
        loops.append(LoopPadding(loop, extent, padded, lanes, idle_lanes, idle_simd))
    done = prod(nest.sizes[loop] for loop in array.untiled) * prod(entry.padded for entry in loops)
    return Padding(tuple(loops), nest.operations, int(done * nest.share))
