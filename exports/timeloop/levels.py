"""A configuration as Timeloop's hierarchy: storage, lanes and loops, outermost first.

Architecture and mapping are both written from these levels, so that every target exists.

========================  ==================================  ======================================
Level                     Ithaca                              loops it runs
========================  ==================================  ======================================
``DRAM``                  off-chip memory                     tiles, in permutation order
``<module>``              buffers of an exterior I/O group    none
``lanes_<loop>``          lanes of a space loop               spatial, t1/t2
``<module>``              buffers of an interior I/O group    none
``PE_accumulators``       the PE buffer, if there is one      none
``PE_loops``              no storage                          t1/t2 of other loops, untiled loops
``latency_hiding``        no storage                          t2
``simd_lanes``            SIMD                                spatial, the SIMD factor
``MAC``                   multiply-accumulate                 none
========================  ==================================  ======================================

A level stands for all I/O modules of an array's buffer; its name is that module's. Timeloop nests
storage in one way only, so the buffers of an exterior group are one level above all lanes, as
large as all of them together. What copies partial sums in and out shares a level with the drain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ithaca.exports.groups import moved_group
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import IOGroup, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.nest import LoopNest


class Kind(Enum):
    """What a level of the hierarchy is."""

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

    @property
    def stores(self) -> bool:
        """Whether it holds data."""
        return self in (Kind.DRAM, Kind.BUFFER, Kind.REGISTERS)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the hierarchy.

    Attributes
    ----------
    name : str
        Unique name.
    kind : Kind
        What it is.
    keeps : tuple of str
        The arrays it stores.
    loops : tuple of (str, int)
        Loops it runs, outermost first, with their trips; in space for lanes.
    words : int
        Capacity (words), doubled if double-buffered; 0 where there is none or no limit.
    width : int
        Words moved at once.
    double_buffered : bool
        Whether half of the capacity is being refilled.
    """

    name: str
    kind: Kind
    keeps: tuple[str, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()
    words: int = 0
    width: int = 1
    double_buffered: bool = False


def levels(nest: LoopNest, array: SystolicArray, tiling: Tiling, port_words: int) -> tuple[Level, ...]:
    """The hierarchy of a configuration, outermost level first.

    Parameters
    ----------
    nest : LoopNest
        The loop nest, with extents.
    array : SystolicArray
        The design, derived from the nest.
    tiling : Tiling
        The configuration.
    port_words : int
        Words that a DRAM port moves at once.

    Raises
    ------
    InputError
        If the tiling is none of the design's.
    """
    values = tiling.quantities(array, nest.sizes)
    groups = [moved_group(array, access.array) for access in nest.accesses]
    others = [loop for loop in array.band if loop not in array.dataflow]

    def buffers(exterior: bool) -> Iterator[Level]:
        for group in groups:
            if group.exterior is exterior:
                words = group.size * group.count if exterior else group.size
                yield _buffer(group, tiling, int(words.evaluate(values, FRACTION)))

    def accumulators() -> Iterator[Level]:
        if array.pe.accumulators is not None:
            words, width = (int(e.evaluate(values, FRACTION)) for e in (array.pe.accumulators, array.pe.outputs))
            yield Level("PE_accumulators", Kind.REGISTERS, (nest.output.array,), words=words, width=width)

    def trips(quantity: Callable[[str], Symbol], loops: Iterable[str]) -> tuple[tuple[str, int], ...]:
        return tuple((loop, int(values[quantity(loop).name])) for loop in loops)

    return (
        Level("DRAM", Kind.DRAM, tuple(a.array for a in nest.accesses), trips(quantities.tiles, array.order), width=port_words),
        *buffers(exterior=True),
        *(Level(f"lanes_{loop}", Kind.LANES, loops=trips(quantities.lanes, [loop])) for loop in array.dataflow),
        *buffers(exterior=False),
        *accumulators(),
        Level("PE_loops", Kind.LOOPS, loops=trips(quantities.lanes, others) + trips(quantities.extent, array.untiled)),
        Level("latency_hiding", Kind.LOOPS, loops=trips(quantities.t2, array.latency_hiding_loops)),
        Level("simd_lanes", Kind.LANES, loops=((array.simd_loop, tiling.simd),)),
        Level("MAC", Kind.COMPUTE),
    )


def _buffer(group: IOGroup, tiling: Tiling, words: int) -> Level:
    copies = 2 if group.double_buffered else 1
    module, pack = group.buffers[-1].name, tiling.pack[group.name]
    return Level(module, Kind.BUFFER, (group.array,), (), words * copies, pack, group.double_buffered)
