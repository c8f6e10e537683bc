"""Memory ports: tensors spread over several channels of the memory beside a device.

The modules next to DRAM are a chain along a space loop. As AutoSA does for memory of many channels,
the chain is cut into as many as there are ports, each with a DRAM module of its own: a port serves
its share of the lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.files.words import parse_integer
from ithaca.formulations.algebra.expression import (
    ONE,
    ZERO,
    Expression,
    add,
    maximum,
    minimum,
    multiply,
)
from ithaca.formulations.data_types import DataType
from ithaca.formulations.machine import LARGEST
from ithaca.formulations.platform import Platform
from ithaca.formulations.space import Link, Quantity, QuantityKind, Relation, Role
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.systolic_array import (
    Edition,
    GroupRole,
    IOGroup,
    SystolicArray,
)
from ithaca.formulations.technology import Technology
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class MemoryPorts:
    """The memory ports that tensors may be spread over."""

    most: int
    """Most ports of a tensor."""
    channels: int
    """Channels of the memory, at least as many; tensors share them where they have more ports
    together."""


def memory_ports(platform: Platform, most: int | None, edition: Edition) -> MemoryPorts | None:
    """Up to so many memory ports of each tensor on a platform; None where none are wanted.

    Raises `InputError` if the platform has fewer memory channels, or the edition no ports.

    Parameters
    ----------
    platform : Platform
        The device, with its memory channels.
    most : int, optional
        Ports that a tensor has at most; None: one port, which is no quantity.
    edition : Edition
        The edition of the cost model.
    """
    if most is None:
        return None
    most = parse_integer("--ports", most, least=1)
    channels = 0 if platform.memory is None else platform.memory.channels
    if most > channels:
        allowed = (f"1 to {channels}" if channels > 1 else "1") if channels else "other platforms"
        raise InputError(
            f"--ports is {most}, but {platform.name} has "
            f"{counted(channels, 'memory channel')}; allowed: {allowed}"
        )
    if edition is Edition.ODYSSEY:
        raise InputError(
            "--ports does not go with --edition odyssey, which publishes one port of each tensor; "
            "allowed: --edition cycle or exact"
        )
    return MemoryPorts(most, channels)


def most_ports(ports: MemoryPorts | None) -> int:
    """The limit on memory ports of a tensor."""
    return 1 if ports is None else ports.most


def with_channels(
    technology: Technology, platform: Platform, ports: MemoryPorts | None
) -> Technology:
    """A technology whose memory ports, where there may be several, are channels of the platform's
    memory, and no faster.

    Parameters
    ----------
    technology : Technology
        The technology, with its clock (MHz).
    platform : Platform
        The device, with the bandwidth of its memory (GB/s).
    ports : MemoryPorts, optional
        How many ports there may be; None: the technology stays as it is.
    """
    if ports is None or platform.memory is None:  # of a file, whose technology says so itself
        return technology
    channel = platform.memory.bandwidth.limit / platform.memory.channels  # GB/s over MHz
    port = max(floor(channel / technology.giga), 1)
    # no word is as wide as the largest
    memory = replace(technology.memory, port=min(port, LARGEST), channels=ports.channels)
    return replace(technology, memory=memory)


def serialized(group: IOGroup) -> IOGroup:
    """A group whose data the host lays out in DRAM in the order of its module there."""
    return replace(group, modules=tuple(replace(m, serialized=m.dram) for m in group.modules))


def rows_apart(
    access: Access,
    nest: LoopNest,
    dataflow: tuple[str, ...],
    dimensions: tuple[Expression, ...],
) -> Expression:
    """0 where all rows of a buffer's tile of a tensor lie one after the other in memory, which is
    padded to whole tiles; else 1.

    Those do that have all of the last dimension, and are of one place in all dimensions but the
    last two; not where elements are stepped over, or packs divide another dimension.

    Parameters
    ----------
    access : Access
        The access of the tensor.
    nest : LoopNest
        The nest.
    dataflow : tuple of str
        The loops mapped to space.
    dimensions : tuple of Expression
        The extents of the tile (elements).
    """
    *others, last = access
    gaps = any(subscript.step(nest.once) > 1 for subscript in access.subscripts[-2:])
    if gaps or any(nest.simd in each.loops for each in others):
        return ONE
    parts = [quantities.tiles(loop) for loop in last.loops if loop not in nest.untiled]
    parts += [quantities.lanes(loop) for loop in last.loops if loop in dataflow]
    several = multiply(*(parts if others else ()), *dimensions[:-2])
    return minimum(several - 1, ONE)


def split(group: IOGroup, dataflow: tuple[str, ...]) -> IOGroup:
    """A group whose modules next to DRAM may be shared out among memory ports.

    Partial sums that come back would have to come back to their own port, and a DRAM module that
    holds the buffer has no chain below it: those keep one port.
    """
    if group.role is GroupRole.FLOW or len(group.modules) < 2:
        return group
    *inner, below, dram = group.modules
    chained = (x for x in dataflow if quantities.lanes(x).name in below.instances.symbols)
    if (loop := next(chained, None)) is None:
        return group
    ports = replace(group, split=loop).ports
    parts = replace(below, chain=below.chain / ports if below.buffer else below.chain)
    modules = (*inner, parts, replace(dram, instances=ports))
    return replace(group, split=loop, modules=modules)


def port_quantity(group: IOGroup, memory: MemoryPorts) -> Quantity:
    """The memory ports of a group: a power of two."""
    name = quantities.ports(group.name).name
    return Quantity(name, 1, memory.most, QuantityKind.POWER_OF_TWO, Role.PORT)


def port_links(array: SystolicArray) -> list[Link]:
    """The rules of memory ports: several serve as many lanes each, at least two."""
    links = []
    for group in array.split_groups:
        lanes = quantities.lanes(str(group.split))
        links += [
            Link(group.ports, Relation.DIVIDES, lanes),
            Link(2 * group.ports, Relation.AT_MOST, lanes + 1),
        ]
    return links


def crowded(array: SystolicArray, channels: int) -> Expression:
    """1 if tensors have more memory ports together than there are channels, and share them; else
    0."""
    together = add(*(group.ports for group, module in array.modules if module.dram))
    return minimum(maximum(together - channels, ZERO), ONE)


def busiest(array: SystolicArray, data: DataType) -> Expression:
    """Bytes of a run that the first memory ports of all tensors move together."""
    return add(
        *(
            group.off_chip(module) * group.package(data).word_bytes / group.ports
            for group, module in array.modules
            if module.dram
        )
    )
