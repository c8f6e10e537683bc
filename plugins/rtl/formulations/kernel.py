"""The loop that runs a network, as numba compiles it.

Nothing here takes memory or raises, and arrays are of 64-bit integers, so that the machine code
calls nobody and can be kept (`ithaca.plugins.rtl.formulations.machine_code`).
"""

from __future__ import annotations

from numba import njit

from ithaca.plugins.rtl.formulations.periods import skip_periods
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
    DONE_ALL,
    ECHO,
    ENTERING,
    EVERY,
    FULL,
    GO_ON,
    HANGS,
    HELD,
    IN,
    LEFT,
    MEETING,
    MET,
    OUT,
    PARTS,
    PERIOD,
    PUT,
    REFRESHING,
    ROOM,
    TAKE,
    TURNS,
    WORKING,
)


@njit(cache=True, error_model="numpy")
def run_slice(  # type: ignore[no-untyped-def]
    code, ports, latency, capacity, offsets, readers, writers, memory, sequences, refresh, lead,
    scale, process, loops, fifo, rings, met, places, counts, waits, log, totals,
    begins, ends, slots, after, busy, seen, until,
    then, looks, clocks, rounds, counts_then, waits_then,
    keep_phases, keep_words, tally, stretch, periodic, budget,
):  # fmt: skip
    """Run all processes in turn for so many turns; how that ended.

    Parameters
    ----------
    code, ports, latency, capacity, offsets, readers, writers, memory, sequences : arrays
        The program (`ithaca.plugins.rtl.formulations.program`).
    refresh, lead, scale, stretch, periodic, budget : int
        Its figures, and for how many turns to run.
    process, loops, fifo, rings, met, places, counts, waits, log, totals : arrays
        The state (`ithaca.plugins.rtl.formulations.state`), which is changed.
    begins, ends, slots, after, busy, seen, until : arrays
        Room for what is known of processes and FIFOs.
    then, looks, clocks, rounds, counts_then, waits_then, keep_phases, keep_words, tally : arrays
        Room for what periods are found by (`ithaca.plugins.rtl.formulations.periods`).
    """
    total = process.shape[0]
    for p in range(total):
        busy[p] = seen[p] = until[p] = 0
    going = True
    while going:
        if budget <= 0:
            _put_all(tally, busy, seen, until, stretch, looks)
            return GO_ON
        going = False
        for p in range(total):
            if process[p, DONE] or (p == lead and looks[HELD]):
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
                            return FULL
                        for _ in range(able):
                            now = clock
                            cause = -1
                            for j in range(both):
                                slot = slots[j]
                                ready = (rings[0, slot] if j < reads else rings[1, slot]) + after[j]
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
                                    rings[1, slot] = now
                                else:
                                    rings[0, slot] = now
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
                                if now >= until[p]:
                                    _put(tally, p, busy, seen, until, stretch, looks, now)
                                busy[p] += clock - now
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
                            return FULL
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
                    if periodic and depth == 0 and p == lead and loops[p, 0, 0] % looks[EVERY] == 0:
                        looks[HELD] = 1
                        break
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
        if looks[HELD] and not going:  # how far all others come without it, in whichever order
            _put_all(tally, busy, seen, until, stretch, looks)
            skip_periods(
                latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
                rings, met, counts, waits, totals, then, looks, clocks, rounds, counts_then,
                waits_then, lead, stretch > 0,
            )  # fmt: skip
            looks[HELD] = 0
            going = True
    _put_all(tally, busy, seen, until, stretch, looks)
    for p in range(total):
        if not process[p, DONE]:
            return HANGS
    return DONE_ALL


@njit(cache=True, error_model="numpy")
def _put(tally, p, busy, seen, until, stretch, looks, now):  # type: ignore[no-untyped-def]
    """Put the cycles of a process at work into the stretches they are of, and begin anew.

    Parameters
    ----------
    tally : Integers
        The cycles of each process in every stretch.
    p : int
        The process.
    busy, seen, until : Integers
        The cycles that are put; a cycle among them, and the one after which others are of other
        stretches.
    stretch : int
        The cycles of a stretch.
    looks : Integers
        Of how many periods the one being run stands, and their length.
    now : int
        The cycle in which the process goes on.
    """
    least = stretch
    for again in range(looks[ECHO]):
        if busy[p] > 0:
            place = (seen[p] + again * looks[PERIOD]) // stretch
            tally[p, min(place, tally.shape[1] - 1)] += busy[p]
        least = min(least, stretch - (now + again * looks[PERIOD]) % stretch)
    busy[p] = 0
    seen[p] = now
    until[p] = now + least


@njit(cache=True, error_model="numpy")
def _put_all(tally, busy, seen, until, stretch, looks):  # type: ignore[no-untyped-def]
    """Put the cycles of all processes at work into the tally, before periods change."""
    if stretch > 0:
        for p in range(busy.size):
            if busy[p] > 0:
                _put(tally, p, busy, seen, until, stretch, looks, seen[p])
            until[p] = 0
