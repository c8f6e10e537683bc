"""The progress bar of a running network, on stderr when it is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from ithaca.commands.progress_line import PERIOD
from ithaca.formulations.shown_numbers import number
from ithaca.studies.network.runner import RunState

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class NetworkProgress:
    """Shows how many problems of the whole network are done, and what is solved now; silent where stderr is no terminal."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._last = 0.0

    def __enter__(self) -> NetworkProgress:
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            bar, count = progress.BarColumn(), progress.MofNCompleteColumn()
            spent, left = progress.TimeElapsedColumn(), progress.TimeRemainingColumn()
            place = progress.TextColumn("{task.description}")
            self._bar = progress.Progress(bar, count, spent, left, place, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("deriving designs", total=None)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def report(self, state: RunState) -> None:
        """Show how far the run is."""
        now = time.perf_counter()
        if self._bar is None or self._task is None or (now - self._last < PERIOD and state.done < state.total):
            return
        self._last = now
        text = state.place.replace("[", "\\[")
        if state.progress is not None:
            text += f" · incumbent {number(state.progress.value)} · bound {number(state.progress.lower_bound)}"
        if state.failed:
            text += f" · {state.failed} failed"
        self._bar.update(self._task, completed=state.done, total=state.total, description=text)
