"""Budgets of search methods, and records of what a run has used and found: when, and why it
ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import inf

from ithaca.files.errors import InputError
from ithaca.files.words import parse_integer, parse_number
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem


class Ended(Enum):
    """The reason why a search ended."""

    SAMPLES = "samples"
    """Its budget in samples is used up."""
    SECONDS = "seconds"
    """Its budget in seconds is used up."""
    EXHAUSTED = "exhausted"
    """The whole design space was searched, or the answer proven optimal."""
    STOPPED = "stopped"
    """The method has nothing new to ask for."""


@dataclass(frozen=True, slots=True)
class Improvement:
    """A configuration better than all before it: samples (its own included) and seconds until then,
    and its exact objective."""

    samples: int
    seconds: float
    value: Fraction


@dataclass(frozen=True)
class Trace:
    """One run of a search method: improvements in order, their values falling strictly; samples and
    seconds in all.

    ``best`` is the configuration of the last improvement, None if no feasible one was met.
    """

    method: str
    seed: int
    improvements: tuple[Improvement, ...]
    samples: int
    seconds: float
    best: Configuration | None
    ended: Ended

    @property
    def value(self) -> Fraction | None:
        """The best objective; None if no feasible configuration was met."""
        return self.improvements[-1].value if self.improvements else None

    def value_at(self, samples: float = inf, seconds: float = inf) -> Fraction | None:
        """The best objective after so many samples, or seconds."""
        known = (i for i in self.improvements if i.samples <= samples and i.seconds <= seconds)
        return min((i.value for i in known), default=None)


@dataclass(frozen=True, slots=True)
class SampleBudget:
    """A budget of samples (configurations scored), seconds, or both; the search ends with whichever
    is used up first."""

    samples: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.samples is None and self.seconds is None:
            raise InputError("budget is empty; allowed: samples, seconds, or both")
        if self.samples is not None:
            parse_integer("budget.samples", self.samples, least=1)
        if self.seconds is not None:
            parse_number("budget.seconds", self.seconds, positive=True)

    def within(self, seconds: float | None) -> SampleBudget:
        """The budget with so many seconds at most; None leaves it as it is."""
        if seconds is None:
            return self
        return SampleBudget(
            self.samples, seconds if self.seconds is None else min(self.seconds, seconds)
        )


class BudgetUsedError(Exception):
    """A part of the budget is used up: the search ends here."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(f"the budget in {ended.value} is used up")
        self.ended = ended


class Recorder:
    """Counts samples, looks at the clock, which starts now, and keeps the improvements and the best
    configuration."""

    def __init__(self, problem: Problem, budget: SampleBudget) -> None:
        self.problem = problem
        self.budget = budget
        self.samples = 0
        self.best: Configuration | None = None
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
        """The seconds left of the budget; None if it has no end."""
        return None if self.budget.seconds is None else max(self.budget.seconds - self.seconds, 0.0)

    @property
    def progress(self) -> float:
        """The part of the budget that is used, from 0 to 1."""
        samples, seconds = self.budget.samples, self.budget.seconds
        parts = (
            self.samples / samples if samples else 0.0,
            self.seconds / seconds if seconds else 0.0,
        )
        return min(max(parts), 1.0)

    def used_up(self) -> Ended | None:
        """The part of the budget that is used up, if any."""
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

    def offer(self, configuration: Configuration, samples: int) -> bool:
        """Take a configuration if the Fraction reference confirms that it is feasible and improves;
        whether it is feasible.

        ``samples`` are those used until it was met.
        """
        value = self.problem.feasible_value(configuration)
        if value is not None and self.note(value, samples):
            self.best = configuration
        return value is not None

    def note(self, value: Fraction, samples: int) -> bool:
        """Record a value confirmed by the reference if it improves; returns whether it does."""
        better = self.value is None or value < self.value
        if better:
            self._improvements.append(Improvement(samples, self.seconds, value))
        return better

    def finish(self, configuration: Configuration, samples: int) -> None:
        """Take the configuration that a solver returns: it belongs to the value it reported last,
        or improves on it."""
        value = self.problem.feasible_value(configuration)
        if value is not None and (self.note(value, samples) or value == self.value):
            self.best = configuration

    def trace(self, method: str, seed: int, ended: Ended) -> Trace:
        """The run as a trace.

        Parameters
        ----------
        method : str
            The name of the method.
        seed : int
            What fixed its chance.
        ended : Ended
            Why it ended.
        """
        return Trace(
            method, seed, tuple(self._improvements), self.samples, self.seconds, self.best, ended
        )
