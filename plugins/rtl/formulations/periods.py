"""Periods of a run, added at once.

Where the whole state relative to the clock is one that was there before, what lay between happens
again and again: whole periods are added at once, exactly. States are those in which no process can
go on but the leading one, which is held: these do not depend on the order of turns.
"""

from __future__ import annotations

from numba import njit

from ithaca.plugins.rtl.formulations.state import (
    BEGAN,
    CLOCK,
    DEPTH,
    DONE,
    ECHO,
    ENOUGH,
    IN,
    LOOKS,
    NEXT,
    OUT,
    PARTS,
    PERIOD,
    TAKE,
    UNTIL,
)

#: More periods than any run has.
ENDLESS = 1 << 62


@njit(cache=True, error_model="numpy")
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
    last = clocks.size  # the row of the state of now
    _describe(
        then, last, latency, capacity, offsets, readers, writers, refresh, scale, process, loops,
        fifo, rings, met, now,
    )  # fmt: skip
    known = -1
    for slot in range(clocks.size):
        if clocks[slot] >= 0 and (known < 0 or clocks[slot] > clocks[known]):
            same = True
            for place in range(then.shape[1]):
                if then[slot, place] != then[last, place]:
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
            for slot in range(clocks.size):
                clocks[slot] = -1
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


@njit(cache=True, error_model="numpy")
def _describe(  # type: ignore[no-untyped-def]
    then, row, latency, capacity, offsets, readers, writers, refresh, scale, process, loops, fifo,
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
            then[row, place] = value
            place += 1
        for depth in range(1, loops.shape[1]):
            then[row, place] = loops[p, depth, 0] if depth < process[p, DEPTH] else 0
            place += 1
    for f in range(fifo.shape[0]):
        inside = fifo[f, IN] - fifo[f, OUT]
        then[row, place] = inside
        place += 1
        for j in range(capacity[f]):
            slot = offsets[f] + (fifo[f, TAKE] + j) % capacity[f]
            # what is over when the process comes to it is as good as any other time before
            if j < inside:
                value = max(rings[0, slot] + latency[f], process[readers[f], CLOCK])
            else:
                value = max(rings[1, slot] + 1, process[writers[f], CLOCK])
            then[row, place] = value - now
            place += 1
    for b in range(met.size):
        then[row, place] = met[b]
        place += 1
    then[row, place] = now % refresh[0]


@njit(cache=True, error_model="numpy")
def _keep(  # type: ignore[no-untyped-def]
    slot, now, then, clocks, process, loops, rounds, counts, counts_then, waits, waits_then
):
    """Keep the state of now."""
    for place in range(then.shape[1]):
        then[slot, place] = then[clocks.size, place]
    clocks[slot] = now
    for p in range(process.shape[0]):
        rounds[slot, p] = loops[p, 0, 0] if process[p, DEPTH] > 0 else 0
        for column in range(counts.shape[1]):
            counts_then[slot, p, column] = counts[p, column]
    for port in range(waits.size):
        waits_then[slot, port] = waits[port]


@njit(cache=True, error_model="numpy")
def _periods_left(slot, process, loops, rounds):  # type: ignore[no-untyped-def]
    """The number of periods that leave every process a round of its outermost steps."""
    times = ENDLESS
    for p in range(process.shape[0]):
        if process[p, DEPTH] > 0 and rounds[slot, p] > loops[p, 0, 0]:
            times = min(times, (loops[p, 0, 0] - 1) // (rounds[slot, p] - loops[p, 0, 0]))
    return 0 if times == ENDLESS else times


@njit(cache=True, error_model="numpy")
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
        for column in range(counts.shape[1]):
            counts[p, column] += times * (counts[p, column] - counts_then[slot, p, column])
    for place in range(rings.shape[1]):
        rings[0, place] += times * period
        rings[1, place] += times * period
    for port in range(waits.size):
        waits[port] += times * (waits[port] - waits_then[slot, port])
    totals[1] += times * period
    for other in range(clocks.size):
        clocks[other] = -1
