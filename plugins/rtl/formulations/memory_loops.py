"""Loops of DRAM modules: what bursts, channels and a shared memory make of moving packs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.machine import Machine, MemoryTiming
from ithaca.formulations.processes import Loop, Repeat, Step
from ithaca.formulations.systolic.cycle_arithmetic import BURST_LATENCY
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.ports import crowded
from ithaca.formulations.systolic.systolic_array import IOGroup


class MemoryLoops:
    """The loops in which the DRAM modules of a configuration move packs; ``value`` is that of an
    expression over its quantities."""

    def __init__(
        self,
        design: SystolicDesign,
        value: Callable[[Expression], int],
        machine: Machine,
        memory: MemoryTiming,
    ) -> None:
        self._value, self._machine, self._memory = value, machine, memory
        array, data = design.array, design.data.built
        groups = array.packed_groups
        self._word_bytes = {group.name: group.package(data).word_bytes for group in groups}
        #: Cycles to open a burst, where every row of a tile is one.
        self._burst = BURST_LATENCY * value(array.bursts)
        moved = {group.name: self._bytes(group) for group in array.packed_groups}
        #: Cycles of all DRAM modules' shared memory per byte that a tensor moves, if it has its
        #: share of the bandwidth.
        self._share = {
            name: Fraction(sum(moved.values()), memory.bandwidth * own) if memory.bandwidth else 0
            for name, own in moved.items()
        }
        shared = memory.channels and value(crowded(array, memory.channels))
        loads = {g.name: moved[g.name] / value(g.ports) for g in array.packed_groups}
        #: By what the first port of each tensor takes its channel longer, as others share it.
        self._crowd = {
            name: sum(loads.values()) / own if shared else Fraction(1)
            for name, own in loads.items()
        }

    def _bytes(self, group: IOGroup) -> Fraction:
        """Bytes that a group moves to or from DRAM in a run."""
        moved = self._value(group.off_chip(group.modules[-1]))
        return Fraction(moved * self._word_bytes[group.name])

    def steps(
        self,
        group: IOGroup,
        words: int,
        reads: str | tuple[str, ...] = (),
        writes: str | tuple[str, ...] = (),
    ) -> tuple[Step, ...]:
        """Move packs of a group through a port: in one loop, or in a burst for each row of a
        tile.

        Parameters
        ----------
        group : IOGroup
            The group.
        words : int
            Packs that are moved.
        reads : str or tuple of str, optional
            FIFOs that are read.
        writes : str or tuple of str, optional
            FIFOs that are written.
        """
        reads, writes = ((names,) if isinstance(names, str) else names for names in (reads, writes))
        pack, port = self._value(group.pack) * self._word_bytes[group.name], self._memory.port
        interval = max(
            Fraction(1),
            self._share[group.name] * pack * self._value(group.ports),
            self._crowd[group.name] * pack / port if port else Fraction(1),
        )
        row = words
        if self._burst:
            chain = group.buffers[0].chain
            each = chain * group.size / group.opened(chain)
            row = self._value((each if group.outer is None else group.outer.last) / group.pack)
        entry = self._machine.entry + self._memory.latency + self._burst
        loop = Loop(row, reads, writes, entry, interval if interval > 1 else 1)
        return (Repeat(words // row, (loop,)),) if row < words else (loop,)
