"""The live line of whatever runs: on stderr where that is a terminal, in a notebook in the output
of the cell."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ithaca.files.clock import left, until
from ithaca.files.extras import installed
from ithaca.files.messages import escaped, printable
from ithaca.files.numbers import number
from ithaca.files.signals import Interrupt, unwanted

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from ithaca.solver.options import SolveOptions
    from ithaca.solver.progress import Progress
    from ithaca.solver.solution import Solution

#: Seconds between updates while a search runs: on a terminal, and in a notebook, where the first
#: comes after so long.
PERIOD, CELL_PERIOD = 0.1, 0.5


def tell(line: str) -> None:
    """Say a line on stderr."""
    print(printable(line), file=sys.stderr)


def note(line: str) -> None:
    """Say something on stderr that changes nothing."""
    tell(f"ithaca: {line}")


def note_missing_engines(*, settled: bool) -> None:
    """Say which packages would have helped a search that did not get to its end."""
    if not settled and not installed("cyipopt", "ortools"):
        note('engines that help long searches are missing: pip install "ithaca[solvers]"')


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search, as ``progress`` hears it.

    Examples
    --------
    >>> heard = []
    >>> r = ithaca.solve("mm", i=64, j=64, k=64, progress=heard.append)
    >>> all(isinstance(each, ithaca.SearchProgress) for each in heard)
    True
    """

    doing: str
    """The design, layer or point that is searched now."""
    value: Fraction | None
    """The best objective so far, over all designs of a workload; else of what is searched now."""
    lower_bound: Fraction | None
    """No configuration has a smaller one."""
    seconds: float
    """Since the call."""
    done: int
    """Designs, layers or points that are done."""
    total: int | None
    """The number of all, where that is known."""


#: Hears of progress; what it answers says whether to stop.
Hear = Callable[[SearchProgress], object]


class Listener:
    """Passes progress on until whoever hears it wants no more: by a true answer, or an error."""

    def __init__(self, hear: Hear) -> None:
        self.stopped = False
        self._hear, self._began = hear, time.perf_counter()
        self._value: Fraction | None = None
        self._last = -PERIOD

    def tell(
        self,
        doing: str,
        value: Fraction | None,
        bound: Fraction | None,
        done: int,
        total: int | None,
    ) -> None:
        """Pass on a new incumbent at once, all else now and then.

        Parameters
        ----------
        doing : str
            The design, layer or point that is searched.
        value : Fraction or None
            The best objective so far.
        bound : Fraction or None
            No configuration has a smaller one.
        done : int
            Designs, layers or points that are done.
        total : int or None
            Of how many.
        """
        seconds = time.perf_counter() - self._began
        soon = seconds - self._last < PERIOD and done != total
        if self.stopped or (value == self._value and soon):
            return
        self._value, self._last = value, seconds
        try:
            self.stopped = bool(
                self._hear(SearchProgress(doing, value, bound, seconds, done, total))
            )
        except Exception as error:
            self.stopped = True
            note(
                f"progress raised {type(error).__name__}: {error}; the search ends with what it has"
            )


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard(hear: Hear | None) -> Iterator[None]:
    """Tell of the progress of all that is searched meanwhile."""
    if hear is None:
        yield
        return
    listener = Listener(hear)
    tokens = _listener.set(listener), unwanted.set(lambda: listener.stopped)
    try:
        yield
    finally:
        _listener.reset(tokens[0])
        unwanted.reset(tokens[1])


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


@contextmanager
def searching(
    begin: str, options: SolveOptions, names: Sequence[str] = (), *, rivals: bool = True
) -> Iterator[tuple[SolveOptions, LiveLine]]:
    """A search that a signal ends: its options that say so, and the line that shows how far it is.

    Parameters
    ----------
    begin : str
        What happens before the search.
    options : SolveOptions
        How far to search.
    names : sequence of str, optional
        The designs that are counted.
    rivals : bool, optional
        Whether only the best of them matters.
    """
    with Interrupt() as interrupt, LiveLine(begin, names, rivals=rivals) as line, until(interrupt):
        yield replace(options.at_most(left()), stop=interrupt), line


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class LiveLine:
    """Shows how much is done, what is solved now, and how far that is; ``begin`` is what happens
    before.

    Where designs are what is counted, ``names`` are theirs, and `report` and `finished` take their
    numbers; ``rivals`` says that only the best of them matters.
    """

    def __init__(self, begin: str, names: Sequence[str] = (), *, rivals: bool = True) -> None:
        self._begin, self._rivals = begin, rivals
        self._names = names
        self._done = 0
        self._last = 0.0
        self._listener = _listener.get()
        self._known: dict[int, tuple[Fraction | None, Fraction | float | None]] = {}
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
        as known.

        Parameters
        ----------
        text : str
            What is done.
        progress : Progress, optional
            Incumbent, bound and boxes of the search.
        done : int, optional
            How many are done.
        total : int, optional
            Of how many; None: that is not known.
        """
        if self._listener is not None and progress is not None:
            value, bound = progress.value, progress.lower_bound
            known = self._whole if self._known and self._rivals else (value, bound)
            self._listener.tell(text, *known, done, total)
        now = time.perf_counter()
        if self._cell is not None:
            if now - self._last < CELL_PERIOD:
                return
        elif self._bar is None or (progress is not None and now - self._last < PERIOD):
            return
        self._last = now if progress is not None or self._cell is not None else 0.0
        if progress is not None:
            from ithaca.solver.certificate import relative_gap

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

    @property
    def _whole(self) -> tuple[Fraction | None, Fraction | None]:
        """The best over all designs, and the bound where each has one."""
        values = [value for value, _ in self._known.values() if value is not None]
        bounds = [bound for _, bound in self._known.values()]
        least = min([*(bound for bound in bounds if bound is not None), *values], default=inf)
        known = len(bounds) == len(self._names) and None not in bounds
        bound = least if known and isinstance(least, Fraction) else None
        return min(values, default=None), bound

    def report(self, index: int, progress: Progress) -> None:
        """Show the search of a design."""
        self._known[index] = progress.value, progress.lower_bound
        self.show(self._names[index], progress, done=self._done, total=len(self._names))

    def finished(self, index: int, solution: Solution) -> None:
        """Count a design that is done."""
        self._done += 1
        proof = solution.certificate
        self._known[index] = solution.value, inf if proof.empty else proof.lower_bound
        if self._listener is not None and self._rivals:
            self._listener.tell(self._names[index], *self._whole, self._done, len(self._names))
