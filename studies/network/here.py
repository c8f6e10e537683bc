"""Solve problems one after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ithaca.solver.engines import Method
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution
from ithaca.studies.network.executor import Share, Tell
from ithaca.studies.network.failure import Failure
from ithaca.studies.network.job import Job, attempt


class Here:
    """An `Executor` that needs nothing else."""

    width = 1

    def solve(self, jobs: Sequence[Job], method: Method, share: Share, tell: Tell) -> Iterator[tuple[int, Solution | Failure]]:
        """Solve in the given order."""
        for index, job in enumerate(jobs):
            options = share(len(jobs) - index)
            if options.stop is not None and options.stop():
                return

            def report(progress: Progress, index: int = index) -> None:
                tell(index, progress)

            yield index, attempt(job, options, method, report)

    def close(self) -> None:
        """Nothing to close."""
