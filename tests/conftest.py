"""How the tests run: in as many processes as there are processors, and with the same examples every time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# inherited by the processes that share the tests: each has one processor
os.environ.setdefault("OMP_NUM_THREADS", "1")

#: Examples are the same in every run, so that a change either breaks a test or does not. ``HYPOTHESIS_PROFILE=thorough pytest``
#: looks at others, and at more.
NOT_CHECKED = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)  # the machine may be busy; fixtures here are folders
settings.register_profile("fast", deadline=None, suppress_health_check=NOT_CHECKED, derandomize=True, max_examples=150)
settings.register_profile("thorough", settings.get_profile("fast"), derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share whole folders of tests among processes; a file alone runs in this one, where it begins at once and may print.

    This is no option in pyproject.toml since benchmarks must run alone, and pytest without its plugin.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:  # one of those processes: it must not start others in turn
        return
    option = config.option
    asked = getattr(option, "numprocesses", 0) is not None or option.dist != "no" or option.usepdb or option.collectonly
    if not asked and any(Path(argument.partition("::")[0]).is_dir() for argument in config.args):
        option.numprocesses = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        option.dist = "worksteal"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material beside the project; tests skip without it."""
    folder = Path(__file__).resolve().parents[1].parent / "shared"
    if not (folder / "golden").is_dir():
        pytest.skip("no ../shared beside the project")
    return folder
