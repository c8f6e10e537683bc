"""The reaction to SIGINT and SIGTERM, the same in every command.

The first one raises `KeyboardInterrupt`, except where somebody looks for it: a search asks its
`Interrupt` and ends with what it has; libraries with locks of their own (xarray, HDF5, Dask) are
left alone until they are done (`deferred`), since an exception within the taking of a lock would
leave it taken for ever, and are asked between steps (`check`). The second one ends the process at
once; nothing half-written is left behind.

In a process that is not the program's own, such as a notebook's, handlers are put back as soon as a
function of `ithaca` is done, only SIGINT is looked at, and a second one raises `KeyboardInterrupt`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import NoReturn

#: Exit status of an interrupted process; what shells say of any interrupted program.
INTERRUPTED = 130

#: File descriptor of standard error.
STDERR = 2

SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: Ends what a live line began: it is cleared, and the cursor shown.
_CLEAR = b"\r\x1b[2K\x1b[?25h"


class _State:
    """The signals that came, the searches that ask for them, and the regions that defer them."""

    def __init__(self) -> None:
        #: Whether one came, and another; whether the process is not the program's own.
        self.came = self.again = self.guest = False
        #: How many searches ask for the first one, regions have it wait for their end, and have
        #: even the second wait.
        self.asking = self.deferred = self.unbroken = 0
        self.undo: list[Callable[[], None]] = []  #: What to do before the process ends at once


_state = _State()


def install() -> None:
    """Handle signals from now on, except those ignored from outside (nohup, shells)."""
    _state.came = _state.again = False
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


def settle() -> None:
    """Ignore Ctrl-C from now on: the answer is out, and Python would end with a kill."""
    if signal.getsignal(signal.SIGINT) is _handle:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def came() -> bool:
    """Whether there was a signal."""
    return _state.came


def check() -> None:
    """Raise `KeyboardInterrupt` if there was a signal: for places where no lock is held."""
    if _state.came:
        raise KeyboardInterrupt


#: Whether a host that hears of the progress of what it called wants it to end.
unwanted: ContextVar[Callable[[], bool]] = ContextVar("unwanted", default=lambda: False)


class Interrupt:
    """A context in which a signal does nothing but answer whoever asks; as does that a host has had
    enough."""

    def __init__(self) -> None:
        self._active = ExitStack()
        self._came = False
        self._unwanted = unwanted.get()  # now: others may ask in threads of their own

    def __enter__(self) -> Interrupt:
        self._active.enter_context(_handled())
        self._active.enter_context(_counted(asking=_state.asking + 1))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._came = _state.came
        self._active.close()

    def __call__(self) -> bool:
        return _state.came or self._came or self._unwanted()


@contextmanager
def deferred() -> Iterator[None]:
    """Let a signal wait for the end of what has locks of its own; then it raises
    `KeyboardInterrupt`, unless a search asks."""
    with _handled():
        with _counted(deferred=_state.deferred + 1):
            yield
        if not _state.asking:
            check()


@contextmanager
def at_once() -> Iterator[None]:
    """Let a signal raise `KeyboardInterrupt` even if somebody asks: what runs here never does, and
    no part of it is of use."""
    with _handled():
        check()
        with _counted(asking=0, deferred=0):
            yield


@contextmanager
def undone(undo: Callable[[], None]) -> Iterator[None]:
    """Name what to do should a second signal end the process meanwhile."""
    _state.undo.append(undo)
    try:
        yield
    finally:
        _state.undo.remove(undo)


@contextmanager
def unbroken() -> Iterator[None]:
    """Let even a second signal wait: for the few steps that must all be done, or none."""
    _state.unbroken += 1
    try:
        with deferred():
            yield
    finally:
        _state.unbroken -= 1
        if _state.again:
            _stop()


@contextmanager
def _handled() -> Iterator[None]:
    """Handle signals meanwhile, where they are not anyway."""
    handled = any(signal.getsignal(number) is _handle for number in SIGNALS)
    if handled or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    _state.came = _state.again = False
    if before is None or before is signal.SIG_IGN:  # not Python's to put back, or not to be heard
        yield
        return
    _state.guest = True
    signal.signal(signal.SIGINT, _handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _state.came = _state.again = _state.guest = False


@contextmanager
def _counted(**regions: int) -> Iterator[None]:
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # signals come to the main thread only
        yield
        return
    before = {name: getattr(_state, name) for name in regions}
    vars(_state).update(regions)
    try:
        yield
    finally:
        vars(_state).update(before)


def _handle(number: int, frame: FrameType | None) -> None:
    if _state.came:
        _state.again = True
        if not _state.unbroken:
            _stop()
    else:
        _state.came = True
        if not (_state.asking or _state.deferred):
            raise KeyboardInterrupt


def _stop() -> NoReturn:
    if _state.guest:
        raise KeyboardInterrupt
    _end()


def _end() -> NoReturn:
    for undo in (*reversed(_state.undo), _unlink_semaphores):
        with suppress(Exception):
            undo()
    with suppress(OSError):
        os.write(STDERR, (_CLEAR if os.isatty(STDERR) else b"") + b"ithaca: interrupted\n")
    os._exit(INTERRUPTED)


def _unlink_semaphores() -> None:
    """Unlink semaphores here: the process of `multiprocessing` names each on stderr."""
    util, synchronize = (
        sys.modules.get(f"multiprocessing.{name}") for name in ("util", "synchronize")
    )
    if util is not None and synchronize is not None:
        for last in list(util._finalizer_registry.values()):
            if last._callback is synchronize.SemLock._cleanup:
                last()
