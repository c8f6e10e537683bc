"""The live line of whatever runs: on stderr where that is a terminal, in a notebook in the output
of the cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ithaca.files.messages import escaped, printable
from ithaca.files.numbers import number
from ithaca.solver.certificate import relative_gap

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from ithaca.solver.progress import Progress

#: Seconds between updates while a search runs: on a terminal, and in a notebook, where the first
#: comes after so long.
PERIOD, CELL_PERIOD = 0.1, 0.5


def tell(line: str) -> None:
    """Say a line on stderr."""
    print(printable(line), file=sys.stderr)


def note(line: str) -> None:
    """Say something on stderr that changes nothing."""
    tell(f"ithaca: {line}")


class _Cell:
    """A line in the output of a notebook's cell, which needs no widgets; in the end it is empty."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)

    def close(self) -> None:
        if self._handle is not None:
            self.show("")


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class LiveLine:
    """Shows how much is done, what is solved now, and how far that is; ``begin`` is what happens
    before.

    Where designs are what is counted, ``names`` are theirs, and `report` and `finished` take their
    numbers.
    """

    def __init__(self, begin: str, names: Sequence[str] = ()) -> None:
        self._begin = begin
        self._names = names
        self._done = 0
        self._last = 0.0
        self._bar: Bar | None = None
        self._cell: _Cell | None = None

    def __enter__(self) -> LiveLine:
        if _in_notebook():
            self._cell, self._last = _Cell(), time.perf_counter()
        elif sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn

            text = TextColumn("{task.description}", markup=False)
            self._bar = Progress(
                SpinnerColumn(), text, console=Console(stderr=True), transient=True
            )
            self._bar.add_task(self._begin, total=None)
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._cell is not None:
            self._cell.close()

    def show(
        self,
        text: str,
        progress: Progress | None = None,
        *,
        done: int = 0,
        total: int | None = None,
    ) -> None:
        """Show what is solved now, how far its search is, and how many of how many are done, as far
        as known."""
        now = time.perf_counter()
        if self._cell is not None:
            if now - self._last < CELL_PERIOD:
                return
        elif self._bar is None or (progress is not None and now - self._last < PERIOD):
            return
        self._last = now if progress is not None or self._cell is not None else 0.0
        if progress is not None:
            gap = relative_gap(progress.value, progress.lower_bound)
            text += (
                f" · incumbent {number(progress.value)} · bound {number(progress.lower_bound)} · "
                f"gap {'–' if gap is None else f'{gap:.2%}'} · {progress.boxes:,} "
                f"boxes · {progress.seconds:.1f} s"
            )
        if self._cell is not None:
            self._cell.show(text if total is None else f"{done} of {total} · {text}")
        elif self._bar is not None:
            self._draw(self._bar, text, done, total)

    def _draw(self, bar: Bar, text: str, done: int, total: int | None) -> None:
        (task,) = bar.tasks
        if total is not None and task.total is None:
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            counted = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
            bar.columns = (*counted, bar.columns[-1])
        bar.update(task.id, description=escaped(text), completed=done, total=total)

    def report(self, index: int, progress: Progress) -> None:
        """Show the search of a design."""
        self.show(self._names[index], progress, done=self._done, total=len(self._names))

    def finished(self, index: int, solution: object) -> None:
        """Count a design that is done."""
        self._done += 1
