"""The course of a search: when the incumbent or the bound changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.solver.certificate import TracePoint
from ithaca.solver.progress import Progress, Report

#: Most entries of a trace.
LONGEST = 60


@dataclass
class TraceRecorder:
    """Keeps what a running search reports, as far as it changes.

    Its memory is bounded: where there are many changes of the bound, every second of them is
    dropped, then every second of those left, and so on. Incumbents are only dropped at the end,
    should they alone be more than a trace holds.
    """

    began: float = field(default_factory=time.perf_counter)
    _points: list[TracePoint] = field(default_factory=list)
    report: Report | None = None
    """Hears of everything, too."""
    _stride: int = 1
    _waiting: int = 0

    def __call__(self, progress: Progress) -> None:
        """Pass a report on, and record it if it changes the best value or the bound."""
        if self.report is not None:
            self.report(progress)
        last = self._points[-1] if self._points else TracePoint(0.0, 0, None, None)
        # engines that take over from each other may report less than is known
        value = min((v for v in (progress.value, last.value) if v is not None), default=None)
        bound = max(
            (b for b in (progress.lower_bound, last.lower_bound) if b is not None), default=None
        )
        if (value, bound) == (last.value, last.lower_bound):
            return
        if value == last.value:
            self._waiting += 1
            if self._waiting < self._stride:
                return
        self._waiting = 0
        self._points.append(
            TracePoint(self._seconds(), max(progress.boxes, last.nodes), value, bound)
        )
        if len(self._points) >= 8 * LONGEST:
            self._points = _thinned(self._points, 4 * LONGEST)
            self._stride *= 2

    def trace(
        self, value: Fraction | None, lower_bound: Fraction | None, nodes: int
    ) -> tuple[TracePoint, ...]:
        """The course of the search; its last entry is the exact outcome, after so many boxes.

        No entry is beyond the outcome: what an engine showed on the way may have been rounded.

        Parameters
        ----------
        value : Fraction, optional
            The objective found; None if there is none.
        lower_bound : Fraction, optional
            What is proven; None if nothing is.
        nodes : int
            The boxes examined.
        """
        end = TracePoint(self._seconds(), nodes, value, lower_bound)
        if (value, lower_bound) == (None, None):
            return ()

        def within(point: TracePoint) -> TracePoint:
            known = None if point.value is None or value is None else max(point.value, value)
            proven = (
                None
                if point.lower_bound is None or lower_bound is None
                else min(point.lower_bound, lower_bound)
            )
            return TracePoint(point.seconds, min(point.nodes, nodes), known, proven)

        return tuple(_thinned([*map(within, self._points), end], LONGEST))

    def _seconds(self) -> float:
        now = round(time.perf_counter() - self.began, 4)
        # a search that goes on after a pause counts its own seconds: rounded, they may be behind
        # those that are known
        return max(now, self._points[-1].seconds) if self._points else now


def _thinned(points: Sequence[TracePoint], most: int) -> list[TracePoint]:
    """A selection of so many points at most: the first, the last and new incumbents before changes
    of the bound alone."""
    if len(points) <= most:
        return list(points)
    ends = {0, len(points) - 1}
    improved = [n for n in range(1, len(points) - 1) if points[n].value != points[n - 1].value]
    rest = [n for n in range(1, len(points) - 1) if points[n].value == points[n - 1].value]
    kept = ends | set(_spread(improved, most - len(ends)))
    kept |= set(_spread(rest, most - len(kept)))
    return [points[n] for n in sorted(kept)]


def _spread(numbers: Sequence[int], most: int) -> Sequence[int]:
    """A selection of so many numbers at most, evenly."""
    if len(numbers) <= most:
        return numbers
    return [numbers[place * len(numbers) // most] for place in range(most)]
