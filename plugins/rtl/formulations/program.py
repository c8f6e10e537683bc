"""Networks as programs: what processes do, as arrays of numbers that compiled code runs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.processes import (
    Loop,
    Meet,
    ProcessNetwork,
    Repeat,
    Step,
    steps_of,
)

# what instructions are, and their columns
LOOP, REPEAT, END, MEET, STOP = range(5)
OP, COUNT, ENTRY, PORTS, READS, WRITES, WORDS, INTERVALS, INTERVAL = range(9)

#: Looks for a period, at least, in the least rounds that it may take.
OFTEN = 4


class ProcessProgram:
    """A network as arrays: the instructions of all processes in a row, FIFOs by number."""

    def __init__(self, network: ProcessNetwork) -> None:
        self._fifo = {fifo.name: number for number, fifo in enumerate(network.fifos)}
        self._barrier: dict[str, int] = {}
        self._scale = _common_scale(network)
        self._code: list[list[int]] = []
        self._ports: list[int] = []
        self._sequences: list[int] = []
        self.owners: list[tuple[int, int, bool]] = []
        self.labels: list[str] = []
        starts = []
        for number, process in enumerate(network.processes):
            starts.append(len(self._code))
            self._add(process.steps, number)
            self._emit(STOP)
        numbers = {process.name: number for number, process in enumerate(network.processes)}
        refresh = network.refresh
        self.periodic = not self._sequences
        # the process that begins its outermost steps most often tells when to look for a period
        outermost = [
            max((s.times for s in p.steps if isinstance(s, Repeat)), default=0)
            for p in network.processes
        ]
        self.arrays = (
            np.array(self._code, np.int64),
            np.array(self._ports, np.int64),
            np.array([fifo.latency for fifo in network.fifos], np.int64),
            np.array([fifo.capacity for fifo in network.fifos], np.int64),
            np.cumsum([0, *(fifo.capacity for fifo in network.fifos)], dtype=np.int64),
            np.array([numbers[network.readers[fifo.name]] for fifo in network.fifos], np.int64),
            np.array([numbers[network.writers[fifo.name]] for fifo in network.fifos], np.int64),
            np.array([process.memory for process in network.processes], np.int64),
            np.array(self._sequences or [0], np.int64),
            np.array([1, 0] if refresh is None else [refresh.period, refresh.cycles], np.int64),
            int(np.argmax(outermost)) if outermost else 0,
            self._scale,
        )
        self.every = _rounds_between_looks(outermost)
        self.begins = np.array([process.begin for process in network.processes], np.int64)
        self.starts = np.array(starts, np.int64)
        self.barriers = len(self._barrier)

    def _emit(self, *columns: int, label: str = "") -> None:
        self.labels.append(label)
        self._code.append([*columns, *[0] * (9 - len(columns))])

    def _add(self, steps: Sequence[Step], process: int) -> None:
        poll()
        for step in steps:
            if isinstance(step, Repeat):
                self._emit(REPEAT, step.times)
                self._add(step.body, process)
                self._emit(END)
            elif isinstance(step, Meet):
                self._emit(
                    MEET, self._barrier.setdefault(step.barrier, len(self._barrier)), step.cycles
                )
            else:
                ports = [
                    *((name, True) for name in step.reads),
                    *((name, False) for name in step.writes),
                ]
                first = len(self._ports)
                for name, reads in ports:
                    self._ports.append(self._fifo[name])
                    self.owners.append((process, self._fifo[name], reads))
                count = step.words if isinstance(step.words, int) else 0
                rate = step.interval if isinstance(step.interval, int | Fraction) else Fraction(1)
                words, intervals = self._sequence(step.words), self._sequence(step.interval)
                self._emit(
                    LOOP, count, step.entry, first, len(step.reads), len(step.writes),
                    words, intervals,
                    int(rate * self._scale), label=_label(step),
                )  # fmt: skip

    def _sequence(self, values: int | Fraction | Sequence[int]) -> int:
        """The index at which a sequence begins; −1 for a number."""
        if not isinstance(values, Sequence):
            return -1
        self._sequences += values
        return len(self._sequences) - len(values)


def _rounds_between_looks(outermost: Sequence[int]) -> int:
    """Rounds of the leading process from one look for a period to the next, of the rounds of each.

    Periods are whole rounds of every process, and looks take time: there are a few of them in the
    least number of rounds that a period may have.
    """
    most, common = max(outermost, default=0), gcd(*(times for times in outermost if times > 1))
    if common <= 1:
        return 1
    period = most // common
    return period // next((n for n in range(OFTEN, period + 1) if period % n == 0), period)


def _label(loop: Loop) -> str:
    words = f"{loop.words} words" if isinstance(loop.words, int) else "words"
    does = (
        "passes"
        if loop.reads and loop.writes
        else "takes"
        if loop.reads
        else "sends"
        if loop.writes
        else "works on"
    )
    return f"{does} {words}"


def _common_scale(network: ProcessNetwork) -> int:
    """Parts of a cycle in which all intervals are whole."""
    loops = (
        step
        for process in network.processes
        for step in steps_of(process.steps)
        if isinstance(step, Loop)
    )
    return lcm(
        *(loop.interval.denominator for loop in loops if isinstance(loop.interval, Fraction))
    )
