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
# columns of a FIFO's state: words put in and taken out, and their places in its ring; beside it, so
# that a processor reads both at once, where its ring begins, its capacity, and its latency
IN, OUT, PUT, TAKE, BEGIN, ROOM, DELAY = range(7)
# what is known of looks for a period: rounds that the leading process had left at the last; how
# many there were since a state was kept for long, and after how many the next is; where the next of
# the recent ones is kept; of how many periods the one being run stands, their length, and the
# rounds that the leading process has left when it ends
SEEN, LOOKS, ENOUGH, NEXT, ECHO, PERIOD, UNTIL = range(7)

#: Recent states that are kept, at most, and numbers of all that are.
RECENT, MOST_NUMBERS = 40, 4_000_000

#: Before any run, so that all room was made long ago.
NEVER = -(1 << 60)


class RunState:
    """The state of a run, which every turn changes."""

    def __init__(self, program: ProcessProgram, kept: int) -> None:
        code, ports, latency, capacity, offsets, *_ = program.arrays
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
        fifo = np.zeros((capacity.size, 8), np.int64)
        fifo[:, BEGIN], fifo[:, ROOM], fifo[:, DELAY] = offsets[:-1], capacity, latency
        rings = np.zeros((2, max(int(offsets[-1]), 1)), np.int64)
        rings[1] = NEVER
        met = np.full(program.barriers + 1, -1, np.int64)
        places = np.zeros((len(code), 2), np.int64)
        size = count * (7 + DEEPEST) + capacity.size + int(offsets[-1]) + met.size + 1
        # states that a period is found by, the last one being that of now: when they were, rounds
        # left, counts
        each = size + self.counts.size + self.waits.size
        states = max(min(RECENT, MOST_NUMBERS // each), 2)
        looks = np.zeros(7, np.int64)
        looks[ECHO], looks[NEXT] = 1, 1
        then = (
            np.zeros((states + 1, size), np.int64),
            looks,
            np.full(states, -1, np.int64),
            np.zeros((states, count), np.int64),
            np.zeros((states, *self.counts.shape), np.int64),
            np.zeros((states, self.waits.size), np.int64),
        )
        self.arrays = (
            self.process, loops, fifo, rings, met, places, self.counts, self.waits, self.log,
            self.totals, *then,
        )  # fmt: skip


@njit(cache=True)
def skip_periods(  # type: ignore[no-untyped-def]
    latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo, rings,
    met, counts, waits, totals, then, looks, clocks, rounds, counts_then, waits_then, lead, echoes,
):  # fmt: skip
    """Add whole periods if the state was met before.

    Of the states before, the recent ones are compared, and one that is kept ever longer. Arrays are
    of 64-bit integers, those of `ProcessProgram` and of `RunState`.

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
        States that were kept, relative to their clocks; room for that of now.
    looks : ndarray
        What is known of looks.
    clocks, rounds, counts_then, waits_then : ndarray
        Of every state its clock (−1: there is none), rounds left of outermost loops, and the
        counts.
    lead : int
        The process whose clock is that of the state.
    echoes : bool
        Whether a period is run once more before it is added, so that what is tallied counts for all
        of them.
    """
    now = process[lead, CLOCK]
    if looks[ECHO] > 1:
        if loops[lead, 0, 0] > looks[UNTIL]:
            return
        _add_periods(
            looks[ECHO] - 1, 0, scale, process, loops, rings, counts, waits, totals, clocks, rounds,
            counts_then, waits_then, now,
        )  # fmt: skip
        looks[ECHO] = 1
        return
    state = then[-1]
    _describe(
        state, latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
        rings, met, now,
    )  # fmt: skip
    known = -1
    for slot in range(clocks.size):
        if clocks[slot] >= 0 and (known < 0 or clocks[slot] > clocks[known]):
            same = True
            for place in range(state.size):
                if then[slot, place] != state[place]:
                    same = False
                    break
            if same:
                known = slot
    looks[LOOKS] += 1
    if known >= 0:
        more = _periods_left(known, process, loops, rounds)
        looks[PERIOD] = now - clocks[known]
        looks[UNTIL] = 2 * loops[lead, 0, 0] - rounds[known, lead]
        if echoes and more > 1:
            looks[ECHO] = more
            clocks[:] = -1
            _keep(
                0, now, then, clocks, process, loops, rounds, counts, counts_then, waits, waits_then
            )
            return
        if more > 0 and not echoes:
            _add_periods(
                more, known, scale, process, loops, rings, counts, waits, totals, clocks, rounds,
                counts_then, waits_then, now,
            )  # fmt: skip
            return
    if looks[LOOKS] >= looks[ENOUGH]:
        looks[LOOKS] = 0
        looks[ENOUGH] = 2 * looks[ENOUGH] if looks[ENOUGH] else 2
        slot = 0
    else:
        slot = looks[NEXT]
        looks[NEXT] = slot + 1 if slot + 1 < clocks.size else 1
    _keep(slot, now, then, clocks, process, loops, rounds, counts, counts_then, waits, waits_then)


@njit(cache=True)
def _describe(  # type: ignore[no-untyped-def]
    state, latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
    rings, met, now,
):  # fmt: skip
    """Write down the whole state, relative to a clock."""
    place = 0
    for p in range(process.shape[0]):
        for column in range(7):
            value = process[p, column]
            if column == CLOCK:
                value = 0 if process[p, DONE] else value - now
            elif column == PARTS:
                value = max(value, (process[p, CLOCK] - 1) * scale) - now * scale
            state[place] = value
            place += 1
        for depth in range(1, loops.shape[1]):
            state[place] = loops[p, depth, 0] if depth < process[p, DEPTH] else 0
            place += 1
    for f in range(fifo.shape[0]):
        inside = fifo[f, IN] - fifo[f, OUT]
        state[place] = inside
        place += 1
        for j in range(capacity[f]):
            slot = offsets[f] + (fifo[f, TAKE] + j) % capacity[f]
            # what is over when the process comes to it is as good as any other time before
            if j < inside:
                value = max(rings[0, slot] + latency[f], process[readers[f], CLOCK])
            else:
                value = max(rings[1, slot] + 1, process[writers[f], CLOCK])
            state[place] = value - now
            place += 1
    for b in range(met.size):
        state[place] = met[b]
        place += 1
    state[place] = now % refresh[0]


@njit(cache=True)
def _keep(  # type: ignore[no-untyped-def]
    slot, now, then, clocks, process, loops, rounds, counts, counts_then, waits, waits_then
):
    """Keep the state of now."""
    then[slot] = then[-1]
    clocks[slot] = now
    for p in range(process.shape[0]):
        rounds[slot, p] = loops[p, 0, 0] if process[p, DEPTH] > 0 else 0
    counts_then[slot] = counts
    waits_then[slot] = waits


@njit(cache=True)
def _periods_left(slot, process, loops, rounds):  # type: ignore[no-untyped-def]
    """The number of periods that leave every process a round of its outermost steps."""
    times = np.int64(1 << 62)
    for p in range(process.shape[0]):
        if process[p, DEPTH] > 0 and rounds[slot, p] > loops[p, 0, 0]:
            times = min(times, (loops[p, 0, 0] - 1) // (rounds[slot, p] - loops[p, 0, 0]))
    return np.int64(0) if times == np.int64(1 << 62) else times


@njit(cache=True)
def _add_periods(  # type: ignore[no-untyped-def]
    times, slot, scale, process, loops, rings, counts, waits, totals, clocks, rounds, counts_then,
    waits_then, now,
):  # fmt: skip
    """Add the period since a state that was kept so many times; states are forgotten."""
    period = now - clocks[slot]
    for p in range(process.shape[0]):
        if not process[p, DONE]:
            process[p, CLOCK] += times * period
            process[p, PARTS] += times * period * scale
            process[p, BEGAN] += times * period
        if process[p, DEPTH] > 0:
            loops[p, 0, 0] -= times * (rounds[slot, p] - loops[p, 0, 0])
    rings += times * period
    counts += times * (counts - counts_then[slot])
    waits += times * (waits - waits_then[slot])
    totals[1] += times * period
    clocks[:] = -1
