"""A configuration as Timeloop's hierarchy: storage, lanes and loops, outermost first.

Architecture and mapping are both written from these levels, so that every target exists.

========================  ==================================  ======================================
Level                     Ithaca                              loops it runs
========================  ==================================  ======================================
``DRAM``                  off-chip memory                     tiles, in permutation order
``<module>``              buffers of exterior I/O groups      none
``lanes_<loop>``          lanes of a space loop               spatial, t1/t2
``<module>``              buffers of exterior I/O groups      none
``lanes_<loop>``          lanes of the other space loop       spatial, t1/t2
``<module>``              buffers of interior I/O groups      none
``PE_accumulators``       the PE buffer, if there is one      none
``PE_loops``              no storage                          t1/t2 of other loops, untiled loops
``latency_hiding``        no storage                          t2
``simd_lanes``            SIMD                                spatial, the SIMD factor
``MAC``                   multiply-accumulate                 none
========================  ==================================  ======================================

A level stands for all I/O modules of a tensor's buffer; its name is that module's. Timeloop nests
storage in one way only, so the buffers of an exterior group are one level above all lanes, as large
as all of them together; unless they hold some words twice (neighbouring windows overlap, or no
space loop indexes the tensor): those stand between the lanes, one per lane of the first. What
copies partial sums in and out shares a level with the drain.

Timeloop never loads what it can keep: a tile stays until a loop with more than one trip that
indexes the tensor moves on, and what neighbouring tiles share stays too. Ithaca's buffers are
filled anew with every tile, so where the two differ a level says ``no_reuse``.
`tests.plugins.hierarchies.exports.timeloop_rules` counts as Timeloop does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs, evaluate
from ithaca.formulations.systolic.systolic_array import Direction, GroupRole, IOGroup
from ithaca.workloads.affine import Access, Affine


class LevelKind(Enum):
    """The kind of a level of the hierarchy."""

    DRAM = "DRAM"
    """Off-chip memory."""
    BUFFER = "buffer"
    """Block RAM of I/O modules."""
    REGISTERS = "registers"
    """The accumulators of a PE."""
    LOOPS = "loops"
    """No storage: loops in an order of their own."""
    LANES = "lanes"
    """Copies of everything inside."""
    COMPUTE = "compute"
    """Multiply-accumulate units."""


@dataclass(frozen=True, slots=True)
class TimeloopLevel:
    """One level of the hierarchy."""

    name: str
    kind: LevelKind
    keeps: tuple[str, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()
    """Loops it runs, outermost first, with their trips; in space for lanes."""
    words: int = 0
    """Capacity of an instance (words), doubled if double-buffered; 0 where there is none or no
    limit."""
    width: int = 1
    """Words moved at once."""
    double_buffered: bool = False
    """Whether half of the capacity is being refilled."""
    no_reuse: tuple[str, ...] = ()
    """Tensors that are loaded anew for every tile, or by lanes for every lane, though Timeloop
    would keep or share them."""
    rates: Mapping[str, Fraction] = field(default_factory=dict)
    """Words that an instance reads, writes, or both together (shared) per cycle at most; nothing
    limits what is not here."""


@dataclass(frozen=True)
class TimeloopHierarchy:
    """A configuration in Timeloop's terms.

    Raises `InputError` if its tiling is none of the design's.
    """

    configuration: ArrayConfiguration

    @cached_property
    def values(self) -> Mapping[str, Fraction]:
        """The cost model's quantities."""
        return self.configuration.quantities

    @cached_property
    def costs(self) -> Costs:
        """The costs of the configuration by Ithaca's model."""
        chosen = self.configuration
        return evaluate(chosen.design, self.values, chosen.data, FRACTION, chosen.technology)

    @cached_property
    def tile(self) -> dict[str, int]:
        """Iterations that a buffer covers: t2 of space loops, t1 of other tiled ones, or all."""
        design = self.configuration.design
        kinds = dict.fromkeys(design.band, quantities.t1) | dict.fromkeys(
            design.dataflow, quantities.t2
        )
        return {
            loop: int(self.values[kinds.get(loop, quantities.extent)(loop).name])
            for loop in self.configuration.nest.loops
        }

    @cached_property
    def accesses(self) -> tuple[Access, ...]:
        """The accesses, without strides that only name elements (no tile has those between)."""
        nest = self.configuration.nest

        def named(subscript: Affine) -> Affine:
            stored = subscript.without_gaps(nest.once)
            return replace(
                subscript,
                terms=tuple((loop, stored.coefficient(loop) or c) for loop, c in subscript.terms),
            )

        return tuple(Access(access.tensor, tuple(map(named, access))) for access in nest.accesses)

    @cached_property
    def tiles(self) -> tuple[tuple[str, int], ...]:
        """The loops over tiles, outermost first."""
        return self._trips(quantities.tiles, self.configuration.design.order)

    @cached_property
    def kept_longer(self) -> Mapping[str, bool]:
        """Tensors of which Timeloop would keep more: a whole tile, or what neighbours share.

        And whether ``no_reuse`` says so: Ithaca loads every tile. It cannot where Ithaca keeps a
        tile in inner loops.
        """
        kept = {}
        for access in self.accesses:
            stays = self.configuration.design.staying(access.tensor)
            moving = [loop for loop, trips in self.tiles if trips > 1 and loop not in stays]
            last = [subscript for subscript in access if moving and moving[-1] in subscript.loops]
            if moving and (not last or any(len(subscript.terms) > 1 for subscript in last)):
                kept[access.tensor] = all(trips == 1 for loop, trips in self.tiles if loop in stays)
        return kept

    @cached_property
    def levels(self) -> tuple[TimeloopLevel, ...]:
        """The hierarchy, outermost level first."""
        chosen, design = self.configuration, self.configuration.design
        tensors = tuple(access.tensor for access in self.accesses)
        others = [loop for loop in design.band if loop not in design.dataflow]
        exterior = [a for a in self.accesses if chosen.moved_group(a.tensor).exterior]
        apart = [a for a in exterior if not self._together(a)]
        first = self._chained(apart[0]) if apart else design.dataflow[0]
        between = [a for a in apart if self._chained(a) == first]
        lanes = [
            TimeloopLevel(
                f"lanes_{loop}", LevelKind.LANES, loops=self._trips(quantities.lanes, [loop])
            )
            for loop in (first, *(loop for loop in design.dataflow if loop != first))
        ]
        copied = tuple(a.tensor for a in between if not a.indexed_by(first))
        return (
            self._dram(tensors),
            *(self._buffer(a, together=True) for a in exterior if a not in between),
            replace(lanes[0], no_reuse=copied),
            *(self._buffer(a) for a in between),
            *lanes[1:],
            *(self._buffer(a) for a in self.accesses if a not in exterior),
            *self._accumulators(),
            TimeloopLevel(
                "PE_loops",
                LevelKind.LOOPS,
                loops=self._trips(quantities.lanes, others)
                + self._trips(quantities.extent, design.untiled),
            ),
            TimeloopLevel(
                "latency_hiding",
                LevelKind.LOOPS,
                loops=self._trips(quantities.t2, design.latency_hiding_loops),
            ),
            TimeloopLevel(
                "simd_lanes", LevelKind.LANES, loops=((design.simd_loop, chosen.tiling.simd),)
            ),
            TimeloopLevel("MAC", LevelKind.COMPUTE),
        )

    def _trips(
        self, quantity: Callable[[str], Symbol], loops: Iterable[str]
    ) -> tuple[tuple[str, int], ...]:
        return tuple((loop, int(self.values[quantity(loop).name])) for loop in loops)

    def _chained(self, access: Access) -> str:
        """The loop along which the buffers of an exterior group are chained."""
        direction = next(
            loop for loop in self.configuration.design.dataflow if not access.indexed_by(loop)
        )
        return next(
            (loop for loop in self.configuration.design.dataflow if loop != direction), direction
        )

    def _all_lanes(self, access: Access) -> int:
        """Words of the box around the tiles of all lanes."""
        covered = self.tile | {
            x: int(self.values[quantities.t1(x).name]) for x in self.configuration.design.dataflow
        }
        return int(access.box(covered))

    def _together(self, access: Access) -> bool:
        """Whether the buffers of a tensor, as one, hold every word once and nothing else."""
        group = self.configuration.moved_group(access.tensor)
        return self._all_lanes(access) == self.configuration.whole(group.size * group.count)

    def _dram(self, tensors: tuple[str, ...]) -> TimeloopLevel:
        chosen = self.configuration
        modules = [(group, module) for group, module in chosen.design.modules if module.dram]
        read = (
            sum(module.direction is Direction.IN for _, module in modules) * chosen.data.port_words
        )
        # an output's way is timed here: Timeloop counts no reads of the buffers that it leaves
        stored = sum(
            self._moved_per_cycle(group)
            for group, module in modules
            if module.direction is Direction.OUT
        )
        rates = {"read": Fraction(read), "write": Fraction(stored)}
        if chosen.bandwidth is not None:
            shared = chosen.bandwidth * 1000 / chosen.technology.clock_mhz / chosen.data.bytes
            rates = {name: min(rate, shared) for name, rate in rates.items()} | {"shared": shared}
        return TimeloopLevel(
            "DRAM", LevelKind.DRAM, tensors, self.tiles, width=chosen.data.port_words, rates=rates
        )

    def _buffer(self, access: Access, *, together: bool = False) -> TimeloopLevel:
        group = self.configuration.moved_group(access.tensor)
        words = self.configuration.whole(group.size)
        if together:
            words = max(self.configuration.whole(group.size * group.count), self._all_lanes(access))
        rates = {}
        if group.role is GroupRole.READ:
            rates["write"] = self._moved_per_cycle(group) / (
                1 if together else self.configuration.whole(group.count)
            )
        return TimeloopLevel(
            group.buffers[-1].name,
            LevelKind.BUFFER,
            (access.tensor,),
            words=words * (2 if group.double_buffered else 1),
            width=self.configuration.tiling.pack[group.name],
            double_buffered=group.double_buffered,
            no_reuse=(access.tensor,) if self.kept_longer.get(access.tensor) else (),
            rates=rates,
        )

    def _moved_per_cycle(self, group: IOGroup) -> Fraction:
        """Words per cycle between a group's buffers and DRAM: packs of its chain, and bursts."""
        cycles: Fraction = max(self.costs.modules[module.name].transfer for module in group.modules)
        return self.configuration.whole(group.size * group.count) / cycles

    def _accumulators(self) -> tuple[TimeloopLevel, ...]:
        pe, output = self.configuration.design.pe, self.configuration.nest.output
        if pe.accumulators is None:
            return ()
        words, width = map(self.configuration.whole, (pe.accumulators, pe.outputs))
        return (
            TimeloopLevel(
                "PE_accumulators", LevelKind.REGISTERS, (output.tensor,), words=words, width=width
            ),
        )
