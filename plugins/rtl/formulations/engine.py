"""Run a network: exact times of every event, by numba.

Each process is run as far as its FIFOs let it. A FIFO keeps, for as many words as it holds, when
each entered or when its room was made: all that maximum and plus need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit

from ithaca.formulations.algebra.array_types import Integers, Mask
from ithaca.formulations.processes import ProcessNetwork
from ithaca.plugins.rtl.formulations.program import (
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
from ithaca.plugins.rtl.formulations.state import (
    AT,
    BEGAN,
    BEGIN,
    BLOCKED,
    CLOCK,
    DELAY,
    DEPTH,
    DONE,
    ECHO,
    IN,
    LEFT,
    MET,
    OUT,
    PARTS,
    PERIOD,
    PUT,
    ROOM,
    SEEN,
    TAKE,
    RunState,
    skip_periods,
)

#: Turns between looks at whether to stop: a fraction of a second.
SLICE = 10_000_000

#: Events kept at most, for traces.
MOST_EVENTS = 4_000_000

# columns of a process' counts
TURNS, WORKING, ENTERING, MEETING, REFRESHING = range(5)
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
    """The action of each instruction, in words."""
    tally: Integers
    """Cycles of each process at work in every stretch of time, if that was asked for."""


def process_ends(network: ProcessNetwork) -> tuple[Integers, Mask]:
    """The cycle in which each process of a network ends or stands, and whether it ends."""
    counts = run_network(network)
    assert counts is not None  # no events are kept
    return counts.ends, counts.finished


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
        Tally the work in stretches of so many cycles of a run that takes so many; what comes later
        counts in the last. 0: no tally.
    checkpoint : callable, optional
        Called every now and then; what it raises ends the run.

    Returns
    -------
    RunCounts, optional
        The counts; None if the run has more events than are kept.
    """
    program = ProcessProgram(network)
    state = RunState(program, kept=MOST_EVENTS if phases or words else 0)
    tally = np.zeros((len(network.processes), cycles // stretch + 1 if stretch else 1), np.int64)
    periodic = program.periodic and not (phases or words)
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
        ends=state.process[:, CLOCK],
        finished=state.process[:, DONE] == 1,
        processes=state.counts,
        waits=state.waits,
        ports=tuple(program.owners),
        blocked=state.process[:, BLOCKED],
        skipped=int(state.totals[1]),
        phases=log[log[:, 0] >= 0],
        words=log[log[:, 0] < 0][:, 1:],
        labels=tuple(program.labels),
        tally=tally,
    )


@njit(cache=True)
def _run(  # type: ignore[no-untyped-def]
    code, ports, latency, capacity, offsets, readers, writers, memory, sequences, refresh, lead,
    scale, process, loops, fifo, rings, met, places, counts, waits, log, totals,
    then, looks, clocks, rounds, counts_then, waits_then,
    keep_phases, keep_words, tally, stretch, periodic, budget,
):  # fmt: skip
    """Run all processes in turn for so many turns; how that ended."""
    entered, made = rings[0], rings[1]
    scratch = np.empty((4, ports.size), np.int64)
    begins, ends, slots, after = scratch[0], scratch[1], scratch[2], scratch[3]
    total = process.shape[0]
    going = True
    while going:
        if budget <= 0:
            return _GO_ON
        if periodic and loops[lead, 0, 0] != looks[SEEN]:
            skip_periods(
                latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
                rings, met, counts, waits, totals, then, looks, clocks, rounds, counts_then,
                waits_then, lead, stretch > 0,
            )  # fmt: skip
            looks[SEEN] = loops[lead, 0, 0]
        going = False
        for p in range(total):
            if process[p, DONE]:
                continue
            while True:
                at = process[p, AT]
                op = code[at, OP]
                if op == LOOP:
                    clock = process[p, CLOCK]
                    if process[p, LEFT] < 0:
                        process[p, BEGAN] = clock
                        number = code[at, COUNT]
                        if code[at, WORDS] >= 0:
                            number = sequences[code[at, WORDS] + places[at, 0]]
                            places[at, 0] += 1
                        process[p, LEFT] = number
                        if number > 0:
                            clock += code[at, ENTRY]
                            counts[p, ENTERING] += code[at, ENTRY]
                        going = True
                    left = process[p, LEFT]
                    first = code[at, PORTS]
                    reads = code[at, READS]
                    both = reads + code[at, WRITES]
                    step = code[at, INTERVAL]
                    varies = code[at, INTERVALS]
                    process[p, BLOCKED] = -1
                    before = left
                    working = 0
                    at_memory = memory[p]
                    while left > 0:
                        able = left  # turns that nobody else is needed for
                        for j in range(both):
                            f = ports[first + j]
                            inside = fifo[f, IN] - fifo[f, OUT]
                            there = inside if j < reads else fifo[f, ROOM] - inside
                            if there <= 0:
                                process[p, BLOCKED] = first + j
                                able = 0
                                break
                            able = min(able, there)
                        if able == 0:
                            break
                        for j in range(both):  # where its words are, or room is, and how soon
                            f = ports[first + j]
                            begins[j] = fifo[f, BEGIN]
                            ends[j] = fifo[f, BEGIN] + fifo[f, ROOM]
                            slots[j] = fifo[f, BEGIN] + fifo[f, TAKE if j < reads else PUT]
                            after[j] = fifo[f, DELAY] if j < reads else 1
                        if keep_words and totals[0] + able * both > log.shape[0]:
                            return _FULL
                        for _ in range(able):
                            now = clock
                            cause = -1
                            for j in range(both):
                                slot = slots[j]
                                ready = (entered[slot] if j < reads else made[slot]) + after[j]
                                if ready > now:
                                    now = ready
                                    cause = j
                            if cause >= 0:
                                waits[first + cause] += now - clock
                            if at_memory and now % refresh[0] < refresh[1]:
                                more = refresh[1] - now % refresh[0]
                                counts[p, REFRESHING] += more
                                now += more
                            for j in range(both):
                                slot = slots[j]
                                if j < reads:
                                    made[slot] = now
                                else:
                                    entered[slot] = now
                                slots[j] = slot + 1 if slot + 1 < ends[j] else begins[j]
                            if keep_words:
                                for j in range(both):
                                    log[totals[0], 0] = -1
                                    log[totals[0], 1] = ports[first + j]
                                    log[totals[0], 2] = j < reads
                                    log[totals[0], 3] = now
                                    totals[0] += 1
                            if varies >= 0:
                                clock = now + sequences[varies + places[at, 1]]
                                places[at, 1] += 1
                            elif step == scale:
                                clock = now + 1
                            else:  # the rest of a cycle is the next turn's, unless that waits
                                spare = now * scale - process[p, PARTS] < scale
                                process[p, PARTS] = (
                                    process[p, PARTS] if spare else now * scale
                                ) + step
                                clock = -(-process[p, PARTS] // scale)
                            working += clock - now
                            if stretch > 0:
                                for again in range(looks[ECHO]):
                                    place = (now + again * looks[PERIOD]) // stretch
                                    tally[p, min(place, tally.shape[1] - 1)] += clock - now
                        for j in range(both):
                            f = ports[first + j]
                            fifo[f, OUT if j < reads else IN] += able
                            fifo[f, TAKE if j < reads else PUT] = slots[j] - begins[j]
                        left -= able
                    moved = before - left
                    if moved:
                        going = True
                        counts[p, WORKING] += working
                        budget -= moved
                        counts[p, TURNS] += moved
                    process[p, CLOCK] = clock
                    process[p, LEFT] = left
                    if left > 0:
                        break
                    if keep_phases:
                        if totals[0] >= log.shape[0]:
                            return _FULL
                        log[totals[0], 0] = p
                        log[totals[0], 1] = at
                        log[totals[0], 2] = process[p, BEGAN]
                        log[totals[0], 3] = clock
                        totals[0] += 1
                    process[p, LEFT] = -1
                    process[p, AT] += 1
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
                        loops[p, process[p, DEPTH], 0] = code[at, COUNT]
                        loops[p, process[p, DEPTH], 1] = at + 1
                        process[p, DEPTH] += 1
                    process[p, AT] = at + 1
                elif op == END:
                    depth = process[p, DEPTH] - 1
                    loops[p, depth, 0] -= 1
                    if loops[p, depth, 0] > 0:
                        process[p, AT] = loops[p, depth, 1]
                    else:
                        process[p, DEPTH] = depth
                        process[p, AT] += 1
                elif op == MEET:
                    if process[p, MET] == 1:  # waits
                        break
                    barrier = code[at, COUNT]
                    if process[p, MET] == 2:  # the other one has come
                        process[p, MET] = 0
                    elif met[barrier] < 0:
                        met[barrier] = p
                        process[p, MET] = 1
                        process[p, BLOCKED] = -1
                        going = True
                        break
                    else:
                        first = met[barrier]
                        now = max(process[p, CLOCK], process[first, CLOCK]) + code[at, ENTRY]
                        counts[p, MEETING] += now - process[p, CLOCK]
                        counts[first, MEETING] += now - process[first, CLOCK]
                        process[p, CLOCK] = now
                        process[first, CLOCK] = now
                        process[first, MET] = 2
                        met[barrier] = -1
                    process[p, AT] += 1
                    going = True
                else:
                    process[p, DONE] = 1
                    going = True
                    break
    for p in range(total):
        if not process[p, DONE]:
            return _HANGS
    return _DONE_ALL
