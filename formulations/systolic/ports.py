"""Memory ports: tensors spread over several channels of the memory beside a device.

The modules next to DRAM are a chain along a space loop. As AutoSA does for memory of many channels,
the chain is cut into as many as there are ports, each with a DRAM module of its own: a port serves
its share of the lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.files.words import parse_integer
from ithaca.formulations.algebra.expression import Constant, add
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


@dataclass(frozen=True, slots=True)
class MemoryPorts:
    """The memory ports that tensors may be spread over."""

    most: int
    """Most ports of a tensor."""
    channels: int
    """Channels of the memory: at least as many as ports of all tensors."""


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
    """A technology whose memory ports, where there may be several, are no faster than a channel of
    the platform's memory.

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
    port = max(floor(channel * 1000 / technology.clock_mhz), 1)
    # no word is as wide as the largest
    return replace(technology, memory=replace(technology.memory, port=min(port, LARGEST)))


def serialized(group: IOGroup) -> IOGroup:
    """A group whose data the host lays out in DRAM in the order of its module there."""
    return replace(group, modules=tuple(replace(m, serialized=m.dram) for m in group.modules))


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


def port_links(array: SystolicArray, memory: MemoryPorts) -> list[Link]:
    """The rules of memory ports: several serve as many lanes each, at least two, and all have
    channels of their own."""
    links = []
    for group in array.split_groups:
        lanes = quantities.lanes(str(group.split))
        links += [
            Link(group.ports, Relation.DIVIDES, lanes),
            Link(2 * group.ports, Relation.AT_MOST, lanes + 1),
        ]
    modules = add(*(group.ports for group, module in array.modules if module.dram))
    return [*links, Link(modules, Relation.AT_MOST, Constant(Fraction(memory.channels)))]
