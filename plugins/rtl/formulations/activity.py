"""The time of a run: per process, module, FIFO and neighbour that was waited for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from operator import attrgetter
from typing import TYPE_CHECKING

from ithaca.formulations.processes import Meet, ProcessNetwork, steps_of

if TYPE_CHECKING:
    from ithaca.formulations.algebra.array_types import Integers
    from ithaca.plugins.rtl.formulations.engine import RunCounts


@dataclass(frozen=True, slots=True)
class FifoWait:
    """Cycles that a process waited at a FIFO."""

    fifo: str
    """The FIFO."""
    neighbour: str
    """The process at its other end."""
    starved: bool
    """Whether for a word; else for room."""
    cycles: int
    """How long."""


@dataclass(frozen=True, slots=True)
class Activity:
    """The time of a process by use, in cycles, and its turns."""

    process: str
    """Its name."""
    module: str
    """The module it is part of."""
    finished: bool
    """Whether it ended."""
    end: int
    """When it ended, or since when it hangs."""
    turns: int
    """Turns of its loops."""
    working: int
    """Taking its turns."""
    entering: int
    """Entering loops."""
    meeting: int
    """At barriers: waiting for the other process of a buffer, and swapping."""
    refreshing: int
    """Standing still while the memory refreshes."""
    waits: tuple[FifoWait, ...]
    """Waiting at FIFOs, the longest first; only where it did."""

    @property
    def starved(self) -> int:
        """Cycles without a word to take."""
        return sum(wait.cycles for wait in self.waits if wait.starved)

    @property
    def held_up(self) -> int:
        """Cycles without room for a word (back-pressure)."""
        return sum(wait.cycles for wait in self.waits if not wait.starved)

    @property
    def busy(self) -> int:
        """Cycles that it takes itself, not waiting for others."""
        return self.working + self.entering + self.refreshing


@dataclass(frozen=True, slots=True)
class ModuleShare:
    """Shares of the run's cycles of a module, on average over its processes."""

    module: str
    """Its name."""
    processes: int
    """How many."""
    working: float
    """Taking turns."""
    entering: float
    """Entering loops."""
    starved: float
    """Waiting for words."""
    held_up: float
    """Waiting for room."""
    meeting: float
    """At barriers."""
    idle: float
    """Before it began, after it ended, or while memory refreshed."""
    chain: tuple[FifoWait, ...]
    """The longest wait of any of its processes, then that of the process it waits for, and so on
    (at a barrier: of the other one there): to a process that is busy longer than it waits, or that
    was met before."""
    root: str | None
    """The process at the end of that chain."""

    @property
    def cause(self) -> FifoWait | None:
        """The longest wait of any of its processes."""
        return self.chain[0] if self.chain else None


@dataclass(frozen=True)
class SimulatedRun:
    """A run of a network."""

    network: ProcessNetwork
    """The network that ran."""
    cycles: int
    """Until the last process ended."""
    activities: tuple[Activity, ...]
    """The activity of each process."""
    hanging: tuple[FifoWait, ...]
    """The FIFOs at which processes wait for ever."""
    skipped: int
    """Cycles that repeat others and were added at once."""
    stretch: int = 0
    """The cycles of a stretch of time in which work was tallied; 0: it was not."""
    tally: Integers | None = field(default=None, compare=False)
    """Cycles of each process at work in every stretch."""

    @property
    def finished(self) -> bool:
        """Whether every process ended."""
        return all(activity.finished for activity in self.activities)

    @property
    def modules(self) -> tuple[ModuleShare, ...]:
        """The processes, taken together by module in the order of the network."""
        together: dict[str, list[Activity]] = {}
        for activity in self.activities:
            together.setdefault(activity.module or activity.process, []).append(activity)
        return tuple(self._share(name, activities) for name, activities in together.items())

    @cached_property
    def by_name(self) -> Mapping[str, Activity]:
        """The activity of each process."""
        return {activity.process: activity for activity in self.activities}

    @cached_property
    def _partners(self) -> Mapping[str, str]:
        """The other process at the barriers of each that has some."""
        met: dict[str, list[str]] = {}
        for process in self.network.processes:
            for name in {
                step.barrier for step in steps_of(process.steps) if isinstance(step, Meet)
            }:
                met.setdefault(name, []).append(process.name)
        return {one: other for pair in met.values() for one, other in (pair, pair[::-1])}

    def _chain(self, wait: FifoWait) -> tuple[tuple[FifoWait, ...], str]:
        chain, root, seen = [wait], wait.neighbour, set[str]()
        while root not in seen:
            seen.add(root)
            activity = self.by_name[root]
            longest = activity.waits[0].cycles if activity.waits else 0
            if (
                activity.busy >= activity.starved + activity.held_up + activity.meeting
                or not longest + activity.meeting
            ):
                break
            if activity.meeting > longest:
                root = self._partners[root]
            else:
                chain.append(activity.waits[0])
                root = activity.waits[0].neighbour
        return tuple(chain), root

    def _share(self, name: str, activities: list[Activity]) -> ModuleShare:
        def mean(of: Callable[[Activity], int]) -> float:
            return (
                fsum(of(activity) for activity in activities)
                / len(activities)
                / max(self.cycles, 1)
            )

        names = ("working", "entering", "starved", "held_up", "meeting")
        parts = {part: mean(attrgetter(part)) for part in names}
        waits = [activity.waits[0] for activity in activities if activity.waits]
        cause = max(waits, key=lambda wait: wait.cycles, default=None)
        chain, root = ((), None) if cause is None else self._chain(cause)
        return ModuleShare(
            name,
            len(activities),
            **parts,
            idle=max(1 - fsum(parts.values()), 0.0),
            chain=chain,
            root=root,
        )


def simulate_network(
    network: ProcessNetwork,
    checkpoint: Callable[[], None] | None = None,
    *,
    stretch: int = 0,
    cycles: int = 0,
) -> SimulatedRun:
    """Run a network to the end, or to where it hangs.

    Parameters
    ----------
    network : Network
        What to run.
    checkpoint : callable, optional
        Called every now and then; what it raises ends the run.
    stretch, cycles : int, optional
        Tally the work in stretches of so many cycles of a run that takes so many; 0: do not.
    """
    from ithaca.plugins.rtl.formulations.engine import run_network

    counts = run_network(network, checkpoint=checkpoint, stretch=stretch, cycles=cycles)
    assert counts is not None  # nothing is kept that could be too much
    run = run_of(network, counts)
    return replace(run, stretch=stretch, tally=counts.tally) if stretch else run


def run_of(network: ProcessNetwork, counts: RunCounts) -> SimulatedRun:
    """The counts of a run in words of the network."""
    waited: dict[int, dict[tuple[int, bool], int]] = {}
    for (place, fifo, reads), cycles in zip(counts.ports, counts.waits.tolist(), strict=False):
        own = waited.setdefault(place, {})
        own[fifo, reads] = own.get((fifo, reads), 0) + cycles

    def wait(fifo: int, reads: bool, cycles: int) -> FifoWait:
        name = network.fifos[fifo].name
        return FifoWait(name, (network.writers if reads else network.readers)[name], reads, cycles)

    activities = []
    ends, finishes = counts.ends.tolist(), counts.finished.tolist()
    for number, (process, end, finished, row) in enumerate(
        zip(network.processes, ends, finishes, counts.processes.tolist(), strict=True)
    ):
        waits = [wait(*port, cycles) for port, cycles in waited.get(number, {}).items() if cycles]
        waits.sort(key=lambda each: -each.cycles)
        turns, working, entering, meeting, refreshing = row
        activities.append(
            Activity(
                process.name,
                process.module,
                finished,
                end,
                turns,
                working,
                entering,
                meeting,
                refreshing,
                tuple(waits),
            )
        )
    hanging = []
    for number, finished in enumerate(finishes):
        if not finished and counts.blocked[number] >= 0:
            _, fifo, reads = counts.ports[counts.blocked[number]]
            hanging.append(wait(fifo, reads, 0))
    return SimulatedRun(
        network, max(ends, default=0), tuple(activities), tuple(hanging), counts.skipped
    )
