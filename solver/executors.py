"""Opens what runs jobs: in this process, in several, or on a cluster."""

from __future__ import annotations

from ithaca.solver.executor import Executor, InProcess, Processes


def open_executor(threads: int = 1, scheduler: str | None = None) -> Executor:
    """An executor that runs so many jobs at a time: beyond 1 in processes of their own, or on a
    Dask cluster.

    ``scheduler`` is the address of its scheduler, refused if there is none; ``local`` starts one on
    this machine.
    """
    if scheduler is not None:
        from ithaca.solver.cluster import Cluster

        return Cluster(scheduler, threads)
    return InProcess() if threads <= 1 else Processes(threads)
