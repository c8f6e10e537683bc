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

A level stands for all I/O modules of a tensor's buffer; its name is that module's. Timeloop nests
storage in one way only, so the buffers of an exterior group are one level above all lanes, as
large as all of them together. What copies partial sums in and out shares a level with the drain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import IOGroup


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


@dataclass(frozen=True, slots=True)
class Level:
    """One level of the hierarchy."""

    name: str
    kind: Kind
    keeps: tuple[str, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()  #: Loops it runs, outermost first, with their trips; in space for lanes
    words: int = 0  #: Capacity (words), doubled if double-buffered; 0 where there is none or no limit
    width: int = 1  #: Words moved at once
    double_buffered: bool = False  #: Whether half of the capacity is being refilled


def levels(configuration: ArrayConfiguration) -> tuple[Level, ...]:
    """The hierarchy of a configuration, outermost level first.

    Raises `InputError` if the tiling is none of the design's.
    """
    nest, design, values = configuration.nest, configuration.design, configuration.quantities
    tensors = tuple(access.tensor for access in nest.accesses)
    groups = [configuration.moved_group(tensor) for tensor in tensors]
    others = [loop for loop in design.band if loop not in design.dataflow]

    def buffers(exterior: bool) -> Iterator[Level]:
        for group in groups:
            if group.exterior is exterior:
                words = group.size * group.count if exterior else group.size
                yield _buffer(group, configuration.tiling.pack[group.name], configuration.whole(words))

    def accumulators() -> Iterator[Level]:
        if design.pe.accumulators is not None:
            words, width = map(configuration.whole, (design.pe.accumulators, design.pe.outputs))
            yield Level("PE_accumulators", Kind.REGISTERS, (nest.output.tensor,), words=words, width=width)

    def trips(quantity: Callable[[str], Symbol], loops: Iterable[str]) -> tuple[tuple[str, int], ...]:
        return tuple((loop, int(values[quantity(loop).name])) for loop in loops)

    return (
        Level("DRAM", Kind.DRAM, tensors, trips(quantities.tiles, design.order), width=configuration.data.port_words),
        *buffers(exterior=True),
        *(Level(f"lanes_{loop}", Kind.LANES, loops=trips(quantities.lanes, [loop])) for loop in design.dataflow),
        *buffers(exterior=False),
        *accumulators(),
        Level("PE_loops", Kind.LOOPS, loops=trips(quantities.lanes, others) + trips(quantities.extent, design.untiled)),
        Level("latency_hiding", Kind.LOOPS, loops=trips(quantities.t2, design.latency_hiding_loops)),
        Level("simd_lanes", Kind.LANES, loops=((design.simd_loop, configuration.tiling.simd),)),
        Level("MAC", Kind.COMPUTE),
    )


def _buffer(group: IOGroup, pack: int, words: int) -> Level:
    copies = 2 if group.double_buffered else 1
    return Level(group.buffers[-1].name, Kind.BUFFER, (group.tensor,), (), words * copies, pack, group.double_buffered)
