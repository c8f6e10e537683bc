"""Settings of the tests: as many processes as there are processors, the same examples every time,
each folder within its budget of CPU seconds."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from ithaca.files.seals import VARIABLE
from tests.reference import DESCRIPTORS, golden_text
from tests.solver import known_optima

# a shell starts what runs in the background with SIGINT ignored; tests send it, however they were
# started
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# inherited by the processes that share the tests: each has one processor
os.environ.setdefault("OMP_NUM_THREADS", "1")

#: Examples are the same in every run, so that a change either breaks a test or does not. CI draws
#: more of them (``HYPOTHESIS_PROFILE=ci``); ``thorough`` looks at others, and at more.
NOT_CHECKED = (
    HealthCheck.too_slow,
    HealthCheck.function_scoped_fixture,
)  # the machine may be busy; fixtures here are folders
settings.register_profile(
    "fast", deadline=None, suppress_health_check=NOT_CHECKED, derandomize=True, max_examples=40
)
settings.register_profile("ci", settings.get_profile("fast"), max_examples=100)
settings.register_profile(
    "thorough", settings.get_profile("fast"), derandomize=False, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

#: CPU seconds that the tests of a folder which plain ``pytest`` runs may take on a quiet machine;
#: those of files beside the folders are ``tests``. A run says which take more: what makes them do
#: so belongs to CI (`ci` in pyproject.toml), or is too slow.
BUDGETS = {
    "exports": 36,
    "families": 10,
    "formulations": 78,
    "paper": 4,
    "plugins": 60,
    "refine": 5,
    "results": 15,
    "solver": 57,
    "studies": 50,
    "workloads": 9,
    "tests": 42,
}
_FAST = "not slow and not ci"

#: CPU seconds of the tests of each folder, in this process, and in those that ran them.
_cpu_seconds: Counter[str] = Counter()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Share whole folders of tests among processes; a file alone runs in this one, where it begins
    at once and may print.

    This is no option in pyproject.toml since benchmarks must run alone, and pytest without its
    plugin.
    """
    if (
        "PYTEST_XDIST_WORKER" in os.environ
    ):  # one of those processes: it must not start others in turn
        return
    option = config.option
    asked = (
        getattr(option, "numprocesses", 0) is not None
        or option.dist != "no"
        or option.usepdb
        or option.collectonly
    )
    if not asked and any(Path(argument.partition("::")[0]).is_dir() for argument in config.args):
        option.numprocesses = (
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        )
        option.dist = "worksteal"


#: Of a test with more dear cases than this, CI takes each sixth; the slow tests take the others.
FEW = 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave every n-th case of a test of ``ci(every=n)`` to the fast tests, and of the others every
    n-th of one of ``slow(every=n)`` to CI; of many cases of ``ci`` alone, each sixth."""
    places: Counter[str] = Counter()
    dear: dict[str, list[pytest.Item]] = {}
    for item in items:
        marks = [mark for mark in item.own_markers if mark.name in ("slow", "ci")]
        every = {mark.name: mark.kwargs["every"] for mark in marks if "every" in mark.kwargs}
        whole = any(mark.name == "slow" and not mark.kwargs for mark in marks)
        test = item.nodeid.partition("[")[0]
        if every and not whole:
            fast, left = (n in every and places[test] % every[n] == 0 for n in ("ci", "slow"))
            places[test] += 1
            if fast or left:
                own = ("slow", "ci") if fast else ("slow",)
                item.own_markers[:] = [mark for mark in item.own_markers if mark.name not in own]
                if not fast:
                    item.add_marker("ci")
        sampled = "slow" in every or any("whole" in mark.kwargs for mark in marks)
        if "[" in item.nodeid and not sampled and _is_dear(item):
            dear.setdefault(test, []).append(item)
    for cases in dear.values():
        if len(cases) > FEW:
            for place, item in enumerate(cases):
                if place % 6:
                    item.add_marker("slow")


def _is_dear(item):
    """Whether a test is of CI, and of no cheaper or dearer tier."""
    return bool({mark.name for mark in item.iter_markers()} & {"ci", "slow"} == {"ci"})


def _cpu():
    return sum(os.times()[:4])  # with those of processes that ended


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Count the CPU seconds of a folder's tests."""
    before = _cpu()
    yield
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    _cpu_seconds[folder if folder in BUDGETS else "tests"] += _cpu() - before


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add up what the processes counted that shared the tests."""
    _cpu_seconds.update(getattr(node, "workeroutput", {}).get("cpu_seconds", {}))


def pytest_terminal_summary(terminalreporter, config):
    """Say which folders take more than their budget."""
    if config.option.markexpr == _FAST:
        for folder, seconds in sorted(_cpu_seconds.items()):
            if seconds > BUDGETS[folder]:
                terminalreporter.write_line(
                    f"{folder}: {seconds:.0f} CPU seconds, {BUDGETS[folder]} allowed"
                )


def pytest_runtest_setup(item):
    """Slow tests enumerate; others look up what was found so before."""
    known_optima.slow = item.get_closest_marker("slow") is not None


def pytest_sessionfinish(session):
    """Keep what was enumerated, where that was asked for, and hand over what was counted."""
    known_optima.save_found()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cpu_seconds"] = dict(_cpu_seconds)


@pytest.fixture(autouse=True, scope="session")
def key(tmp_path_factory):
    """The key that kept results are sealed with: not that of who runs the tests."""
    path = tmp_path_factory.mktemp("state") / "key"
    os.environ[VARIABLE] = str(path)
    return path


@pytest.fixture
def counted_time(monkeypatch):
    """A clock that goes on by 10 µs whenever a search asks it, so that a time limit is one of steps,
    on whatever machine, and whatever was compiled before; what polls the clock of the call sees
    that, and adds nothing."""
    asked = itertools.count()
    now = [0.0]

    def step():
        now[0] = next(asked) * 1e-5
        return now[0]

    monkeypatch.setattr("ithaca.solver.tables.frame._lowered", lambda *problem: [])
    monkeypatch.setattr(time, "perf_counter", step)
    monkeypatch.setattr("ithaca.files.clock.time", SimpleNamespace(perf_counter=lambda: now[0]))


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """A folder of reference data: ``golden/*.csv`` and ``descriptors/*.json``."""
    folder = tmp_path_factory.mktemp("reference")
    for name in ("golden", "descriptors"):
        (folder / name).mkdir()
    for app in ("gemm", "cnn"):
        (folder / "golden" / f"{app}.csv").write_text(golden_text(app))
    for name, text in DESCRIPTORS.items():
        (folder / "descriptors" / f"{name}.json").write_bytes(text)
    return folder


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
