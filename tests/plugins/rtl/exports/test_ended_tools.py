"""Tools that run hardware end, with all that they started, when time is up."""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ithaca.files.clock import running
from ithaca.files.errors import InputError, NothingFoundError
from ithaca.plugins.rtl.exports.tools import _run

#: A program that starts another one, says which, and waits for it.
STARTS = (
    "import pathlib, subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "pathlib.Path('child').write_text(str(child.pid))\n"
    "child.wait()\n"
)


def alive(process):
    """Whether a process runs; one that has ended may still be in the table of processes."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def ends(process, seconds=30):
    """Whether a process that was killed is gone soon: the kernel ends it in its own time."""
    until = time.monotonic() + seconds
    while alive(process) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(process)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no /proc")
def test_when_time_is_up_nothing_that_was_started_goes_on(tmp_path):
    with running(2), pytest.raises(NothingFoundError, match=r"^time is up: python"):
        _run([sys.executable, "-c", STARTS], tmp_path)
    child = int((tmp_path / "child").read_text())
    assert child != os.getpid()
    assert ends(child)


def test_output_is_handed_on_and_failures_are_named(tmp_path):
    assert _run([sys.executable, "-c", "print('here')"], tmp_path) == "here\n"
    with pytest.raises(InputError, match=r"fails in .*: Error: no"):
        _run([sys.executable, "-c", "print('Error: no'); raise SystemExit(3)"], tmp_path)
