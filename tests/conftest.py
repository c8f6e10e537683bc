"""How the tests run: in as many processes as there are processors, and with the same examples every
time."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.reference import DESCRIPTORS, golden_text
from tests.solver import known_optima

# a shell starts what runs in the background with SIGINT ignored; tests send it, however they were
# started
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# inherited by the processes that share the tests: each has one processor
os.environ.setdefault("OMP_NUM_THREADS", "1")

#: Examples are the same in every run, so that a change either breaks a test or does not.
#: ``HYPOTHESIS_PROFILE=thorough pytest`` looks at others, and at more.
NOT_CHECKED = (
    HealthCheck.too_slow,
    HealthCheck.function_scoped_fixture,
)  # the machine may be busy; fixtures here are folders
settings.register_profile(
    "fast", deadline=None, suppress_health_check=NOT_CHECKED, derandomize=True, max_examples=100
)
settings.register_profile(
    "thorough", settings.get_profile("fast"), derandomize=False, max_examples=2000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
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


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Slow tests enumerate; others look up what was found so before."""
    known_optima.slow = item.get_closest_marker("slow") is not None


def pytest_sessionfinish() -> None:
    """Keep what was enumerated, where that was asked for."""
    known_optima.save_found()


@pytest.fixture
def counted_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by 10 µs whenever it is asked, so that a time limit is one of steps, on
    whatever machine."""
    asked = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(asked) * 1e-5)


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def browser() -> Iterator[Any]:
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
