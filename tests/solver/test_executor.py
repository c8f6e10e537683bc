"""Many solves: what comes of each does not depend on where it runs, and no process outlives its
parent."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from ithaca.files.errors import InputError
from ithaca.solver.executor import InProcess, KilledError
from ithaca.solver.options import SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.processes import Processes
from tests.problems import mm_problem
from tests.solver.jobs import Deadly, die, double, linger, refuse, report_process, until_stopped


def plain(unfinished):
    return SolveOptions()


@pytest.fixture(params=["in this process", "processes"])
def executor(request):
    with InProcess() if request.param == "in this process" else Processes(2) as found:
        yield found


def test_outcomes_and_progress_are_the_same_everywhere(executor):
    told = []
    jobs = [partial(double, n) for n in range(5)]
    outcomes = dict(
        executor.run(jobs, plain, lambda index, progress: told.append((index, progress.value)))
    )
    assert outcomes == {n: 2 * n for n in range(5)}
    assert sorted(told) == [(n, n) for n in range(5)]


def test_errors_are_outcomes_and_stop_nothing(executor):
    outcomes = dict(executor.run([partial(refuse, "no"), partial(double, 4)], plain))
    assert isinstance(outcomes[0], InputError)
    assert str(outcomes[0]) == "no"
    assert outcomes[1] == 8


def test_a_stop_ends_what_runs_and_begins_no_more(executor, tmp_path):
    begun = tmp_path / "begun"
    jobs = [partial(until_stopped, str(begun))] * 6
    outcomes = dict(executor.run(jobs, lambda unfinished: SolveOptions(stop=begun.exists)))
    assert 1 <= len(outcomes) <= 2 * executor.width
    assert set(outcomes.values()) == {"what it has"}
    assert dict(executor.run([partial(double, 2)], plain)) == {0: 4}


def test_a_run_that_nobody_follows_any_more_ends(tmp_path):
    with Processes(2) as executor:
        first = executor.run(
            [partial(double, 1), partial(until_stopped, str(tmp_path / "begun"))], plain
        )
        assert next(first) == (0, 2)
        first.close()
        assert dict(executor.run([partial(double, 2)], plain)) == {0: 4}


def test_a_job_that_kills_its_process_fails_alone():
    jobs = [partial(double, 1), die, partial(double, 3), partial(double, 4)]
    with Processes(2) as executor:
        outcomes = dict(executor.run(jobs, plain))
        assert dict(executor.run([partial(double, 5)], plain)) == {
            0: 10
        }  # by processes started anew
    assert isinstance(outcomes.pop(1), KilledError)
    assert outcomes == {0: 2, 2: 6, 3: 8}


def test_an_idle_process_that_is_killed_holds_up_nothing(tmp_path):
    """The idle process dies with the lock of the queue that all processes take their jobs from."""
    with Processes(2) as executor:
        jobs = [partial(linger, 2.0), partial(report_process, str(tmp_path / "idle"))]

        def share(unfinished):
            idle = tmp_path / "idle"
            if idle.exists() and not (tmp_path / "killed").exists():
                time.sleep(0.5)  # it waits for a job again
                os.kill(int(idle.read_text()), signal.SIGKILL)
                (tmp_path / "killed").touch()
            return SolveOptions()

        seen = {}

        def follow():
            seen.update(executor.run(jobs, share))

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        follower.join(60)
        assert not follower.is_alive()
        assert seen == {0: 2.0, 1: None}


def test_a_design_that_kills_its_process_says_that_memory_is_out():
    problems = [mm_problem((8, 8, 8)), mm_problem((4, 4, 4))]
    vars(problems[1])["deadly"] = Deadly()
    with pytest.raises(MemoryError):
        solve_designs(problems, threads=2)


PARENT = """
import multiprocessing, time
from ithaca.solver.processes import begin_child

def child(queue):
    begin_child()
    import os
    queue.put(os.getpid())
    time.sleep(600)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    context.Process(target=child, args=(queue,)).start()
    print(queue.get(), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look at processes")
def test_a_worker_ends_with_its_killed_parent(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert alive(worker)
    parent.kill()
    parent.wait()
    for _ in range(300):
        if not alive(worker):
            return
        time.sleep(0.1)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker outlived its parent by 30 seconds")


def alive(process):
    """Whether a process runs; one that has ended but whom nobody asked for its status does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"
