"""What a run has used and found so far."""

from __future__ import annotations

import time
from fractions import Fraction

from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.membership import feasible_value
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.peers.budget import Budget
from ithaca.peers.trace import Ended, Improvement, Trace


class BudgetUsedError(Exception):
    """The budget is used up: the search ends here.

    Parameters
    ----------
    ended : Ended
        Which part of it.
    """

    def __init__(self, ended: Ended) -> None:
        super().__init__(f"the budget in {ended.value} is used up")
        self.ended = ended


class Recorder:
    """Counts samples, looks at the clock, and keeps the improvements.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    budget : Budget
        The clock starts now.

    Attributes
    ----------
    samples : int
        Samples used.
    best : Tiling or None
        The best configuration so far.
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem = problem
        self.budget = budget
        self.samples = 0
        self.best: Tiling | None = None
        self._improvements: list[Improvement] = []
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._began

    @property
    def value(self) -> Fraction | None:
        """The best objective so far."""
        return self._improvements[-1].value if self._improvements else None

    @property
    def seconds_left(self) -> float | None:
        """What is left of the budget in seconds; None if it has no end."""
        return None if self.budget.seconds is None else max(self.budget.seconds - self.seconds, 0.0)

    @property
    def progress(self) -> float:
        """The part of the budget that is used, from 0 to 1."""
        samples, seconds = self.budget.samples, self.budget.seconds
        parts = (self.samples / samples if samples else 0.0, self.seconds / seconds if seconds else 0.0)
        return min(max(parts), 1.0)

    def used_up(self) -> Ended | None:
        """Which part of the budget is used up, if any."""
        if self.budget.samples is not None and self.samples >= self.budget.samples:
            return Ended.SAMPLES
        return Ended.SECONDS if self.seconds_left == 0.0 else None

    def check(self) -> None:
        """Raise `BudgetUsedError` if the budget is used up."""
        if (ended := self.used_up()) is not None:
            raise BudgetUsedError(ended)

    def check_seconds(self) -> None:
        """Raise `BudgetUsedError` if the time is over."""
        if self.seconds_left == 0.0:
            raise BudgetUsedError(Ended.SECONDS)

    def offer(self, tiling: Tiling, samples: int) -> bool:
        """Take a configuration if the Fraction reference confirms that it is feasible and improves.

        Parameters
        ----------
        tiling : Tiling
            The configuration.
        samples : int
            Samples used until it was met.

        Returns
        -------
        bool
            Whether it is feasible.
        """
        value = feasible_value(self.problem, tiling)
        if value is not None and self.note(value, samples):
            self.best = tiling
        return value is not None

    def note(self, value: Fraction, samples: int) -> bool:
        """Record a value confirmed by the reference if it improves; returns whether it does."""
        better = self.value is None or value < self.value
        if better:
            self._improvements.append(Improvement(samples, self.seconds, value))
        return better

    def finish(self, tiling: Tiling, samples: int) -> None:
        """Take the configuration that a solver returns: it belongs to the value it reported last, or improves on it."""
        value = feasible_value(self.problem, tiling)
        if value is not None and (self.note(value, samples) or value == self.value):
            self.best = tiling

    def trace(self, method: str, seed: int, ended: Ended) -> Trace:
        """The run as a trace."""
        return Trace(method, seed, tuple(self._improvements), self.samples, self.seconds, self.best, ended)
