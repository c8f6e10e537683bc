"""One search in tasks: what comes of it depends neither on how many workers there are nor on what
becomes of them."""

import os
import signal
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.solver import portfolio
from ithaca.solver.enumeration.engine import solve_enumeration
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.exact.search import Search, SearchState
from ithaca.solver.executor import Executor, InProcess, LostError, Sharing
from ithaca.solver.options import SolveOptions, never
from ithaca.solver.processes import KEPT, Processes
from ithaca.solver.splitting import Helpers
from ithaca.solver.tables.frame import build_model
from tests.problems import MM_DATAFLOWS, mm_problem
from tests.solver.jobs import Loaded, loaded_in

#: Small enough that even small searches have many tasks.
SPLIT = {"enough": 0, "slice": 100}

#: Questions with one optimum, plateaus, wide gaps, or nothing that fits.
QUESTIONS = (
    mm_problem((24, 30, 17)),
    mm_problem((64, 64, 64), objective="edp"),
    mm_problem((20, 20, 20), ("j", "k"), objective="off_chip_words"),
    mm_problem((16, 16, 16), objective="latency*bram18k*off_chip_words"),
    mm_problem((8, 8, 8), dsp="4"),
)


def certified(solution):
    """All that a solution states but how long it took."""
    proof = solution.certificate
    return (
        *(solution.value, solution.configuration, proof.status, proof.lower_bound),
        *(proof.ties_broken, proof.method, proof.nodes),
    )


def split(problem, executor, **options):
    return solve_exact(problem, SolveOptions(helpers=Helpers(executor, **SPLIT), **options))


@pytest.fixture(scope="module", params=[2, 3])
def processes(request):
    with Processes(request.param) as executor:
        yield executor


@st.composite
def drawn(draw):
    """Small products under tight limits."""
    sizes = tuple(draw(st.integers(2, 12)) for _ in range(3))
    objective = draw(st.sampled_from(("latency", "edp", "off_chip_words", "latency*bram18k")))
    limits = {"dsp": str(draw(st.integers(5, 200))), "bram18k": str(draw(st.integers(4, 60)))}
    return mm_problem(sizes, draw(st.sampled_from(MM_DATAFLOWS)), objective=objective, **limits)


@settings(max_examples=20)
@given(drawn())
def test_tasks_find_what_enumeration_does(problem):
    solution, other = split(problem, InProcess()), solve_enumeration(problem)
    assert solution.value == other.value
    assert solution.configuration == other.configuration
    assert solution.certificate.status is other.certificate.status
    assert solution.certificate.lower_bound == other.certificate.lower_bound


@pytest.mark.parametrize("problem", QUESTIONS, ids=range(len(QUESTIONS)))
def test_any_number_of_workers_comes_to_the_same(problem, processes):
    alone, whole = split(problem, InProcess()), solve_exact(problem)
    assert certified(split(problem, processes)) == certified(alone)
    assert certified(alone)[:6] == certified(whole)[:6]


@pytest.mark.parametrize("problem", QUESTIONS[:4], ids=range(4))
def test_all_that_tasks_leave_open_is_searched(problem, monkeypatch):
    """Nothing is known at first, and of few boxes a batch, so that a task leaves many open."""
    optimum = solve_exact(problem).value
    monkeypatch.setattr(Search, "batch", 16)
    for most in (50, 300, 2000):
        options = SolveOptions(helpers=Helpers(InProcess(), 0, most))
        state = Search(build_model(problem, never), options).run()
        assert (state.value, state.lower_bound) == (optimum, optimum)


class Watched(InProcess):
    """Counts its runs and jobs, and the largest that it is given."""

    def __init__(self):
        self.runs = []

    def run(self, jobs, share, tell=None):
        self.runs.append(len(jobs))
        return super().run(jobs, share, tell)


def test_a_search_is_split_once_it_has_examined_enough():
    model = build_model(mm_problem((64, 64, 64), objective="edp", dtype="int16"), never)
    whole = Search(model, SolveOptions()).run()
    assert whole.boxes < Helpers().enough
    for enough, is_split in ((whole.boxes + 1, False), (whole.boxes // 2, True)):
        executor = Watched()
        state = Search(model, SolveOptions(helpers=Helpers(executor, enough, 10))).run()
        assert bool(executor.runs) == is_split
        assert (state.value, state.complete) == (whole.value, True)
    # rounds grow with what was done before
    assert len(executor.runs) > 3
    assert sorted(executor.runs[:-1]) == executor.runs[:-1]


class Backwards(Watched):
    """Ends the last job first."""

    def run(self, jobs, share, tell=None):
        return reversed([*super().run(jobs, share, tell)])


def test_which_task_ends_first_makes_no_difference(monkeypatch):
    monkeypatch.setattr(Search, "batch", 16)
    for problem in QUESTIONS[:4]:
        states = []
        for executor in (Backwards(), InProcess()):
            options = SolveOptions(helpers=Helpers(executor, 0, 300))
            states.append(Search(build_model(problem, never), options).run())
        one, other = states
        assert (one.incumbent, one.boxes) == (other.incumbent, other.boxes)


class Lossy(Watched):
    """Loses every second job, as where a scheduler is gone."""

    def run(self, jobs, share, tell=None):
        for number, outcome in super().run(jobs, share, tell):
            yield number, LostError("gone") if number % 2 else outcome


def test_what_a_scheduler_has_lost_is_done_here():
    problem = mm_problem((64, 64, 64), objective="edp")
    assert certified(split(problem, Lossy())) == certified(split(problem, InProcess()))


def test_a_killed_worker_changes_nothing():
    problem = mm_problem((64, 64, 64), objective="edp")
    with Processes(2) as executor:
        split(problem, executor)  # its processes are there
        killed = []

        class Killing(Watched):
            def run(self, jobs, share, tell=None):
                for outcome in executor.run(jobs, share):
                    if not killed:
                        killed.append(min(executor._pool._processes))
                        os.kill(killed[0], signal.SIGKILL)
                    yield outcome

        assert certified(split(problem, Killing())) == certified(split(problem, InProcess()))
        assert killed


@pytest.mark.parametrize("looks", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
def test_a_search_cut_short_keeps_its_incumbent_and_bound(looks):
    problem = mm_problem((64, 64, 64), objective="edp")
    optimum = solve_exact(problem).value
    left = iter(range(looks))
    helpers = Helpers(InProcess(), **SPLIT)
    options = SolveOptions(stop=lambda: next(left, None) is None, helpers=helpers)
    search = Search(build_model(problem, never), options)
    state = search.run()
    assert state.value is None or state.value >= optimum
    assert state.lower_bound is None or state.lower_bound <= optimum
    boxes = state.boxes
    search.options = SolveOptions(helpers=helpers)
    assert search.run().value == optimum
    assert state.complete
    assert state.boxes >= boxes


def test_bounds_rise_with_the_tasks_that_are_done():
    """A round that ends early has raised the bound by what its first tasks have closed."""
    problem = mm_problem((64, 64, 64), objective="edp")
    bounds = []
    for looks in range(20, 400, 60):
        left = iter(range(looks))
        options = SolveOptions(
            stop=lambda left=left: next(left, None) is None, helpers=Helpers(InProcess(), **SPLIT)
        )
        bounds.append(Search(build_model(problem, never), options).run().lower_bound)
    assert bounds == sorted(bounds, key=lambda bound: bound or Fraction(0))
    assert len({*bounds}) > 2


def test_no_time_proves_nothing():
    solution = split(mm_problem((64, 64, 64)), InProcess(), time_limit=0.0)
    assert not solution.certificate.status.proven


def test_an_error_of_a_task_is_the_error_of_the_search():
    class Refusing(Watched):
        def run(self, jobs, share, tell=None):
            yield 0, MemoryError("killed")

    search = Search(
        build_model(mm_problem((64, 64, 64), objective="edp"), never),
        SolveOptions(helpers=Helpers(Refusing(), **SPLIT)),
    )
    with pytest.raises(MemoryError, match="killed"):
        search.run()
    search.options = SolveOptions()  # nothing was lost
    assert search.run().complete


def test_the_only_design_is_shared_among_threads(monkeypatch):
    used = []

    def helpers(executor):
        used.append(executor)
        return Helpers(executor, **SPLIT)

    monkeypatch.setattr(portfolio, "Helpers", helpers)
    problem = mm_problem((64, 64, 64), objective="edp")
    (alone,) = portfolio.solve_designs([problem])
    (shared,) = portfolio.solve_designs([problem], threads=2)
    assert certified(shared) == certified(alone)
    assert [type(each) for each in used] == [InProcess, Processes]
    assert used[1]._runs > 1


def test_what_jobs_have_in_common_is_sent_to_each_process_once(tmp_path):
    log = tmp_path / "log"
    with Processes(2) as executor:
        for common, most in ((Loaded(str(log)), 2), (Loaded(str(log)), 4)):
            for _ in range(3):
                jobs = [Sharing(partial(loaded_in, n), common) for n in range(6)]
                outcomes = dict(executor.run(jobs, lambda left: SolveOptions()))
                assert outcomes == {n: (n, str(log)) for n in range(6)}
            assert 0 < len(log.read_text()) <= most


def test_many_things_are_shared_in_turn(tmp_path):
    """More than are kept, each as it is, though they are equal by their looks."""
    things = [Loaded(str(tmp_path / str(n))) for n in range(12)]
    with Processes(2) as executor:
        for _ in range(2):
            jobs = [Sharing(partial(loaded_in, n), thing) for n, thing in enumerate(things)]
            outcomes = dict(executor.run(jobs, lambda left: SolveOptions()))
            assert outcomes == {n: (n, thing.path) for n, thing in enumerate(things)}
            folder = Path(executor._folder.name)
        executor.run([], lambda left: SolveOptions())
        assert dict(executor.run(jobs[:1], lambda left: SolveOptions())) == {0: (0, things[0].path)}
        assert len([*folder.iterdir()]) <= KEPT + 1
    assert not folder.exists()


def test_a_search_shows_what_it_has_after_each_task():
    told = []
    problem = mm_problem((64, 64, 64), objective="edp")
    options = SolveOptions(helpers=Helpers(InProcess(), **SPLIT))
    state = Search(build_model(problem, never), options, told.append).run()
    assert isinstance(state, SearchState)
    bounds, boxes = ([getattr(each, name) for each in told] for name in ("lower_bound", "boxes"))
    assert bounds == sorted(bounds)
    assert boxes == sorted(boxes)
    assert isinstance(options.helpers.executor, Executor)


def test_a_scheduler_takes_the_tasks_of_the_only_design(monkeypatch):
    monkeypatch.setattr(portfolio, "Helpers", partial(Helpers, **SPLIT))
    problem = mm_problem((24, 30, 17))
    (alone,) = portfolio.solve_designs([problem])
    (shared,) = portfolio.solve_designs([problem], threads=2, scheduler="local")
    assert certified(shared) == certified(alone)
