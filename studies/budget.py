"""The time of a study, and equal shares of what is left of it."""

from __future__ import annotations

import time
from dataclasses import replace

from ithaca.solver.options import SolveOptions


class Budget:
    """A time limit that runs from now on.

    Parameters
    ----------
    options : SolveOptions
        With the time limit of everything together; None for no end.
    """

    def __init__(self, options: SolveOptions) -> None:
        self.options = options
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self._began

    @property
    def over(self) -> bool:
        """Whether time is up, or the study was told to stop."""
        limit, stop = self.options.time_limit, self.options.stop
        return (limit is not None and self.spent >= limit) or (stop is not None and stop())

    def share(self, parts: int = 1) -> SolveOptions:
        """The options for the next of so many searches that are left."""
        limit = self.options.time_limit
        return self.options if limit is None else replace(self.options, time_limit=max(limit - self.spent, 0.0) / parts)
