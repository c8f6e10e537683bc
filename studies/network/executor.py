"""What solves many problems: this process, several of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution
from ithaca.studies.network.failure import Failure
from ithaca.studies.network.job import Job

#: Seconds between looks at whether to stop.
POLL = 0.1

#: Problems per process that are handed over; the second waits there.
AHEAD = 2

#: Why a problem has no answer that ended its process even when no other one was under way.
KILLED = "its process was killed each time; out of memory?"

#: The options of the next search, given how many problems are not finished.
Share = Callable[[int], SolveOptions]

#: Receives the number of a problem and the progress of its search.
Tell = Callable[[int, Progress], None]


class Executor(Protocol):
    """Solves independent problems."""

    @property
    def width(self) -> int:
        """How many it solves at a time."""

    def solve(self, jobs: Sequence[Job], method: Method, share: Share, tell: Tell) -> Iterator[tuple[int, Solution | Failure]]:
        """Solve problems.

        Parameters
        ----------
        jobs : sequence of Job
            The problems.
        method : Method
            The engine.
        share : callable
            Gives the options of each search when it begins. When their ``stop`` says so, no more are begun.
        tell : callable
            Told of progress, where that is known.

        Yields
        ------
        tuple of int and Solution or Failure
            The number of a problem and what came of it, as they finish. Each at most once; those not
            reached before a stop are missing.
        """

    def close(self) -> None:
        """Give back what it holds."""
