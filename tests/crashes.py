"""Writers that are killed: ``python -m tests.crashes FOLDER CASE [EVERY]`` prints, as JSON, what
each kill left.

They are killed before each of Python's audited events that change files; or, if ``EVERY`` is given,
wherever they enter or leave a system call, at each such place (1) or each so many: then they are
traced.
"""

import ctypes
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from ithaca.files import caches, seals
from ithaca.files.staging import recover
from ithaca.files.writing import whole_file, write_folder, write_text_atomically

FILES = {"one": "new\n", "sub/two": "new\n", "fresh/three": "new\n"}
BEFORE = {"one": "old\n", "sub/two": "old\n", "sub/mine": "mine\n", "own/mine": "mine\n"}
#: Events before which nothing has changed since the last one.
CHANGES = ("open", "os.", "shutil.", "ctypes.")
TRACE_ME, TRACE_CALLS, OUT_OF_BUDGET = 0, 24, 9


def tree(folder):
    """The files of a folder that are no leftovers."""
    every = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in every
        if "/.ithaca-" not in str(path)
    }


def left(place):
    """The leftovers in a place and in its folders."""
    return sorted(str(path.relative_to(place)) for path in place.rglob(".ithaca-*"))


@dataclass(frozen=True)
class Case:
    """A writer, what is there before it, and what after it."""

    write: Callable[[Path], object]
    before: dict[str, str]
    after: dict[str, str]
    prepare: Callable[[Path], object] = lambda place: None
    recovered: bool = False
    """Whether a reader has to come first."""


def _library(place):
    with whole_file(place / "f.svg") as temporary:
        temporary.write_text("new\n")


def _within(place):
    os.chdir(place / "f")
    write_folder(Path(), FILES)


def _half(place):
    """The remains of a write that is killed half-way."""
    if not (child := os.fork()):
        moved, replace = count(), Path.replace

        def dying(self, target):
            if next(moved) == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return replace(self, target)

        Path.replace = dying
        _within(place)
    os.waitpid(child, 0)


def _key(place):
    seals.secrets.token_bytes = lambda count: b"k" * count
    os.environ[seals.VARIABLE] = str(place / "key")
    seals.own_key()


def _cached(place):
    caches._seal = lambda path, content: b"seal"
    caches.keep_bytes(place / "f", b"new\n")


def _sealed(text):
    return f"seal\n{text}"


KEY = "k" * seals.LENGTH

IN_FOLDER = {f"f/{name}": text for name, text in BEFORE.items()}
OVER = IN_FOLDER | {f"f/{name}": text for name, text in FILES.items()}

CASES = {
    "text": Case(lambda p: write_text_atomically(p / "f", "new\n"), {}, {"f": "new\n"}),
    "text over another": Case(
        lambda p: write_text_atomically(p / "f", "new\n"), {"f": "old\n"}, {"f": "new\n"}
    ),
    "library": Case(_library, {"f.svg": "old\n"}, {"f.svg": "new\n"}),
    "key": Case(_key, {}, {"key": KEY}),
    "kept for later": Case(_cached, {"f": _sealed("old\n")}, {"f": _sealed("new\n")}),
    "folder": Case(
        lambda p: write_folder(p / "f", FILES), {}, {f"f/{n}": t for n, t in FILES.items()}
    ),
    "folder over another": Case(lambda p: write_folder(p / "f", FILES), IN_FOLDER, OVER),
    "folder that is worked in": Case(_within, IN_FOLDER, OVER, recovered=True),
    "recovery": Case(lambda p: recover(p / "f"), IN_FOLDER, IN_FOLDER, _half, recovered=True),
}


def _write(case, place, kill_at, *, traced):
    """Write in a child process, killed at a step; whether it got so far."""
    if child := os.fork():
        return _follow(child, kill_at) if traced else os.waitpid(child, 0)[1] == signal.SIGKILL
    if traced:
        if ctypes.CDLL(None).ptrace(TRACE_ME, 0, None, None):
            os._exit(OUT_OF_BUDGET)
        os.kill(os.getpid(), signal.SIGSTOP)
    else:
        steps = count(1)

        def strike(event, _):
            if event.startswith(CHANGES) and next(steps) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(strike)
    case.write(place)
    os._exit(0)


def _follow(child, kill_at):
    trace = ctypes.CDLL(None, use_errno=True).ptrace
    trace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for step in count():
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                raise SystemExit(OUT_OF_BUDGET)  # nobody may trace here
            return False
        if step == kill_at:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        trace(TRACE_CALLS, child, None, None)
    raise AssertionError


def outcomes(case, place, every):
    """The numbers of kills that left things as before, and as after; and of the others, what they
    left."""
    seen = {"old": 0, "new": 0}
    wrong = []
    for kill_at in count(1, every or 1):
        shutil.rmtree(place)
        for name, text in case.before.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        place.mkdir(exist_ok=True)
        case.prepare(place)
        killed = _write(case, place, kill_at, traced=every is not None)
        if case.recovered:
            recover(place / "f")
        there = tree(place)
        if there not in (case.before, case.after):
            wrong.append([kill_at, there])
        seen["old" if there == case.before else "new"] += 1
        if not killed and (there != case.after or left(place)):
            wrong.append([kill_at, there, left(place)])
        write_text_atomically(place / "next", "next")  # the next writes to the same places
        if case.before != {} and (place / "f").is_dir():
            write_folder(place / "f", FILES)
        if leftovers := left(place):
            wrong.append([kill_at, leftovers])
        if not killed:
            return {**seen, "wrong": wrong}
    raise AssertionError


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as room:
        inner = Path(room) / "room"
        inner.mkdir()
        each = int(sys.argv[3]) if len(sys.argv) > 3 else None
        print(json.dumps(outcomes(CASES[sys.argv[2]], inner, each)))
