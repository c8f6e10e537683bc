"""How a worker process begins: deaf to signals, and gone when its parent is."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading


def begin_child() -> None:
    """Prepare this process, started by `multiprocessing`, to work for its parent alone."""
    # signals reach the whole process group; the parent decides and tells the others
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end when its parent is killed: it would wait for problems for ever."""
    threading.Thread(target=_await_parent, daemon=True).start()


def _await_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
