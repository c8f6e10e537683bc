"""The clock of a call: what takes long asks it now and then, and ends when time is up.

It starts with the command, or in Python with the call, and runs for the ``--time-limit``. Whoever
can go on without an answer opens a region, `ending` or `finishing`; long loops within it, of
whatever layer, call `poll`, which raises `StoppedError` once that time is over. Outside such
regions nothing is interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from ithaca.files.errors import NothingFoundError

T = TypeVar("T")

#: Share of a time limit that is left to a call at least, however long the program took to start.
LEAST_SHARE = 0.5

#: Seconds, and share of a time limit, that what an answer needs may take after its end: bounds that
#: need no search. Each of them has a moment, at least (seconds).
GRACE, GRACE_SHARE, MOMENT = 0.5, 0.2, 0.1


class StoppedError(Exception):
    """Raised where work ends without an answer: time is up, or a stop is asked for; the message may
    say how far it was, and ``made`` hold what was made before, in order."""

    made: Sequence[Any] = ()


@dataclass
class _Ends:
    """The ends of a call's time, of its grace, and of that of all which needs no search."""

    time: float
    grace: float
    last: float | None = None


#: When the command began, until it is called; when the call is to end.
_began: ContextVar[float | None] = ContextVar("began", default=None)
_ends: ContextVar[_Ends | None] = ContextVar("ends", default=None)

#: Whether a stop is asked for, before time is over.
_stop: ContextVar[Callable[[], bool] | None] = ContextVar("stop", default=None)

#: Each says whether what is under way is to end; none where nobody could go on without it.
_over: ContextVar[tuple[Callable[[], bool], ...]] = ContextVar("over", default=())


@contextmanager
def beginning() -> Iterator[None]:
    """Let the clock start now: the first call meanwhile counts from here."""
    token = _began.set(time.perf_counter())
    try:
        yield
    finally:
        _began.reset(token)


@contextmanager
def running(seconds: float | None) -> Iterator[None]:
    """Let the clock run for so many seconds since the command began, or else from now on; one that
    runs already goes on, for no longer than that."""
    before = _ends.get()
    if seconds is None:
        yield
        return
    now, began = time.perf_counter(), _began.get()
    own = now + seconds if began is None else max(began + seconds, now + LEAST_SHARE * seconds)
    inner = before is not None and before.time <= own
    ends = before if inner else _Ends(own, own + GRACE + GRACE_SHARE * seconds)
    tokens = _began.set(None), _ends.set(ends)
    try:
        yield
    finally:
        _began.reset(tokens[0])
        _ends.reset(tokens[1])


@contextmanager
def until(stop: Callable[[], bool]) -> Iterator[None]:
    """Let the call's time be over meanwhile as soon as ``stop`` says so."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def left() -> float | None:
    """Seconds that are left of the call's time; None: it has no end."""
    ends = _ends.get()
    return None if ends is None else max(ends.time - time.perf_counter(), 0.0)


def up() -> bool:
    """Whether the call's time is over, or a stop is asked for."""
    ends, stop = _ends.get(), _stop.get()
    return (stop is not None and stop()) or (ends is not None and time.perf_counter() >= ends.time)


def late() -> bool:
    """Whether the grace is over that all have together which is known without a search: it begins
    when this is first asked after the call's time."""
    ends, now = _ends.get(), time.perf_counter()
    if ends is None or now < ends.time:
        return False
    if ends.last is None:
        ends.last = max(ends.grace, now + GRACE)
    return now >= ends.last


@contextmanager
def ending(stop: Callable[[], bool] | None = None) -> Iterator[None]:
    """Let `poll` raise once the call's time is over, or ``stop`` says so."""
    outer = _over.get()
    own = outer if up in outer else (up, *outer)
    with _asking(own if stop is None else (*own, stop)):
        yield


@contextmanager
def finishing() -> Iterator[None]:
    """Let `poll` raise only after a moment beyond the call's time: for what an answer needs."""
    ends = _ends.get()
    own = time.perf_counter() + MOMENT
    last = None if ends is None else max(ends.last or ends.grace, own)
    with _asking(() if last is None else (lambda: time.perf_counter() >= last,)):
        yield


@contextmanager
def all_or_nothing(what: str, stop: Callable[[], bool] | None = None) -> Iterator[None]:
    """Let `poll` end work of which no part is an answer with `NothingFoundError`, once the call's
    time is over or ``stop`` says so: time was over before ``what``."""
    with ending(stop):
        try:
            yield
        except StoppedError as stopped:
            so_far = f": {stopped}" if str(stopped) else ""
            raise NothingFoundError(f"time was over before {what}{so_far}") from None


@contextmanager
def keeping(made: Callable[[], Sequence[Any]]) -> Iterator[None]:
    """Let `made_in_time` have what was made before the work within was ended."""
    try:
        yield
    except StoppedError as stopped:
        stopped.made = made()
        raise


def in_order(rows: Mapping[int, T]) -> list[T]:
    """The rows numbered 0, 1, 2 and so on, as far as none is missing."""
    return [rows[place] for place in takewhile(rows.__contains__, range(len(rows)))]


def made_in_time(make: Callable[[], Sequence[T]]) -> tuple[Sequence[T], bool]:
    """Make a sequence as far as time allows, and say whether it is whole; `StoppedError` if time
    was over before anything of it was made."""
    try:
        return make(), True
    except StoppedError as stopped:
        if not stopped.made:
            raise
        return stopped.made, False


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let `poll` never raise: for what would be left half done."""
    with _asking(()):
        yield


def poll() -> None:
    """End what is under way with `StoppedError` if its time is over: called in long loops, every
    few milliseconds."""
    for over in _over.get():
        if over():
            raise StoppedError


@contextmanager
def _asking(over: tuple[Callable[[], bool], ...]) -> Iterator[None]:
    token = _over.set(over)
    try:
        yield
    finally:
        _over.reset(token)
