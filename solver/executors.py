"""Opens what runs jobs: in this process, in several, or on a cluster."""

from __future__ import annotations

from ithaca.solver.executor import Executor, InProcess


def open_executor(threads: int = 1, scheduler: str | None = None) -> Executor:
    """An executor that runs so many jobs at a time: beyond 1 in processes of their own, or on a
    Dask cluster.

    ``scheduler`` is the address of its scheduler, refused if there is none; ``local`` starts one on
    this machine.
    """
    if scheduler is not None:
        from ithaca.solver.cluster import Cluster

        return Cluster(scheduler, threads)
    if threads <= 1:
        return InProcess()
    from ithaca.solver.processes import Processes

    return Processes(threads)
