"""Settings of the tests: as many processes as there are processors, the same examples every time,
each folder within its budget of CPU seconds."""

import csv
import itertools
import os
import shutil
import signal
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

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

# no test depends on what another, or an earlier run, has kept
os.environ["ITHACA_CACHE"] = ""

#: Examples are the same in every run, so that a change either breaks a test or does not. CI draws
#: more of them (``HYPOTHESIS_PROFILE=ci``); ``thorough`` looks at others, and at more.
NOT_CHECKED = (
    HealthCheck.too_slow,
    HealthCheck.function_scoped_fixture,
)  # the machine may be busy; fixtures here are folders
settings.register_profile(
    "fast", deadline=None, suppress_health_check=NOT_CHECKED, derandomize=True, max_examples=40
)
settings.register_profile("ci", settings.get_profile("fast"), max_examples=60)
settings.register_profile(
    "thorough", settings.get_profile("fast"), derandomize=False, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

#: CPU seconds that the tests of a folder which plain ``pytest`` runs may take on a quiet machine;
#: those of files beside the folders are ``tests``. A run says which take more.
BUDGETS = {
    "exports": 18,
    "families": 2,
    "formulations": 31,
    "paper": 3,
    "plugins": 144,
    "refine": 3,
    "results": 11,
    "solver": 39,
    "studies": 25,
    "workloads": 21,
    "tests": 43,
}
_FAST = "not slow and not ci"

#: CPU seconds of a case of each test that takes some, as ``UPDATE_SECONDS=1`` recorded them.
SECONDS = Path(__file__).parent / "data" / "seconds.csv"

#: Least seconds that are recorded; a case of a test that is not takes about a third of that.
LEAST = 0.1

#: CPU seconds that the fast tests of each folder take as recorded.
EXPECTED = pytest.StashKey()

#: Of each tier, the CPU seconds that all cases of one test may take together, and those that one
#: case may which is taken where not all are. What neither takes is slow.
TIERS = {"fast": (0.4, 0.8), "ci": (0.8, 4.0)}

#: CPU seconds of the tests of each folder, in this process, and in those that ran them.
_cpu_seconds = Counter()


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


def seconds_of_cases():
    """CPU seconds of a case, by test."""
    with SECONDS.open(encoding="utf-8", newline="") as file:
        return {row["test"]: float(row["seconds"]) for row in csv.DictReader(file)}


def some_of(cases, seconds, most, one):
    """A fixed sample of cases that takes so many seconds; if not all, one that takes fewer than
    ``one``."""
    number = min(len(cases), int(most / seconds) if seconds else len(cases))
    number = number or (len(cases) > 0 and seconds <= one)
    first = crc32(_test_of(cases[0]).encode()) if number < len(cases) else 0
    return [cases[(first + place * len(cases) // number) % len(cases)] for place in range(number)]


def _folder(item):
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return folder if folder in BUDGETS else "tests"


def _test_of(item):
    return item.nodeid.partition("[")[0].removeprefix("tests/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave to CI, or to the slow tests, what takes more seconds than the tiers before may: of many
    cases a fixed sample stays. Marks of a case's own are kept."""
    known, tests = seconds_of_cases(), {}
    expected = config.stash[EXPECTED] = Counter()
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        whole = "whole" in marks or any("whole" in mark.kwargs for mark in item.iter_markers("ci"))
        if "slow" not in marks and not whole:
            tests.setdefault((_test_of(item), "ci" in marks), []).append(item)
    for (test, dear), cases in tests.items():
        seconds = known.get(test, 0) if dear or (test, True) not in tests else 0
        for tier, (most, one) in TIERS.items():
            if dear and tier == "fast":
                continue
            for item in some_of(cases, seconds, most, one):
                cases.remove(item)
                if tier == "fast":
                    expected[_folder(item)] += seconds or LEAST / 3
                else:
                    item.add_marker(tier)
        for item in cases:
            item.add_marker("slow")


def _cpu():
    return sum(os.times()[:4])  # with those of processes that ended


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Count the CPU seconds of a folder's tests."""
    before = _cpu()
    yield
    taken = _cpu() - before
    _cpu_seconds[_folder(item)] += taken
    _cpu_seconds[_test_of(item)] += taken
    _cpu_seconds[f"cases of {_test_of(item)}"] += 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Add up what the processes counted that shared the tests."""
    _cpu_seconds.update(getattr(node, "workeroutput", {}).get("cpu_seconds", {}))


def pytest_terminal_summary(terminalreporter, config):
    """Say which folders take more than their budget."""
    if config.option.markexpr == _FAST:
        for folder, budget in BUDGETS.items():
            if (seconds := _cpu_seconds[folder]) > budget:
                terminalreporter.write_line(
                    f"{folder}: {seconds:.0f} CPU seconds, {budget} allowed"
                )
    if os.environ.get("UPDATE_SECONDS"):
        record_seconds()


def record_seconds():
    """Record the mean seconds of a case of every test that ran."""
    known = seconds_of_cases()
    for test, number in _cpu_seconds.items():
        if test.startswith("cases of "):
            known[test[9:]] = _cpu_seconds[test[9:]] / number
    with SECONDS.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("test", "seconds"))
        rows.writerows((t, f"{s:.2g}") for t, s in sorted(known.items()) if s >= LEAST)


def pytest_runtest_setup(item):
    """Slow tests enumerate; others look up what was found so before."""
    known_optima.slow = item.get_closest_marker("slow") is not None


def pytest_sessionfinish(session):
    """Keep what was enumerated, where that was asked for, and hand over what was counted."""
    known_optima.save_found()
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cpu_seconds"] = dict(_cpu_seconds)


@pytest.fixture
def expected_seconds(request):
    """CPU seconds that the fast tests collected take as recorded, by folder."""
    return request.config.stash[EXPECTED]


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
    monkeypatch.setattr(time, "process_time", lambda: now[0])
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
