"""Running many problems: what is kept, and what is solved again."""

import multiprocessing
import os
import signal
import time

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.solver import portfolio, schedule
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.solution import Solution
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.result import Failure
from ithaca.studies.network.runner import (
    Job,
    RunOptions,
    conditions,
    run_problems,
)
from ithaca.studies.store import Store
from ithaca.workloads.library import workload
from tests.studies.network.tiny import tiny_network, tiny_request


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Matrix multiplications under 6 designs each."""
    network = only_layers(tiny_network(tmp_path_factory.mktemp("network")), ["mm"])
    posed = tiny_request(space=SpaceOptions(divisors_only=True)).pose(network)
    return [Job(f"{part.layer.name} {p.design.name}", p) for part in posed for p in part.problems]


@pytest.fixture(scope="module")
def answers(jobs):
    return values(run_problems(jobs, RunOptions()))


def values(outcomes):
    """The figures of outcomes that must not depend on how problems were run."""
    assert all(isinstance(outcome, Solution) for outcome in outcomes)
    return [(o.value, o.configuration, o.certificate.status, o.certificate.nodes) for o in outcomes]


def kept(folder, search=None):
    return Store(folder, conditions=conditions(RunOptions(search=search or SolveOptions())))


def test_results_are_kept_one_by_one_and_never_computed_again(jobs, answers, tmp_path, monkeypatch):
    folder, seen = tmp_path / "kept", []

    def report(state):
        if state.progress is None:
            seen.append((state.done, len(list(folder.glob("*.json")))))

    assert (
        values(run_problems(jobs[:4], RunOptions(store=kept(folder), report=report))) == answers[:4]
    )
    assert seen[-1] == (4, 4)
    assert all(files == done for done, files in seen)
    solved = []
    advance = schedule.advance
    monkeypatch.setattr(
        schedule, "advance", lambda e, *rest: solved.append(e.course.problem) or advance(e, *rest)
    )
    assert values(run_problems(jobs, RunOptions(store=kept(folder)))) == answers
    assert solved == [j.problem for j in jobs[4:]]


def test_engine_gap_and_seed_tell_results_apart_but_not_the_time_limit(jobs, tmp_path):
    problem = [jobs[0].problem]
    stores = [
        kept(tmp_path),
        kept(tmp_path, SolveOptions(gap=0.1)),
        kept(tmp_path, SolveOptions(seed=1)),
        Store(tmp_path, conditions=conditions(RunOptions("cpsat"))),
    ]
    assert len({store.path(problem) for store in stores}) == 4
    assert kept(tmp_path, SolveOptions(time_limit=5)).path(problem) == stores[0].path(problem)
    assert stores[0].path(problem) != stores[0].path([jobs[1].problem])


def test_what_was_not_proven_is_solved_again_only_with_more_time(jobs, tmp_path, monkeypatch):
    asked = []
    solve = portfolio.solve_design

    def open_ended(problem, options, report, *, start, method):
        asked.append((options.time_limit, start is not None))
        found = solve(problem, SolveOptions(), report, start, Method.EXACT)
        certificate = found.certificate
        unproven = type(certificate)(
            Status.FEASIBLE, None, None, "exact", certificate.nodes, certificate.seconds
        )
        return Solution(problem, found.configuration, found.value, unproven)

    def run(number, search=None):
        run_problems(
            jobs[:number], RunOptions("nlp", search or SolveOptions(), store=kept(tmp_path))
        )

    monkeypatch.setattr(portfolio, "solve_design", open_ended)
    short, long = SolveOptions(time_limit=80.0), SolveOptions(time_limit=400.0)
    run(2, short)
    # the second gets what the first left
    assert asked[0] == (pytest.approx(40, abs=1), False)
    assert asked[1][0] == pytest.approx(80, abs=20)
    assert asked[1][0] >= 40
    run(2, short)
    assert len(asked) == 2
    run(1, long)
    assert asked[2] == (pytest.approx(400, abs=1), True)
    run(1)
    assert asked[3] == (None, True)
    run(1)
    assert len(asked) == 4  # with no limit it would end where it did


@pytest.mark.parametrize("threads", [1, 2])
def test_none_is_begun_when_time_is_up(jobs, monkeypatch, threads):
    monkeypatch.setattr(schedule, "advance", late)
    found = run_problems(
        jobs * 20, RunOptions(search=SolveOptions(time_limit=0.5), threads=threads)
    )
    reached = [o for o in found if isinstance(o, Failure)]
    assert len(reached) < len(found) / 2
    assert {o.certificate.status for o in found if isinstance(o, Solution)} == {Status.UNKNOWN}


def late(*rest, **more):
    """A search that cannot be as short as it was asked to."""
    time.sleep(0.1)
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "out of memory"),
        (ZeroDivisionError("a\nb"), "ZeroDivisionError: a b"),
        (InputError("no"), "no"),
    ],
)
def test_whatever_breaks_becomes_a_failure(
    jobs,
    answers,
    tmp_path,
    monkeypatch,
    error,
    reason,
):
    advance = schedule.advance

    def breaks(entry, *rest):
        if entry.course.problem is jobs[0].problem:
            raise error
        return advance(entry, *rest)

    monkeypatch.setattr(schedule, "advance", breaks)
    states = []
    found = run_problems(jobs[:2], RunOptions(store=kept(tmp_path), report=states.append))
    assert found[0] == Failure(jobs[0].place, reason, refused=isinstance(error, InputError))
    assert values(found[1:]) == answers[1:2]
    assert (states[-1].done, states[-1].failed, states[-1].total) == (2, 1, 2)
    assert len(list(tmp_path.iterdir())) == 1  # failures are not kept


def test_no_problems_need_nothing():
    assert run_problems([], RunOptions(threads=2)) == ()
    assert run_problems([], RunOptions(threads=2, scheduler="local")) == ()


def test_processes_find_the_same_though_one_is_killed(jobs, answers, tmp_path):
    killed = False

    def report(state):
        nonlocal killed
        if state.done == 3 and not killed:
            killed = True
            os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)

    options = RunOptions(threads=2, store=kept(tmp_path), report=report)
    assert values(run_problems(jobs, options)) == answers
    assert killed
    assert len(list(tmp_path.glob("*.json"))) == len(jobs)


def test_stopped_processes_end_with_what_they_have(tmp_path):
    (part,) = tiny_request().pose(only_layers(tiny_network(tmp_path), ["wide"]))
    nest = workload("mm", {"i": 1000, "j": 900, "k": 800})
    hard = [Job("hard", p.with_design(nest=nest)) for p in part.problems]
    told = []

    def report(
        state,
    ):  # as soon as a search tells something: none is over that early
        told.extend([state] if state.progress is not None else [])

    search = SolveOptions(stop=lambda: bool(told))
    found = run_problems(
        hard,
        RunOptions("cpsat", search, threads=2, store=kept(tmp_path / "kept"), report=report),
    )
    assert told
    assert {o.certificate.status for o in found if isinstance(o, Solution)} <= {
        Status.FEASIBLE,
        Status.UNKNOWN,
    }
    assert not list(
        (tmp_path / "kept").glob("*.json")
    )  # they have not gone as far as they were asked to
