"""Commands called within the tests' process say and do what processes of their own do, however the
tests were started."""

import os
import signal
import sys
import warnings
from pathlib import Path

import pytest

from ithaca import cli
from tests.command_line import begin, ithaca, succeed

MM = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--edition", "exact")


@pytest.mark.parametrize(
    "words",
    [
        ("list", "designs", "mm"),
        ("export", "result.json", "--to", "autosa", "-o", "out", "--nearest"),
        ("solve", *MM, "--limit", "dsp=4"),
        ("solve", "mm", "-s", "x=4"),
        ("--version",),
    ],
)
def test_a_call_says_what_a_process_says(words, tmp_path):
    succeed("solve", *MM, "-o", "result.json", cwd=tmp_path)
    called = ithaca(*words, cwd=tmp_path)
    with begin(*words, cwd=tmp_path, env=os.environ | {"COLUMNS": "140"}) as process:
        output, errors = process.communicate(timeout=100)
    assert (called.returncode, called.stdout, called.stderr) == (process.returncode, output, errors)


def test_a_call_leaves_nothing_behind_and_hears_libraries(tmp_path, monkeypatch):
    def main():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.environ["ITHACA_LEFT"] = "behind"
        warnings.warn("of a library", UserWarning, stacklevel=1)
        print(Path.cwd(), *sys.argv)
        sys.stdout.flush()
        os.write(1, b"in C\n")
        sys.exit(3)

    monkeypatch.setattr(cli, "main", main)
    before = Path.cwd(), sys.argv, sys.stdout, signal.getsignal(signal.SIGINT)
    done = ithaca("one", 2, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, f"{tmp_path} ithaca one 2\nin C\n")
    assert "UserWarning: of a library" in done.stderr
    assert (Path.cwd(), sys.argv, sys.stdout, signal.getsignal(signal.SIGINT)) == before
    assert "ITHACA_LEFT" not in os.environ


def test_an_interrupt_reaches_what_is_started_where_it_is_ignored(
    monkeypatch,
):
    """Interrupts are ignored in ``pytest &`` of a script, for example."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with begin("solve", "mm", "-s", "i=4096,j=4001,k=4096", "--include-unbuildable") as process:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=100)
        assert process.returncode in (
            1,
            130,
            -signal.SIGINT,
        )  # the last before the program has its handler
        succeed("list", "workloads")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
