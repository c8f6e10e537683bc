"""Signals: in processes of their own, since the second one ends them."""

import os
import signal
import subprocess
import sys

import pytest

from ithaca.files import signals

#: Sends a signal to itself.
HIT = "import os, signal; hit = lambda number=signal.SIGINT: os.kill(os.getpid(), number)"


def ran(script, cwd):
    """Run a script with the handlers installed; SIGINT is handled however the tests were
    started."""
    begin = f"{HIT}; signal.signal(signal.SIGINT, signal.default_int_handler); from ithaca.files import signals; signals.install()"
    return subprocess.run(
        [sys.executable, "-c", f"{begin}\n{script}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_the_first_raises_where_nobody_asks(number, tmp_path):
    done = ran(
        f"try:\n    hit(signal.{number})\nexcept KeyboardInterrupt:\n    print(signals.came())",
        tmp_path,
    )
    assert (done.returncode, done.stdout) == (0, "True\n")


def test_the_first_answers_who_asks_and_the_second_ends_at_once(tmp_path):
    script = """
with signals.Interrupt() as asked:
    print(asked())
    hit()
    print(asked(), flush=True)
    try:
        hit(signal.SIGTERM)
    finally:
        print("not reached", flush=True)
"""
    done = ran(script, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "False\nTrue\n",
        "ithaca: interrupted\n",
    )


def test_where_it_is_deferred_it_raises_at_the_end(tmp_path):
    script = """
try:
    with signals.deferred():
        hit()
        print("inner", flush=True)
    print("not reached")
except KeyboardInterrupt:
    print("raised")
"""
    assert ran(script, tmp_path).stdout == "inner\nraised\n"


def test_deferred_within_a_search_that_asks_it_never_raises(tmp_path):
    script = "with signals.Interrupt() as asked:\n    with signals.deferred():\n        hit()\n    print(asked())"
    assert ran(script, tmp_path).stdout == "True\n"


def test_a_search_that_never_asks_ends_at_once(tmp_path):
    script = """
with signals.Interrupt() as asked:
    try:
        with signals.at_once():
            hit()
            print("not reached")
    except KeyboardInterrupt:
        print("raised", asked())
"""
    assert ran(script, tmp_path).stdout == "raised True\n"


@pytest.mark.parametrize(
    "writer",
    [
        "write_text_atomically(Path('file'), 'new')",
        "write_folder(Path('folder'), {'a': 'new', 'b': 'new'})",
    ],
)
@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("place", ["open", "replace", "rename", "unlink", "fsync"])
def test_a_second_signal_leaves_nothing_half_written(writer, exists, place, tmp_path):
    """Two signals come within a call that writes: every file is as before or new, all of a folder's
    alike."""
    if exists:
        (tmp_path / "folder").mkdir()
        for file in ("file", "folder/a", "folder/b"):
            (tmp_path / file).write_text("old")
    script = f"""
import builtins
from pathlib import Path
from ithaca.files.writing import write_folder, write_text_atomically
def struck(owner, name):
    real = getattr(owner, name)
    def strike(*args, **options):
        found = real(*args, **options)
        setattr(owner, name, real)
        with signals.deferred():  # the first says nothing yet
            hit()
            hit()
        return found
    setattr(owner, name, strike)
struck(os if {place!r} == "fsync" else builtins if {place!r} == "open" else Path, {place!r})
{writer}
"""
    done = ran(script, tmp_path)
    assert done.returncode in ((0, 130) if place in ("rename", "unlink", "replace") else (130,)), (
        done.stderr
    )
    assert not list(tmp_path.rglob(".ithaca*"))
    texts = {
        path.read_text()
        for path in tmp_path.rglob("*")
        if path.is_file() and ("folder" in str(path)) == ("folder" in writer)
    }
    assert texts <= {"old"} or texts == {"new"}


def test_signals_that_are_to_be_ignored_stay_so():
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signals.install()
        with signals.Interrupt() as asked:
            os.kill(os.getpid(), signal.SIGINT)
            assert not asked()
            os.kill(os.getpid(), signal.SIGTERM)
            assert asked()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_guest_leaves_sigterm_and_ignored_signals_to_the_host():
    for handler in (signal.SIG_IGN, signal.default_int_handler):
        before = {number: signal.getsignal(number) for number in signals.SIGNALS}
        try:
            signal.signal(signal.SIGINT, handler)
            with signals.Interrupt() as asked:
                assert signal.getsignal(signal.SIGTERM) == before[signal.SIGTERM]
                os.kill(os.getpid(), signal.SIGINT)
                assert asked() == (handler is not signal.SIG_IGN)
            assert signal.getsignal(signal.SIGINT) == handler
            assert not signals.came()
        finally:
            for number, known in before.items():
                signal.signal(number, known)
