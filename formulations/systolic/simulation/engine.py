"""Run a network: exact times of every event, by numba.

Each process is run as far as its FIFOs let it. A FIFO keeps, for as many words as it holds, when
each entered or when its room was made: all that maximum and plus need. Where the whole state
relative to the clock is one that was there before, what lay between happens again and again: whole
periods are added at once, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from ithaca.formulations.algebra.array_types import Integers, Mask
from ithaca.formulations.systolic.simulation.network import DEEPEST, ProcessNetwork
from ithaca.formulations.systolic.simulation.program import (
    COUNT,
    END,
    ENTRY,
    INTERVAL,
    INTERVALS,
    LOOP,
    MEET,
    OP,
    PORTS,
    READS,
    REPEAT,
    WORDS,
    WRITES,
    ProcessProgram,
)

#: Turns between looks at whether to stop: a fraction of a second.
SLICE = 10_000_000

#: Events kept at most, for traces.
MOST_EVENTS = 4_000_000

# columns of a process' state: instruction, clock, turns left, depth, at a barrier, done, the clock
# in parts of a cycle, the port that blocks it, when its loop began
_AT, _CLOCK, _LEFT, _DEPTH, _MET, _DONE, _PARTS, _BLOCKED, _BEGAN = range(9)
# columns of a process' counts
TURNS, WORKING, ENTERING, MEETING, REFRESHING = range(5)
# columns of a FIFO's state: words put in and taken out, and their places in its ring
_IN, _OUT, _PUT, _TAKE = range(4)
# how a slice of a run ended
_DONE_ALL, _GO_ON, _HANGS, _FULL = range(4)


@dataclass(frozen=True)
class RunCounts:
    """The counts of a run; cycles unless said otherwise."""

    ends: Integers
    """When each process ended, or stands if it hangs."""
    finished: Mask
    """Whether it ended."""
    processes: Integers
    """Turns, and cycles working, entering loops, meeting and waiting for refreshes, of each
    process."""
    waits: Integers
    """Cycles that turns waited for each port."""
    ports: tuple[tuple[int, int, bool], ...]
    """Process, FIFO and whether it reads, of each port."""
    blocked: Integers
    """The port at which each process stands that hangs; −1 at a barrier."""
    skipped: int
    """Cycles that were not run one by one, since they repeat others."""
    phases: Integers
    """Process, instruction, begin and end of every loop that was run, if that was asked for."""
    words: Integers
    """FIFO, whether it left, and the cycle of every word that moved, if that was asked for."""
    labels: tuple[str, ...]
    """What each instruction does, in words."""
    tally: Integers
    """Cycles of each process at work in every stretch of time, if that was asked for."""


def run_network(
    network: ProcessNetwork,
    *,
    phases: bool = False,
    words: bool = False,
    stretch: int = 0,
    cycles: int = 0,
    checkpoint: Callable[[], None] | None = None,
) -> RunCounts | None:
    """Run a network until every process has ended, or none can go on.

    Parameters
    ----------
    network : ProcessNetwork
        The network to run.
    phases, words : bool
        Keep every loop's times, every word's; then no period is skipped.
    stretch, cycles : int
        Tally the work in stretches of so many cycles of a run that takes so many; then no period is
        skipped. 0: no tally.
    checkpoint : callable, optional
        Called every now and then; what it raises ends the run.

    Returns
    -------
    RunCounts, optional
        The counts; None if the run has more events than are kept.
    """
    program = ProcessProgram(network)
    state = _State(program, kept=MOST_EVENTS if phases or words else 0)
    tally = np.zeros((len(network.processes), cycles // stretch + 1 if stretch else 1), np.int64)
    periodic = program.periodic and not (phases or words or stretch)
    while True:
        ended = _run(*program.arrays, *state.arrays, phases, words, tally, stretch, periodic, SLICE)
        if ended == _FULL:
            return None
        if ended != _GO_ON:
            break
        if checkpoint is not None:
            checkpoint()
    events = int(state.totals[0])
    log = state.log[:events]
    return RunCounts(
        ends=state.process[:, _CLOCK],
        finished=state.process[:, _DONE] == 1,
        processes=state.counts,
        waits=state.waits,
        ports=tuple(program.owners),
        blocked=state.process[:, _BLOCKED],
        skipped=int(state.totals[1]),
        phases=log[log[:, 0] >= 0],
        words=log[log[:, 0] < 0][:, 1:],
        labels=tuple(program.labels),
        tally=tally,
    )


class _State:
    """The state of a run, which every turn changes."""

    def __init__(self, program: ProcessProgram, kept: int) -> None:
        code, ports, _, capacity, offsets, *_ = program.arrays
        count = program.starts.size
        self.process = np.zeros((count, 9), np.int64)
        self.process[:, _AT] = program.starts
        self.process[:, _CLOCK] = program.begins
        self.process[:, _LEFT] = self.process[:, _BLOCKED] = -1
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
def _run(  # type: ignore[no-untyped-def]
    code, ports, latency, capacity, offsets, readers, writers, memory, sequences, refresh, lead,
    scale, process, loops, fifo, rings, met, places, counts, waits, log, totals,
    then, looks, rounds, counts_then, waits_then,
    keep_phases, keep_words, tally, stretch, periodic, budget,
):  # fmt: skip
    """Run all processes in turn for so many turns; how that ended."""
    entered, made = rings[0], rings[1]
    total = process.shape[0]
    seen = loops[lead, 0, 0]
    going = True
    while going:
        if budget <= 0:
            return _GO_ON
        if periodic and loops[lead, 0, 0] != seen:
            seen = loops[lead, 0, 0]
            _skip_periods(
                latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
                rings, met, counts, waits, totals, then, looks, rounds, counts_then, waits_then,
                lead,
            )  # fmt: skip
            seen = loops[lead, 0, 0]
        going = False
        for p in range(total):
            if process[p, _DONE]:
                continue
            while True:
                at = process[p, _AT]
                op = code[at, OP]
                if op == LOOP:
                    clock = process[p, _CLOCK]
                    if process[p, _LEFT] < 0:
                        process[p, _BEGAN] = clock
                        number = code[at, COUNT]
                        if code[at, WORDS] >= 0:
                            number = sequences[code[at, WORDS] + places[at, 0]]
                            places[at, 0] += 1
                        process[p, _LEFT] = number
                        if number > 0:
                            clock += code[at, ENTRY]
                            counts[p, ENTERING] += code[at, ENTRY]
                        going = True
                    left = process[p, _LEFT]
                    first = code[at, PORTS]
                    middle = first + code[at, READS]
                    end = middle + code[at, WRITES]
                    step = code[at, INTERVAL]
                    varies = code[at, INTERVALS]
                    process[p, _BLOCKED] = -1
                    before = left
                    while left > 0:
                        now = clock
                        cause = -1
                        for q in range(first, middle):
                            f = ports[q]
                            if fifo[f, _OUT] >= fifo[f, _IN]:
                                process[p, _BLOCKED] = q
                                break
                            ready = entered[offsets[f] + fifo[f, _TAKE]] + latency[f]
                            if ready > now:
                                now = ready
                                cause = q
                        if process[p, _BLOCKED] >= 0:
                            break
                        for q in range(middle, end):
                            f = ports[q]
                            if fifo[f, _IN] - fifo[f, _OUT] >= capacity[f]:
                                process[p, _BLOCKED] = q
                                break
                            if fifo[f, _IN] >= capacity[f]:
                                ready = made[offsets[f] + fifo[f, _PUT]] + 1
                                if ready > now:
                                    now = ready
                                    cause = q
                        if process[p, _BLOCKED] >= 0:
                            break
                        if cause >= 0:
                            waits[cause] += now - clock
                        if memory[p] and now % refresh[0] < refresh[1]:
                            more = refresh[1] - now % refresh[0]
                            counts[p, REFRESHING] += more
                            now += more
                        if keep_words:
                            if totals[0] + end - first > log.shape[0]:
                                return _FULL
                            for q in range(first, end):
                                log[totals[0], 0] = -1
                                log[totals[0], 1] = ports[q]
                                log[totals[0], 2] = q < middle
                                log[totals[0], 3] = now
                                totals[0] += 1
                        for q in range(first, middle):
                            f = ports[q]
                            made[offsets[f] + fifo[f, _TAKE]] = now
                            fifo[f, _OUT] += 1
                            fifo[f, _TAKE] = (
                                fifo[f, _TAKE] + 1 if fifo[f, _TAKE] + 1 < capacity[f] else 0
                            )
                        for q in range(middle, end):
                            f = ports[q]
                            entered[offsets[f] + fifo[f, _PUT]] = now
                            fifo[f, _IN] += 1
                            fifo[f, _PUT] = (
                                fifo[f, _PUT] + 1 if fifo[f, _PUT] + 1 < capacity[f] else 0
                            )
                        if varies >= 0:
                            clock = now + sequences[varies + places[at, 1]]
                            places[at, 1] += 1
                        elif step == scale:
                            clock = now + 1
                        else:  # what is left of a cycle counts for the next turn, unless that waits
                            spare = now * scale - process[p, _PARTS] < scale
                            process[p, _PARTS] = (
                                process[p, _PARTS] if spare else now * scale
                            ) + step
                            clock = -(-process[p, _PARTS] // scale)
                        counts[p, WORKING] += clock - now
                        if stretch > 0:
                            tally[p, now // stretch] += clock - now
                        left -= 1
                    moved = before - left
                    if moved:
                        going = True
                        budget -= moved
                        counts[p, TURNS] += moved
                    process[p, _CLOCK] = clock
                    process[p, _LEFT] = left
                    if left > 0:
                        break
                    if keep_phases:
                        if totals[0] >= log.shape[0]:
                            return _FULL
                        log[totals[0], 0] = p
                        log[totals[0], 1] = at
                        log[totals[0], 2] = process[p, _BEGAN]
                        log[totals[0], 3] = clock
                        totals[0] += 1
                    process[p, _LEFT] = -1
                    process[p, _AT] += 1
                elif op == REPEAT:
                    if code[at, COUNT] == 0:
                        depth = 1
                        while depth > 0:
                            at += 1
                            if code[at, OP] == REPEAT:
                                depth += 1
                            elif code[at, OP] == END:
                                depth -= 1
                    else:
                        loops[p, process[p, _DEPTH], 0] = code[at, COUNT]
                        loops[p, process[p, _DEPTH], 1] = at + 1
                        process[p, _DEPTH] += 1
                    process[p, _AT] = at + 1
                elif op == END:
                    depth = process[p, _DEPTH] - 1
                    loops[p, depth, 0] -= 1
                    if loops[p, depth, 0] > 0:
                        process[p, _AT] = loops[p, depth, 1]
                    else:
                        process[p, _DEPTH] = depth
                        process[p, _AT] += 1
                elif op == MEET:
                    if process[p, _MET] == 1:  # waits
                        break
                    barrier = code[at, COUNT]
                    if process[p, _MET] == 2:  # the other one has come
                        process[p, _MET] = 0
                    elif met[barrier] < 0:
                        met[barrier] = p
                        process[p, _MET] = 1
                        process[p, _BLOCKED] = -1
                        going = True
                        break
                    else:
                        other = met[barrier]
                        now = max(process[p, _CLOCK], process[other, _CLOCK]) + code[at, ENTRY]
                        counts[p, MEETING] += now - process[p, _CLOCK]
                        counts[other, MEETING] += now - process[other, _CLOCK]
                        process[p, _CLOCK] = now
                        process[other, _CLOCK] = now
                        process[other, _MET] = 2
                        met[barrier] = -1
                    process[p, _AT] += 1
                    going = True
                else:
                    process[p, _DONE] = 1
                    going = True
                    break
    for p in range(total):
        if not process[p, _DONE]:
            return _HANGS
    return _DONE_ALL


@njit(cache=True)
def _skip_periods(  # type: ignore[no-untyped-def]
    latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo, rings,
    met, counts, waits, totals, then, looks, rounds, counts_then, waits_then, lead,
):  # fmt: skip
    """Add whole periods if the state was met before; states are kept ever more rarely."""
    now = process[lead, _CLOCK]
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
                if column == _CLOCK:
                    value = 0 if process[p, _DONE] else value - now
                elif column == _PARTS:
                    value = max(value, (process[p, _CLOCK] - 1) * scale) - now * scale
                if kept:
                    then[place] = value
                elif then[place] != value:
                    same = False
                place += 1
            for depth in range(1, loops.shape[1]):
                value = loops[p, depth, 0] if depth < process[p, _DEPTH] else 0
                if kept:
                    then[place] = value
                elif then[place] != value:
                    same = False
                place += 1
            if not same and not keep:
                return
        for f in range(fifo.shape[0]):
            inside = fifo[f, _IN] - fifo[f, _OUT]
            if kept:
                then[place] = inside
            elif then[place] != inside:
                same = False
            place += 1
            for j in range(capacity[f]):
                slot = offsets[f] + (fifo[f, _TAKE] + j) % capacity[f]
                # what is over when the process comes to it is as good as any other time before
                if j < inside:
                    value = max(rings[0, slot] + latency[f], process[readers[f], _CLOCK]) - now
                elif fifo[f, _IN] < capacity[f]:
                    value = process[writers[f], _CLOCK] - now
                else:
                    value = max(rings[1, slot] + 1, process[writers[f], _CLOCK]) - now
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
                now = process[lead, _CLOCK]
                keep = True
            if not keep:
                return
    looks[0] = process[lead, _CLOCK]
    looks[1] = 0
    looks[2] = 2 * looks[2] if looks[2] else 2
    for p in range(process.shape[0]):
        rounds[p] = loops[p, 0, 0] if process[p, _DEPTH] > 0 else 0
    counts_then[:] = counts
    waits_then[:] = waits


@njit(cache=True)
def _add_periods(  # type: ignore[no-untyped-def]
    scale, process, loops, rings, counts, waits, totals, looks, rounds, counts_then, waits_then, now
):
    """Add periods, but leave every process a round more of outermost steps than one takes."""
    period = now - looks[0]
    times = np.int64(1 << 62)
    for p in range(process.shape[0]):
        if process[p, _DEPTH] > 0 and rounds[p] > loops[p, 0, 0]:
            times = min(times, (loops[p, 0, 0] - 1) // (rounds[p] - loops[p, 0, 0]) - 1)
    if times < 1 or times == np.int64(1 << 62):
        return
    for p in range(process.shape[0]):
        if not process[p, _DONE]:
            process[p, _CLOCK] += times * period
            process[p, _PARTS] += times * period * scale
            process[p, _BEGAN] += times * period
        if process[p, _DEPTH] > 0:
            loops[p, 0, 0] -= times * (rounds[p] - loops[p, 0, 0])
    rings += times * period
    counts += times * (counts - counts_then)
    waits += times * (waits - waits_then)
    totals[1] += times * period
