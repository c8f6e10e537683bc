"""Opens what runs jobs: in this process, in several, or on a cluster."""

from __future__ import annotations

from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.solver.executor import Executor, InProcess

#: What makes executors of the address of a scheduler, and threads.
EXECUTORS: Registry[Any] = Registry("executors")


def open_executor(threads: int = 1, scheduler: str | None = None) -> Executor:
    """An executor that runs so many jobs at a time: beyond 1 in processes of their own, or on a
    Dask cluster.

    ``scheduler`` is the address of its scheduler, refused if there is none; ``local`` starts one on
    this machine.
    """
    if scheduler is not None:
        if not EXECUTORS:
            raise InputError(
                f"--scheduler is {scheduler!r}, and no plug-in that is installed runs searches "
                "elsewhere; allowed: --threads"
            )
        made: Executor = next(iter(EXECUTORS.values()))(scheduler, threads)
        return made
    if threads <= 1:
        return InProcess()
    from ithaca.solver.processes import Processes

    return Processes(threads)
