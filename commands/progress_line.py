"""The live line of a running solve, on stderr when it is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING

from ithaca.solver.certificate import relative_gap
from ithaca.solver.progress import Progress
from ithaca.solver.solution import Solution

if TYPE_CHECKING:
    from rich.status import Status

#: Seconds between updates.
PERIOD = 0.1


class ProgressLine:
    """Shows incumbent, bound, gap, boxes and seconds; silent where stderr is no terminal.

    Parameters
    ----------
    names : sequence of str
        The designs solved.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._done = 0
        self._last = 0.0
        self._status: Status | None = None

    def __enter__(self) -> ProgressLine:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("deriving tables", refresh_per_second=10)
            self._status.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._status is not None:
            self._status.stop()

    def report(self, index: int, progress: Progress) -> None:
        """Show the state of one design's search."""
        now = time.perf_counter()
        if self._status is None or now - self._last < PERIOD:
            return
        self._last = now
        gap = relative_gap(progress.value, progress.lower_bound)
        self._status.update(
            f"{self._done}/{len(self._names)} designs · {self._names[index].replace('[', chr(92) + '[')} · "
            f"incumbent {_number(progress.value)} · bound {_number(progress.lower_bound)} · "
            f"gap {'–' if gap is None else f'{gap:.2%}'} · {progress.boxes:,} boxes · {progress.seconds:.1f} s"
        )

    def finished(self, index: int, solution: Solution) -> None:
        """Count a design that is done."""
        self._done += 1


def _number(value: Fraction | None) -> str:
    return "–" if value is None else f"{float(value):,.2f}".rstrip("0").rstrip(".")
