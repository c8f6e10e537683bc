"""The state of a run, and what is done at once where it comes back.

Where the whole state relative to the clock is one that was there before, what lay between happens
again and again: whole periods are added at once, exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ithaca.formulations.processes import DEEPEST
from ithaca.plugins.rtl.formulations.program import ProcessProgram

# columns of a process' state: instruction, clock, turns left, depth, at a barrier, done, the clock
# in parts of a cycle, the port that blocks it, when its loop began
AT, CLOCK, LEFT, DEPTH, MET, DONE, PARTS, BLOCKED, BEGAN = range(9)
# columns of a FIFO's state: words put in and taken out, and their places in its ring
IN, OUT, PUT, TAKE = range(4)


class RunState:
    """The state of a run, which every turn changes."""

    def __init__(self, program: ProcessProgram, kept: int) -> None:
        code, ports, _, capacity, offsets, *_ = program.arrays
        count = program.starts.size
        self.process = np.zeros((count, 9), np.int64)
        self.process[:, AT] = program.starts
        self.process[:, CLOCK] = program.begins
        self.process[:, LEFT] = self.process[:, BLOCKED] = -1
        self.counts = np.zeros((count, 5), np.int64)
        self.waits = np.zeros(max(ports.size, 1), np.int64)
        self.log = np.zeros((kept, 4), np.int64)
        self.totals = np.zeros(2, np.int64)  # events kept, cycles skipped
        loops = np.zeros((count, DEEPEST + 1, 2), np.int64)  # rounds left, and where each begins
        fifo = np.zeros((capacity.size, 4), np.int64)
        rings = np.zeros((2, max(int(offsets[-1]), 1)), np.int64)
        met = np.full(program.barriers + 1, -1, np.int64)
        places = np.zeros((len(code), 2), np.int64)
        size = count * (7 + DEEPEST) + capacity.size + int(offsets[-1]) + met.size + 1
        # what a period is found by: the state then, when, rounds left, counts; how many looks, and
        # the next one to keep
        then = (np.full(size, -1, np.int64), np.zeros(3, np.int64), np.zeros(count, np.int64))
        self.arrays = (
            self.process, loops, fifo, rings, met, places, self.counts, self.waits, self.log,
            self.totals, *then, self.counts.copy(), self.waits.copy(),
        )  # fmt: skip


@njit(cache=True)
def skip_periods(  # type: ignore[no-untyped-def]
    latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo, rings,
    met, counts, waits, totals, then, looks, rounds, counts_then, waits_then, lead,
):  # fmt: skip
    """Add whole periods if the state was met before; states are kept ever more rarely.

    Arrays are of 64-bit integers, those of `ProcessProgram` and of `RunState`.

    Parameters
    ----------
    latency, capacity, offsets, readers, writers : ndarray
        Of each FIFO: cycles through it, words that it holds, where its ring begins, and the
        processes at its ends.
    refresh : ndarray
        The cycles from one refresh of the memory to the next, and those that one takes.
    scale : int
        Parts of a cycle.
    process, loops, fifo, rings, met : ndarray
        The state: columns of processes; rounds left of their loops, by depth; columns of FIFOs;
        when words of rings were put in and taken out; the process at each barrier, or −1. Clocks
        and rounds are moved on by the periods that are added.
    counts, waits, totals : ndarray
        What is counted of processes, of ports, and in all: moved on, too.
    then : ndarray
        The last state that was kept, relative to its clock.
    looks : ndarray
        The clock then, looks since, and at how many the next state is kept.
    rounds, counts_then, waits_then : ndarray
        Rounds left of outermost loops, and the counts, then.
    lead : int
        The process whose clock is that of the state.
    """
    now = process[lead, CLOCK]
    same = True
    place = 0
    looks[1] += 1
    keep = looks[1] >= looks[2]
    # two passes: compare, and keep where nothing is found
    for kept in range(2):
        place = 0
        for p in range(process.shape[0]):
            for column in range(7):
                value = process[p, column]
                if column == CLOCK:
                    value = 0 if process[p, DONE] else value - now
                elif column == PARTS:
                    value = max(value, (process[p, CLOCK] - 1) * scale) - now * scale
                if kept:
                    then[place] = value
                elif then[place] != value:
                    same = False
                place += 1
            for depth in range(1, loops.shape[1]):
                value = loops[p, depth, 0] if depth < process[p, DEPTH] else 0
                if kept:
                    then[place] = value
                elif then[place] != value:
                    same = False
                place += 1
            if not same and not keep:
                return
        for f in range(fifo.shape[0]):
            inside = fifo[f, IN] - fifo[f, OUT]
            if kept:
                then[place] = inside
            elif then[place] != inside:
                same = False
            place += 1
            for j in range(capacity[f]):
                slot = offsets[f] + (fifo[f, TAKE] + j) % capacity[f]
                # what is over when the process comes to it is as good as any other time before
                if j < inside:
                    value = max(rings[0, slot] + latency[f], process[readers[f], CLOCK]) - now
                elif fifo[f, IN] < capacity[f]:
                    value = process[writers[f], CLOCK] - now
                else:
                    value = max(rings[1, slot] + 1, process[writers[f], CLOCK]) - now
                if kept:
                    then[place] = value
                elif then[place] != value:
                    same = False
                place += 1
        for b in range(met.size):
            if kept:
                then[place] = met[b]
            elif then[place] != met[b]:
                same = False
            place += 1
        if kept:
            then[place] = now % refresh[0]
        elif then[place] != now % refresh[0]:
            same = False
        if not kept:
            if looks[2] and same:
                _add_periods(
                    scale,
                    process,
                    loops,
                    rings,
                    counts,
                    waits,
                    totals,
                    looks,
                    rounds,
                    counts_then,
                    waits_then,
                    now,
                )
                now = process[lead, CLOCK]
                keep = True
            if not keep:
                return
    looks[0] = process[lead, CLOCK]
    looks[1] = 0
    looks[2] = 2 * looks[2] if looks[2] else 2
    for p in range(process.shape[0]):
        rounds[p] = loops[p, 0, 0] if process[p, DEPTH] > 0 else 0
    counts_then[:] = counts
    waits_then[:] = waits


@njit(cache=True)
def _add_periods(  # type: ignore[no-untyped-def]
    scale, process, loops, rings, counts, waits, totals, looks, rounds, counts_then, waits_then, now
):
    """Add as many periods as leave every process a round of its outermost steps."""
    period = now - looks[0]
    times = np.int64(1 << 62)
    for p in range(process.shape[0]):
        if process[p, DEPTH] > 0 and rounds[p] > loops[p, 0, 0]:
            times = min(times, (loops[p, 0, 0] - 1) // (rounds[p] - loops[p, 0, 0]))
    if times < 1 or times == np.int64(1 << 62):
        return
    for p in range(process.shape[0]):
        if not process[p, DONE]:
            process[p, CLOCK] += times * period
            process[p, PARTS] += times * period * scale
            process[p, BEGAN] += times * period
        if process[p, DEPTH] > 0:
            loops[p, 0, 0] -= times * (rounds[p] - loops[p, 0, 0])
    rings += times * period
    counts += times * (counts - counts_then)
    waits += times * (waits - waits_then)
    totals[1] += times * period
