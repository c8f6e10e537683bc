"""The machine that an array becomes: what loops, buffers, FIFOs and memory take, in
cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.formulations.data_models import model_of

#: Largest parameter: beyond are mistakes; and the least that each of a machine may be.
LARGEST = 10**6
LEAST: Mapping[str, int] = MappingProxyType(
    {"swap": 0, "entry": 0, "hop": 1, "mac": 1, "fifo_depth": 1}
)


def _check(name: str, value: int, least: int) -> None:
    if not least <= value <= LARGEST:
        raise InputError(f"{name} is {value}; allowed: {least} to {LARGEST:,}")


class Sums(Enum):
    """The time at which a PE adds the sum of its neighbour along a chain of PEs that reduces."""

    FIRST = "first"
    """At the first visit of an output, as the AutoSA compiler builds PEs."""
    LAST = "last"
    """At the last visit, just before the sum is handed on: the same hardware."""


@dataclass(frozen=True, slots=True)
class MemoryTiming:
    """Delays of DRAM modules beyond ideal memory."""

    latency: int = 0
    """Cycles from the request of a tile to its first word."""
    refresh: int = 0
    """Cycles that a refresh takes."""
    refresh_period: int = 0
    """Cycles from one refresh to the next; 0: none."""
    bandwidth: int = 0
    """Bytes per cycle that all DRAM modules share; 0: no limit."""
    port: int = 0
    """Bytes per cycle that a memory port moves, where each is a channel; 0: no limit."""
    channels: int = 0
    """Channels of ports: where tensors have more ports together, the first ports of all of them
    share the first channel, and so on; 0: each port has its own."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), 0)
        if bool(self.refresh) != bool(self.refresh_period) or self.refresh_period < self.refresh:
            raise InputError("refresh needs a longer refresh_period; allowed: both, in cycles")
        if self.channels and not self.port:
            raise InputError("channels needs port; allowed: both, or port alone")


#: Memory that makes nothing wait.
IDEAL = MemoryTiming()


@dataclass(frozen=True, slots=True)
class Machine:
    """Cycles of what the cost model takes for free."""

    swap: int = 1
    """D: to swap the buffers of a pair."""
    entry: int = 0
    """E: to enter a pipelined loop."""
    hop: int = 2
    """H: from writing a word to reading it in the next module."""
    mac: int = 8
    """M: depth of the MAC pipeline."""
    fifo_depth: int = 2
    """Words that a FIFO holds beside those on their way."""
    sums: Sums = Sums.FIRST
    """The convention for sums along a chain."""
    fitted_fifos: bool = False
    """Whether words that PEs hand on beside their sums have FIFOs as long as those of the sums."""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            _check(name, getattr(self, name), least)

    @property
    def sum_latency(self) -> int:
        """Cycles from a PE's operands to its sum in the next module."""
        return self.hop - 1 + self.mac

    def handing_depth(self, *, beside_sums: bool) -> int:
        """Words that a FIFO from PE to PE holds beside those on their way, of a tensor that is
        read: as many more as sums are longer on theirs, where they go beside sums and that is
        wanted."""
        return self.fifo_depth + (self.mac - 1 if beside_sums and self.fitted_fifos else 0)


#: The parameters by their letters in `docs/simulating.md`.
LETTERS: Mapping[str, str] = MappingProxyType({"d": "swap", "e": "entry", "h": "hop", "m": "mac"})

#: What is assumed unless it is said.
RTL = Machine()

#: Modules as an RTL designer writes them, and as high-level synthesis schedules them.
REGIMES: Mapping[str, Machine] = MappingProxyType(
    {"rtl": RTL, "hls": Machine(swap=2, entry=2, hop=2, mac=10)}
)

#: Cycles, or bytes per cycle.
Few = Annotated[int, Field(ge=0, le=LARGEST)]


class MachineDocument(
    model_of(  # type: ignore[misc]
        Machine,
        **{
            name: (Annotated[int, Field(ge=least, le=LARGEST)], getattr(RTL, name))
            for name, least in LEAST.items()
        },
    )
):
    """Cycles of loops, buffers and FIFOs that are not the default's."""


class WaitsDocument(
    model_of(MemoryTiming, **{field.name: (Few, 0) for field in fields(MemoryTiming)})  # type: ignore[misc]
):
    """Timing of DRAM modules: cycles of waiting, and bytes per cycle of all ports together and of
    each (0: no limit)."""
