"""Process networks with times: processes move words through FIFOs in a fixed order (Kahn 1974).

A process runs its steps one after the other. A loop moves one word per turn from each FIFO it
reads, and one into each it writes; a turn waits until every word is there and every FIFO has room,
so the order of words depends on no timing, and event times follow from each other by maximum and
plus alone. Times are clock cycles, whole numbers.

>>> network = Network(
...     (Fifo("words", latency=2, capacity=3),),
...     (
...         Process("source", (Loop(8, writes=("words",)),)),
...         Process("sink", (Loop(8, reads=("words",), interval=3),)),
...     ),
... )
>>> [fifo.name for fifo in network.fifos]
['words']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Integers, Mask

#: Who is at each end of a FIFO.
WHO = {"reads": "reader", "writes": "writer"}

#: Loops in loops, at most.
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Fifo:
    """A first-in, first-out channel from one process to another."""

    name: str
    """Its name, unique in the network."""
    latency: int = 1
    """Cycles from a word's entry until it can be taken."""
    capacity: int = 2
    """Words it holds; room that is made can be used a cycle later."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A pipelined loop: one turn moves one word through every FIFO named."""

    words: int | Sequence[int]
    """Turns; a sequence has one entry for every time the loop is run."""
    reads: tuple[str, ...] = ()
    """FIFOs it takes a word from in each turn."""
    writes: tuple[str, ...] = ()
    """FIFOs it puts a word into in each turn."""
    entry: int = 0
    """Cycles to enter the loop."""
    interval: int | Fraction | Sequence[int] = 1
    """Cycles that a turn takes; a sequence has one entry for every turn the loop ever takes."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Steps that are run again and again."""

    times: int
    """How often."""
    body: tuple[Step, ...]
    """The steps."""


@dataclass(frozen=True, slots=True)
class Meet:
    """A barrier of two processes: both go on so many cycles after the later one has come."""

    barrier: str
    """Its name; exactly two processes use it."""
    cycles: int = 0
    """The cost of the barrier."""


Step: TypeAlias = Loop | Repeat | Meet


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs its steps in order."""

    name: str
    """Its name, unique in the network."""
    steps: tuple[Step, ...]
    """The steps in order."""
    begin: int = 0
    """The cycle in which it begins."""
    module: str = ""
    """The module that it is part of: reports take all processes of a module together."""
    memory: bool = False
    """Whether it stands still while the memory refreshes."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """Memory that is not to be had for a while, again and again."""

    period: int
    """Cycles from one refresh to the next."""
    cycles: int
    """How long each takes; the first begins with cycle 0."""


@dataclass(frozen=True)
class ProcessNetwork:
    """Processes and the FIFOs between them.

    Raises `InputError` if a FIFO does not connect exactly one writer and one reader, or a barrier
    exactly two processes.
    """

    fifos: tuple[Fifo, ...]
    """The channels."""
    processes: tuple[Process, ...]
    """The processes."""
    refresh: Refresh | None = None
    """When processes that access memory stand still."""
    readers: dict[str, str] = field(init=False, repr=False, compare=False)
    """The process that takes from each FIFO, and the one that puts into it."""
    writers: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for what, names in (
            ("FIFO", [f.name for f in self.fifos]),
            ("process", [p.name for p in self.processes]),
        ):
            _unique(what, names)
        for fifo in self.fifos:
            _at_least(f"latency of FIFO '{fifo.name}'", fifo.latency, 0)
            _at_least(f"capacity of FIFO '{fifo.name}'", fifo.capacity, 1)
        if self.refresh is not None:
            _at_least("refresh", self.refresh.cycles, 0)
            _at_least("refresh period", self.refresh.period, self.refresh.cycles + 1)
        ends: dict[str, dict[str, str]] = {"reads": {}, "writes": {}}
        meeting: dict[str, set[str]] = {}
        costs: dict[str, int] = {}
        for process in self.processes:
            for step in steps_of(process.steps):
                if isinstance(step, Meet):
                    _at_least(f"barrier '{step.barrier}'", step.cycles, 0)
                    meeting.setdefault(step.barrier, set()).add(process.name)
                    if (cost := costs.setdefault(step.barrier, step.cycles)) != step.cycles:
                        raise InputError(
                            f"barrier '{step.barrier}' costs {cost} and "
                            f"{step.cycles} cycles; allowed: one cost"
                        )
                elif isinstance(step, Loop):
                    _check_loop(step, process.name)
                    for end, owner in ends.items():
                        for name in getattr(step, end):
                            if owner.setdefault(name, process.name) != process.name:
                                raise InputError(
                                    f"FIFO '{name}': two processes are its {WHO[end]}; allowed: one"
                                )
        known = {fifo.name for fifo in self.fifos}
        for end, owner in ends.items():
            if strange := min(owner.keys() - known, default=None):
                raise InputError(
                    f"process '{owner[strange]}' {end} '{strange}'; allowed: a FIFO of the network"
                )
            if lonely := min(known - owner.keys(), default=None):
                raise InputError(
                    f"FIFO '{lonely}' has no {WHO[end]}; allowed: a reader and a writer"
                )
        for barrier, users in meeting.items():
            if len(users) != 2:
                raise InputError(f"barrier '{barrier}' has {len(users)} processes; allowed: two")
        object.__setattr__(self, "readers", ends["reads"])
        object.__setattr__(self, "writers", ends["writes"])


#: Runs a network: the cycle in which each process ends or stands, and whether it ends.
ProcessEngine: TypeAlias = Callable[[ProcessNetwork], tuple[Integers, Mask]]


def steps_of(steps: Sequence[Step], depth: int = 0) -> Iterator[Step]:
    """All steps, with those of repetitions; `InputError` if they are nested too deeply."""
    if depth > DEEPEST:
        raise InputError(f"steps are nested {depth} deep; allowed: at most {DEEPEST}")
    for step in steps:
        yield step
        if isinstance(step, Repeat):
            _at_least("repetitions", step.times, 0)
            yield from steps_of(step.body, depth + 1)


def _check_loop(loop: Loop, where: str) -> None:
    _at_least(f"entry of a loop of '{where}'", loop.entry, 0)
    for words in (loop.words,) if isinstance(loop.words, int) else loop.words:
        _at_least(f"words of a loop of '{where}'", words, 0)
    for interval in loop.interval if isinstance(loop.interval, Sequence) else (loop.interval,):
        if interval < 1:
            raise InputError(f"interval of a loop of '{where}' is {interval}; allowed: at least 1")


def _at_least(what: str, value: int, least: int) -> None:
    if value < least:
        raise InputError(f"{what} is {value}; allowed: at least {least}")


def _unique(what: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"two {what}s are named '{name}'; allowed: each name once")
        seen.add(name)
