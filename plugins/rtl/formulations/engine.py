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
    BLOCKED,
    CLOCK,
    DEPTH,
    DONE,
    IN,
    LEFT,
    MET,
    OUT,
    PARTS,
    PUT,
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
    state = RunState(program, kept=MOST_EVENTS if phases or words else 0)
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
            skip_periods(
                latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
                rings, met, counts, waits, totals, then, looks, rounds, counts_then, waits_then,
                lead,
            )  # fmt: skip
            seen = loops[lead, 0, 0]
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
                    middle = first + code[at, READS]
                    end = middle + code[at, WRITES]
                    step = code[at, INTERVAL]
                    varies = code[at, INTERVALS]
                    process[p, BLOCKED] = -1
                    before = left
                    while left > 0:
                        now = clock
                        cause = -1
                        for q in range(first, middle):
                            f = ports[q]
                            if fifo[f, OUT] >= fifo[f, IN]:
                                process[p, BLOCKED] = q
                                break
                            ready = entered[offsets[f] + fifo[f, TAKE]] + latency[f]
                            if ready > now:
                                now = ready
                                cause = q
                        if process[p, BLOCKED] >= 0:
                            break
                        for q in range(middle, end):
                            f = ports[q]
                            if fifo[f, IN] - fifo[f, OUT] >= capacity[f]:
                                process[p, BLOCKED] = q
                                break
                            if fifo[f, IN] >= capacity[f]:
                                ready = made[offsets[f] + fifo[f, PUT]] + 1
                                if ready > now:
                                    now = ready
                                    cause = q
                        if process[p, BLOCKED] >= 0:
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
                            made[offsets[f] + fifo[f, TAKE]] = now
                            fifo[f, OUT] += 1
                            fifo[f, TAKE] = (
                                fifo[f, TAKE] + 1 if fifo[f, TAKE] + 1 < capacity[f] else 0
                            )
                        for q in range(middle, end):
                            f = ports[q]
                            entered[offsets[f] + fifo[f, PUT]] = now
                            fifo[f, IN] += 1
                            fifo[f, PUT] = fifo[f, PUT] + 1 if fifo[f, PUT] + 1 < capacity[f] else 0
                        if varies >= 0:
                            clock = now + sequences[varies + places[at, 1]]
                            places[at, 1] += 1
                        elif step == scale:
                            clock = now + 1
                        else:  # what is left of a cycle counts for the next turn, unless that waits
                            spare = now * scale - process[p, PARTS] < scale
                            process[p, PARTS] = (process[p, PARTS] if spare else now * scale) + step
                            clock = -(-process[p, PARTS] // scale)
                        counts[p, WORKING] += clock - now
                        if stretch > 0:
                            tally[p, now // stretch] += clock - now
                        left -= 1
                    moved = before - left
                    if moved:
                        going = True
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
                        other = met[barrier]
                        now = max(process[p, CLOCK], process[other, CLOCK]) + code[at, ENTRY]
                        counts[p, MEETING] += now - process[p, CLOCK]
                        counts[other, MEETING] += now - process[other, CLOCK]
                        process[p, CLOCK] = now
                        process[other, CLOCK] = now
                        process[other, MET] = 2
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
