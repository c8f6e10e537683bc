"""Words that carry data: a network run for what it computes, not for when.

The order of words depends on no timing (Kahn 1974), so FIFOs are taken to have room for all, and a
loop moves the words of all its turns at once. What a process makes of them is its actor's affair.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.files.errors import InputError
from ithaca.formulations.processes import (
    Loop,
    Meet,
    ProcessNetwork,
    Repeat,
    Step,
    steps_of,
)

#: Words in a row, one per turn; each is an array of elements.
Words = NDArray[Any]


class Actor:
    """The use that processes make of words; here they are passed on."""

    def turn(self, loop: Loop, taken: Sequence[Words]) -> Sequence[Words]:
        """All turns of a loop: words for each FIFO it writes, of those from each it reads."""
        return taken

    def meet(self) -> None:
        """Pass the barrier, at which both processes are."""


def barrier_of(steps: Sequence[Step]) -> str | None:
    """The barrier that a process uses first; None if it meets no other."""
    return next((step.barrier for step in steps_of(steps) if isinstance(step, Meet)), None)


def turns_of(steps: Sequence[Step]) -> int:
    """Turns of all loops of a process whose loops have a fixed number of them."""
    counts = (
        s.times * turns_of(s.body) if isinstance(s, Repeat) else s.words
        for s in steps
        if not isinstance(s, Meet)
    )
    return sum(count for count in counts if isinstance(count, int))


def carry(network: ProcessNetwork, actors: Mapping[str, Actor]) -> None:
    """Run a network to the end with the actor of each process.

    Raises `InputError` if processes wait for words for ever, are given too many, or give other
    numbers of words than their loops say.
    """
    carrier = _Carrier(network)
    works = {
        process.name: carrier.work(process.steps, actors[process.name])
        for process in network.processes
    }
    while works:
        before = carrier.done
        works = {name: work for name, work in works.items() if next(work, None) is not None}
        if works and carrier.done == before:
            raise InputError(f"process '{min(works)}' waits for ever; allowed: networks that end")
    if left := next((name for name, words in carrier.fifos.items() if words), None):
        raise InputError(
            f"FIFO '{left}' is not empty at the end; allowed: networks that take every word"
        )


class _Carrier:
    """A run in the making."""

    def __init__(self, network: ProcessNetwork) -> None:
        self.fifos: dict[str, deque[NDArray[Any]]] = {fifo.name: deque() for fifo in network.fifos}
        self.done = 0  #: Steps that were done
        self._waiting: dict[str, list[Actor]] = {}

    def work(self, steps: Sequence[Step], actor: Actor) -> Iterator[bool]:
        """Do the steps of a process; yields whenever it has to wait."""
        for step in steps:
            if isinstance(step, Repeat):
                for _ in range(step.times):
                    yield from self.work(step.body, actor)
            elif isinstance(step, Meet):
                yield from self._meet(step.barrier, actor)
            else:
                yield from self._loop(step, actor)
            self.done += 1

    def _meet(self, barrier: str, actor: Actor) -> Iterator[bool]:
        if barrier in self._waiting:
            actor.meet()
            self._waiting.pop(barrier).clear()
            return
        here = self._waiting[barrier] = [actor]
        while here:
            yield True

    def _loop(self, loop: Loop, actor: Actor) -> Iterator[bool]:
        assert isinstance(loop.words, int)
        while any(len(self.fifos[name]) < loop.words for name in loop.reads):
            yield True
        if not loop.words:
            return
        taken = [
            np.stack([self.fifos[name].popleft() for _ in range(loop.words)]) for name in loop.reads
        ]
        produced = actor.turn(loop, taken)
        for name, words in zip(loop.writes, produced, strict=True):
            if len(words) != loop.words:
                raise InputError(
                    f"{len(words)} words for FIFO '{name}'; allowed: {loop.words}, as its loop says"
                )
            self.fifos[name].extend(words)
