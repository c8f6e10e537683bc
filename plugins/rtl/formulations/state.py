"""The state of a run: arrays, and what their columns hold."""

from __future__ import annotations

import numpy as np

from ithaca.formulations.processes import DEEPEST
from ithaca.plugins.rtl.formulations.program import ProcessProgram

# columns of a process' state: instruction, clock, turns left, depth, at a barrier, done, the clock
# in parts of a cycle, the port that blocks it, when its loop began
AT, CLOCK, LEFT, DEPTH, MET, DONE, PARTS, BLOCKED, BEGAN = range(9)
# columns of a FIFO's state: words put in and taken out, and their places in its ring; beside it, so
# that a processor reads both at once, where its ring begins, its capacity, and its latency
IN, OUT, PUT, TAKE, BEGIN, ROOM, DELAY = range(7)
# what is known of looks for a period: whether the leading process is held until no other can go on,
# for one; how many there were since a state was kept for long, and after how many the next is;
# where the next of the recent ones is kept; of how many periods the one being run stands, their
# length, and the rounds that the leading process has left when it ends; rounds between looks
HELD, LOOKS, ENOUGH, NEXT, ECHO, PERIOD, UNTIL, EVERY = range(8)

# columns of a process' counts
TURNS, WORKING, ENTERING, MEETING, REFRESHING = range(5)
# how a slice of a run ended
DONE_ALL, GO_ON, HANGS, FULL = range(4)

#: Recent states that are kept, at most, and numbers of all that are.
RECENT, MOST_NUMBERS = 64, 4_000_000

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
        # of a loop's ports, where rings begin and end, the places of their next words, and delays
        scratch = [np.zeros(max(ports.size, 1), np.int64) for _ in range(4)]
        # cycles at work that the tally does not hold yet: in which cycle they begin, and until
        # which they are of the same stretches
        untallied = [np.zeros(count, np.int64) for _ in range(3)]
        size = count * (7 + DEEPEST) + capacity.size + int(offsets[-1]) + met.size + 1
        # states that a period is found by, the last one being that of now: when they were, rounds
        # left, counts
        each = size + self.counts.size + self.waits.size
        states = max(min(RECENT, MOST_NUMBERS // each), 2)
        looks = np.zeros(8, np.int64)
        looks[ECHO], looks[NEXT], looks[EVERY] = 1, 1, program.every
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
            self.totals, *scratch, *untallied, *then,
        )  # fmt: skip
