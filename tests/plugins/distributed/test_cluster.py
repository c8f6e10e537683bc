"""Searches on a cluster: as on one machine, though workers are killed."""

import os
import signal
import threading
import time

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.systolic.derivation import derive
from ithaca.plugins.distributed.solver import cluster as cluster_module
from ithaca.plugins.distributed.solver.cluster import Cluster
from ithaca.solver.certificate import Status
from ithaca.solver.executor import InProcess
from ithaca.solver.options import SolveOptions
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.result import Failure
from ithaca.studies.network.runner import Job, RunOptions, run_problems
from ithaca.workloads.library import workload
from tests.problems import mm_problem
from tests.solver.test_splitting import Watched, certified, split
from tests.studies.network.test_runner import kept, values
from tests.studies.network.tiny import tiny_network, tiny_request


@pytest.mark.parametrize("address", ["foo", "tcp://localhost", "tcp://a b:1"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(
        InputError,
        match=f"--scheduler is '{address}'; allowed: local, or an address such as tcp://host:8786",
    ):
        run_problems([], RunOptions(scheduler=address))


def test_a_scheduler_that_does_not_answer_is_refused():
    with pytest.raises(InputError, match="allowed: the address of a running Dask scheduler"):
        run_problems([], RunOptions(scheduler="tcp://127.0.0.1:9"))


def test_a_cluster_finds_the_same_though_a_worker_is_killed(cluster, jobs, answers, tmp_path):
    pids = [nanny.pid for nanny in cluster.workers.values()]
    killed = threading.Event()

    def report(state):
        if state.done >= 3 and not killed.is_set():
            killed.set()
            os.kill(pids[0], signal.SIGKILL)

    options = RunOptions(scheduler=cluster.scheduler_address, store=kept(tmp_path), report=report)
    assert values(run_problems(jobs, options)) == answers
    assert killed.is_set()
    assert len(list(tmp_path.glob("*.json"))) == len(jobs)


def test_a_cluster_of_this_machine_finds_the_same(jobs, answers):
    assert values(run_problems(jobs, RunOptions(threads=2, scheduler="local"))) == answers


def test_a_problem_that_kills_its_worker_fails_alone(cluster, jobs, answers, monkeypatch):
    victim, work = jobs[1], cluster_module.work

    def deadly(job, *rest):
        if job.args[0].course.problem.design == victim.problem.design:
            os._exit(1)
        return work(job, *rest)

    monkeypatch.setattr(cluster_module, "work", deadly)
    cluster.scheduler.allowed_failures = 1
    results = run_problems(jobs[:6], RunOptions(scheduler=cluster.scheduler_address))
    assert results[1] == Failure(victim.place, "its process was killed each time; out of memory?")
    assert values([results[0], *results[2:]]) == [answers[0], *answers[2:6]]


def test_a_stop_reaches_a_search_on_a_worker(cluster, tmp_path):
    from distributed import Client

    # CP-SAT takes minutes for it
    nest = workload("mm", {"i": 1000, "j": 900, "k": 800})
    (part,) = tiny_request().pose(only_layers(tiny_network(tmp_path), ["wide"]))
    hard = part.problems[0].with_design(nest=nest, array=derive(nest, ("i", "j"), "C"))
    began = time.monotonic()
    search = SolveOptions(stop=lambda: time.monotonic() - began > 6)
    (found,) = run_problems(
        [Job("hard", hard)], RunOptions("cpsat", search, scheduler=cluster.scheduler_address)
    )
    assert found.certificate.status is Status.UNKNOWN

    def searching():
        """Whether a thread of this process still searches."""
        import sys

        def calls(frame):
            return [] if frame is None else [frame.f_code.co_name, *calls(frame.f_back)]

        return any("attempt" in calls(top) for top in sys._current_frames().values())

    with Client(cluster, set_as_default=False) as client:
        for _ in range(75):
            if not any(client.run(searching).values()):
                return
            time.sleep(0.2)
    pytest.fail("the search goes on after 15 s")


def test_a_cluster_comes_to_the_same_though_a_worker_is_killed(cluster):
    """The first worker has what all tasks need; it is killed with that."""
    problem = mm_problem((64, 64, 64), objective="edp")
    processes = [nanny.pid for nanny in cluster.workers.values()]
    with Cluster(cluster.scheduler_address, 1) as executor:

        class Killing(Watched):
            def run(self, jobs, share, tell=None):
                for outcome in executor.run(jobs, share):
                    if processes:
                        os.kill(processes.pop(0), signal.SIGKILL)
                    yield outcome

        assert certified(split(problem, Killing())) == certified(split(problem, InProcess()))
    assert not processes
