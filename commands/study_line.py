"""The live line of a running study, on stderr when it is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from ithaca.commands.progress_line import PERIOD
from ithaca.formulations.shown_numbers import number
from ithaca.solver.progress import Progress

if TYPE_CHECKING:
    from rich.status import Status


class StudyLine:
    """Shows what a study is at; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._last = 0.0

    def __enter__(self) -> StudyLine:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("building problems", refresh_per_second=10)
            self._status.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, done: str, place: str, progress: Progress) -> None:
        """Show how much is done, what is solved now, and how far that is."""
        now = time.perf_counter()
        if self._status is None or now - self._last < PERIOD:
            return
        self._last = now
        self._status.update(
            f"{done} · {place.replace('[', chr(92) + '[')} · incumbent {number(progress.value)} · "
            f"bound {number(progress.lower_bound)} · {progress.boxes:,} boxes · {progress.seconds:.1f} s"
        )
