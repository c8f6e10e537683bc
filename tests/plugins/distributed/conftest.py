"""A cluster of two workers, and the jobs that they do."""

import pytest

from tests.studies.network.test_runner import answers, jobs

__all__ = ["answers", "jobs"]


@pytest.fixture
def cluster():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as local:
        yield local
