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
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent is killed: it would wait for problems for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
