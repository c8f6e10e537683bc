"""Activity of modules over time: the share of each module's processes that takes turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.plugins.rtl.formulations.activity import SimulatedRun, simulate_network


@dataclass(frozen=True, eq=False)
class Timeline:
    """The work of modules over the time of a run."""

    modules: tuple[str, ...]
    """In the order in which they begin to work; in one stretch the busiest first."""
    begins: Integers
    """The first cycle of each stretch of the run; all are equally long, the last may be shorter."""
    working: Floats
    """Share of a module's processes at work, of shape (module, stretch)."""


def timeline(
    run: SimulatedRun, stretches: int, checkpoint: Callable[[], None] | None = None
) -> Timeline:
    """Tell when modules of a run work; a run that was not tallied so is run again.

    Parameters
    ----------
    run : SimulatedRun
        The run, whose cycles are known.
    stretches : int
        Into how many stretches of equal length its time is cut.
    checkpoint : callable, optional
        Called now and then; it may raise to end the run.

    Returns
    -------
    Timeline
        For every module (rows) and stretch (columns) the share, from 0 to 1, of the module's
        processes that takes turns; modules in the order in which they begin, in a single stretch
        the busiest first.
    """
    length = -(-max(run.cycles, 1) // stretches)
    if run.tally is None or run.stretch != length:
        run = simulate_network(run.network, checkpoint, stretch=length, cycles=run.cycles)
    assert run.tally is not None
    names = [process.module or process.name for process in run.network.processes]
    modules = {name: number for number, name in enumerate(dict.fromkeys(names))}
    owner = np.array([modules[name] for name in names])
    begins = np.arange(0, max(run.cycles, 1), length)
    worked = np.zeros((len(modules), len(begins)))
    np.add.at(worked, owner, run.tally[:, : len(begins)])
    worked /= np.bincount(owner)[:, None] * np.minimum(length, max(run.cycles, 1) - begins)
    # a turn of several cycles counts where it begins
    worked = np.clip(worked, 0, 1)
    first = [int(np.flatnonzero(row)[0]) if row.any() else len(begins) for row in worked]
    order = sorted(
        range(len(first)),
        key=lambda at: (first[at], -worked[at, first[at]] if worked[at].any() else 0),
    )
    return Timeline(tuple(list(modules)[at] for at in order), begins, worked[order])
