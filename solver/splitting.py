"""One large search in parts: its open boxes as tasks, for whoever runs them.

A search that has examined many boxes goes on in rounds. In each, its most promising boxes are dealt
to tasks, which all begin with the same incumbent. A task searches its boxes best first until none
of them is as promising as what stayed behind, or it has examined its share; it hands back what is
left open, and the incumbent if it found a better one. These are taken in the order of the tasks. So
nothing but the time depends on how many tasks run at once, where, and which of them ends first; a
task that is lost is begun anew, by another worker, and comes to the same.

A round has half as many tasks as all rounds before it, or a few: what a task finds helps all of the
next round, and what is examined in vain meanwhile is less than half of what was examined before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.configuration import Configuration
from ithaca.solver.best_first import BestFirst
from ithaca.solver.executor import Executor, InProcess, Job, KilledError, LostError, Share, T
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.model import Nodes

#: Boxes that a search examines before it is split, about a second's work; and that a task examines,
#: so that what is sent to and fro takes little of its time.
ENOUGH, SLICE = 1 << 20, 1 << 17

#: Tasks of a round at least, and the most boxes that one begins with.
LEAST_TASKS, MOST_BEGUN = 8, 1 << 12

#: Boxes with their bounds, of shapes (axes, boxes) and (bounds, boxes), the most promising first.
Part = tuple[Nodes, Floats]


@dataclass(frozen=True)
class Helpers:
    """Workers that one search may share."""

    executor: Executor = field(default_factory=InProcess)
    """The executor of tasks."""
    enough: int = ENOUGH
    """Boxes from which on a search is split."""
    slice: int = SLICE
    """Boxes that a task examines at most, before the last ones that it splits."""

    @staticmethod
    def of(options: SolveOptions) -> Helpers:
        """The workers that a search with some options may share; this process, if there is no
        other."""
        return options.helpers if isinstance(options.helpers, Helpers) else Helpers()


@dataclass(frozen=True)
class Task:
    """Boxes to search."""

    part: Part
    """The boxes."""
    incumbent: Configuration | None
    """The best configuration that is known."""
    value: Fraction | None
    """Its value."""
    ceiling: tuple[float, ...]
    """Boxes beyond these bounds are less promising than what others may have; they stay open."""
    slice: int
    """How many boxes to examine."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task."""

    incumbent: Configuration | None
    """The best configuration known to it."""
    boxes: int
    """Boxes examined."""
    parts: tuple[Part, ...]
    """The open boxes."""


class Rounds:
    """The rounds of one search."""

    def __init__(self) -> None:
        self._tasks = 0

    def deal(
        self,
        open_: BestFirst[tuple[float, ...], Part],
        improving: Callable[[Nodes, Floats], Part],
    ) -> tuple[list[Part], tuple[float, ...]]:
        """Take the most promising boxes out of those that are open, and deal them to the tasks of
        the next round.

        Parameters
        ----------
        open_ : BestFirst
            Boxes with their bounds.
        improving : Callable
            Leaves out boxes that cannot hold an improvement any more.

        Returns
        -------
        tuple of list of Part, tuple of float
            The boxes of each task; and bounds of which no box that stays behind has lesser ones.
        """
        tasks = max(self._tasks // 2, LEAST_TASKS)
        taken: list[Part] = []
        while open_ and sum(bounds.shape[1] for _, bounds in taken) < tasks * MOST_BEGUN:
            taken.append(improving(*open_.pop()[1]))
        nodes, bounds = (np.concatenate(own, axis=1) for own in zip(*taken, strict=True))
        # not interleaved: what the first tasks close raises the bound even if time ends the round
        order = np.lexsort(bounds[::-1])
        hands = np.array_split(order, min(tasks, order.size)) if order.size else []
        self._tasks += len(hands)
        ceiling = open_.least if open_ else (inf,) * bounds.shape[0]
        return [(nodes[:, own], bounds[:, own]) for own in hands], ceiling


def done_by(executor: Executor, jobs: Sequence[Job[T]], share: Share) -> Iterator[tuple[int, T]]:
    """The results of jobs by their number, as they end; what an executor has lost is done here.

    Parameters
    ----------
    executor : Executor
        What runs the jobs.
    jobs : sequence of Job
        The jobs.
    share : Share
        Gives the options of each, or None where no more are to be begun.

    Raises
    ------
    Exception
        What a job ended with, if it was an error.
    """
    lost = list[int]()
    for number, outcome in executor.run(jobs, share):
        if isinstance(outcome, LostError | KilledError):
            lost.append(number)
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            yield number, outcome
    for number, outcome in InProcess().run([jobs[n] for n in lost], share):
        if isinstance(outcome, Exception):
            raise outcome
        yield lost[number], outcome
