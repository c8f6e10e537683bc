"""Run a network: exact times of every event, in machine code.

Each process is run as far as its FIFOs let it. A FIFO keeps, for as many words as it holds, when
each entered or when its room was made: all that maximum and plus need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ithaca.files.clock import StoppedError, poll
from ithaca.formulations.algebra.array_types import Integers, Mask
from ithaca.formulations.processes import ProcessNetwork
from ithaca.plugins.rtl.formulations.machine_code import kernel
from ithaca.plugins.rtl.formulations.program import ProcessProgram
from ithaca.plugins.rtl.formulations.state import (
    BLOCKED,
    CLOCK,
    DONE,
    FULL,
    GO_ON,
    RunState,
)

#: Turns between looks at whether to stop: a fraction of a second.
SLICE = 10_000_000

#: Events kept at most, for traces.
MOST_EVENTS = 4_000_000


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
    run = kernel()
    while True:
        ended = run(
            *program.arrays, *state.arrays, *map(int, (phases, words)), tally, stretch,
            int(periodic), SLICE,
        )  # fmt: skip
        if ended == FULL:
            return None
        if ended != GO_ON:
            break
        if checkpoint is not None:
            checkpoint()
        try:
            poll()
        except StoppedError:
            least = int(state.process[:, CLOCK].max())
            raise StoppedError(f"it takes {least:,} cycles at least") from None
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
