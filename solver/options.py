"""Options of how long and how far to search, and equal shares of the time of several searches."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from ithaca.files.clock import StoppedError, ending

#: Share of the time to run what may be the best, where hardware takes simulated cycles.
RUNNING = 0.1

#: Share of a time limit that is kept to find out what a restriction to what a compiler builds
#: costs.
COMPARING = 0.2

#: Boxes that a search bounds in a second, about: turns are measured by them where there is no time
#: limit.
BOXES_A_SECOND = 100_000


def never() -> None:
    """A checkpoint that lets everything pass."""


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """Limits of a search."""

    time_limit: float | None = None
    """Seconds after which the search ends with what it has."""
    gap: float = 0.0
    """Relative gap at which it may end; 0 asks for a proof."""
    stop: Callable[[], bool] | None = None
    """Asked now and then; when true the search ends with what it has."""
    seed: int = 0
    """The seed of the random numbers of methods that draw some."""
    rival: Fraction | None = None
    """The search may end once nothing below this is left: another design has it."""
    boxes: int | None = None
    """Boxes after which a search pauses: a turn of a search that has no time limit."""
    any_tie: bool = False
    """Whether any configuration of the optimum will do (`ithaca.solver.ties`)."""
    helpers: object | None = None
    """`Helpers`: workers that a single search may share (`ithaca.solver.splitting`)."""

    @property
    def elsewhere(self) -> SolveOptions:
        """The options for another process, which has a stop of its own and nobody to help."""
        return replace(self, stop=None, helpers=None)

    def keeping(self, share: float) -> SolveOptions:
        """The options with a share of the time kept for what follows."""
        limit = self.time_limit
        return self if limit is None else replace(self, time_limit=limit * (1 - share))

    @property
    def stopped(self) -> bool:
        """Whether a stop is asked for."""
        return self.stop is not None and self.stop()

    @property
    def from_now(self) -> SolveOptions:
        """The options with ``stop`` in place of the time limit, from now on: whatever is solved on
        the way ends with the whole."""
        return replace(self, time_limit=None, stop=deadline(self.time_limit, self.stop))

    def checkpoint(self) -> Callable[[], None]:
        """A function for long preparations to call now and then.

        It raises `StoppedError` once the time limit, counted from now, is over or a stop is asked
        for.
        """
        passed = deadline(self.time_limit, self.stop)

        def check() -> None:
            if passed():
                raise StoppedError

        return check

    def building(self) -> AbstractContextManager[None]:
        """A region for preparations that whoever opens it can go on without: in it, what is built
        ends with `StoppedError` once the time limit, counted from now, is over or a stop is asked
        for."""
        return ending(deadline(self.time_limit, self.stop))

    def at_most(self, seconds: float | None) -> SolveOptions:
        """The options with this time limit, if it is tighter."""
        if seconds is None or (self.time_limit is not None and self.time_limit <= seconds):
            return self
        return replace(self, time_limit=seconds)

    def turn(self, seconds: float | None) -> SolveOptions:
        """The options of a turn of so many seconds; without a time limit of as many boxes, so that
        what is done does not depend on the machine."""
        if seconds is None or self.time_limit is not None:
            return self.at_most(seconds)
        boxes = ceil(seconds * BOXES_A_SECOND)
        return replace(self, boxes=boxes if self.boxes is None else min(boxes, self.boxes))

    def taken(self, seconds: float, boxes: int) -> float:
        """Seconds that a search has taken; without a time limit as many as for its boxes."""
        return boxes / BOXES_A_SECOND if self.time_limit is None else seconds

    def beaten(self, lower_bound: Fraction | None) -> bool:
        """Whether nothing that is left can be better than the rival."""
        if self.rival is None or lower_bound is None:
            return False
        return lower_bound >= self.rival

    def gap_is_met(self, value: Fraction | None, lower_bound: Fraction | None) -> bool:
        """Whether a search may end here: beaten by its rival, with the gap asked for, or with none
        left."""
        if self.beaten(lower_bound):
            return True
        if value is None or lower_bound is None:
            return False
        return value - lower_bound <= Fraction(self.gap) * abs(value)

    def ends(
        self, spent: float, value: Fraction | None, lower_bound: Fraction | None, boxes: int = 0
    ) -> bool:
        """Whether a search ends here: asked to stop, after its time, or as enough is known.

        Parameters
        ----------
        spent : float
            Seconds of search so far.
        value : Fraction, optional
            The incumbent's objective; None if there is none.
        lower_bound : Fraction, optional
            A proven bound; None if there is none.
        boxes : int, optional
            Boxes of the search so far.
        """
        late = self.boxes is not None and boxes >= self.boxes
        late = late or (self.time_limit is not None and spent >= self.time_limit)
        return late or self.stopped or self.gap_is_met(value, lower_bound)


def deadline(seconds: float | None, stop: Callable[[], bool] | None = None) -> Callable[[], bool]:
    """A function that tells whether so many seconds have passed, or ``stop`` says so."""
    began = time.perf_counter()

    def passed() -> bool:
        return (stop is not None and stop()) or (
            seconds is not None and time.perf_counter() - began >= seconds
        )

    return passed


class Budget:
    """A time limit that runs from now on, of everything together."""

    def __init__(self, options: SolveOptions) -> None:
        self.options = options
        self._began = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the budget began."""
        return time.perf_counter() - self._began

    @property
    def up(self) -> bool:
        """Whether time is up, and there was no stop before."""
        limit = self.options.time_limit
        return limit is not None and self.spent >= limit and not self.options.stopped

    @property
    def over(self) -> bool:
        """Whether time is up, or the study was told to stop."""
        return self.up or self.options.stopped

    def share(self, parts: int = 1) -> SolveOptions:
        """The options for the next of so many searches that are left."""
        return self.part(1 / parts)

    def part(self, share: float) -> SolveOptions:
        """The options of a search that may take a share of the time that is left."""
        limit = self.options.time_limit
        return (
            self.options
            if limit is None
            else replace(self.options, time_limit=max(limit - self.spent, 0.0) * share)
        )
