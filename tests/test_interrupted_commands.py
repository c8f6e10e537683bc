"""Commands interrupted at any moment: their files are whole or absent, and nothing else is left
behind."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shlex import split

import pytest

import ithaca
from ithaca.refine.grid import load_grid
from tests.command_line import begin, succeed

#: What shells show as 130; an interrupted exec() makes Python end by the signal itself.
INTERRUPTED = (130, -signal.SIGINT)

#: A signal that comes while Python itself ends, when all is written: it has put back what signals
#: do by default.
ENDING = -signal.SIGTERM

#: What a file of an earlier run holds.
OLD = b"of an earlier run\n"

#: The moment at which the first temporary file is seen.
WRITING = "writing"


@dataclass(frozen=True)
class Case:
    """A command and the files it writes."""

    words: tuple[str, ...]
    files: tuple[str, ...]
    check: Callable[[Path], object]
    program: str = "ithaca.cli"


def _page(path):
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def _experiment_file(path):
    if path.suffix == ".json":
        assert json.loads(path.read_text(encoding="utf-8"))["experiment"] == "table-3"
    elif path.suffix == ".png":
        _picture(path)
    else:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


def _picture(path):
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert content.endswith(b"IEND\xaeB`\x82")


def _grid_file(path):
    _picture(path) if path.suffix == ".png" else load_grid(path)


GRID = split("--loops i,j --around 10 --plot map.png --x lanes.i --y lanes.j -o grid.nc")
SOLVE = split("solve mm -s i=96,j=80,k=64 --dataflow i,j")
CASES = {
    "grid": Case(("grid", "rough.json", *GRID), ("grid.nc", "map.png"), _grid_file),
    "refine": Case(
        ("refine", "rough.json", "--samples", "1500", "-o", "better.json"),
        ("better.json",),
        ithaca.load,
    ),
    "evolve": Case(
        (*SOLVE, *split("--method evolve --time-limit 3 -o result.json")),
        ("result.json",),
        ithaca.load,
    ),
    "explain": Case(("explain", "rough.json"), (), ithaca.load),
    "report": Case(
        ("report", "rough.json", "--around", "3", "--time-limit", "2", "-o", "page.html"),
        ("page.html",),
        _page,
    ),
    "paper": Case(
        ("table-3", "-o", "paper"),
        ("paper/table-3.csv", "paper/table-3.png", "paper/table-3.json"),
        _experiment_file,
        "benchmarks.paper.__main__",
    ),
}


@pytest.fixture(scope="module")
def rough(tmp_path_factory):
    """A result that is not proven optimal."""
    path = tmp_path_factory.mktemp("rough") / "rough.json"
    succeed(*SOLVE, "--method", "exact", "--gap", "0.9", "-o", path)
    return path.read_bytes()


def interrupted(case, folder, moment, number):
    """Run a command in a folder and send it a signal; its exit status and what it says on
    stderr."""
    with begin(*case.words, program=case.program, cwd=folder, stdout=subprocess.DEVNULL) as process:
        if isinstance(moment, str):
            while process.poll() is None:
                if any(".ithaca-" in place for place, *_ in os.walk(folder)):
                    break
                time.sleep(0.0005)
        else:
            time.sleep(moment)
        process.send_signal(number)
        errors = process.communicate(timeout=100)[1]
    return process.returncode, errors


def check(name, folder, rough, moment, number, *, again):
    """Interrupt a command and see that every file is what it was before, or a whole new one."""
    case = CASES[name]
    (folder / "rough.json").write_bytes(rough)
    if again:
        for file in case.files:
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(OLD)
    status, errors = interrupted(case, folder, moment, number)
    told = f"{name}, {number.name} at {moment}: status {status}, {errors}"
    assert status in (0, 1, *INTERRUPTED, ENDING), told
    # an interruption within a destructor is printed by Python, and lost
    assert "Traceback" not in errors or "Exception ignored" in errors, told
    if status in INTERRUPTED:
        assert (
            errors == "ithaca: interrupted\n" or "Exception ignored" in errors or "wrote" in errors
        ), told
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left <= {"rough.json", *case.files}, told
    assert (folder / "rough.json").read_bytes() == rough
    new = [file for file in case.files if file in left and (folder / file).read_bytes() != OLD]
    for file in new:
        case.check(folder / file)
    if again:
        assert left == {"rough.json", *case.files}, told
    if name == "paper":
        assert len(new) in (0, len(case.files)), told
        assert again or new or not (folder / "paper").exists(), told
    if status in (0, ENDING):
        assert len(new) == len(case.files), told


@pytest.mark.parametrize(
    ("moment", "number", "again"),
    [(0.2, signal.SIGINT, False), (0.9, signal.SIGTERM, True), (WRITING, signal.SIGINT, True)],
)
@pytest.mark.parametrize("name", CASES)
def test_files_are_whole_or_as_before(name, moment, number, again, tmp_path, rough):
    if moment == WRITING and not CASES[name].files:
        pytest.skip("it writes no file")
    check(name, tmp_path, rough, moment, number, again=again)


def test_a_terminated_command_removes_the_file_it_was_writing(tmp_path, rough):
    check("grid", tmp_path, rough, WRITING, signal.SIGTERM, again=False)


#: Runs a command that gets signals as it takes a lock of xarray, at one of the times that it does
#: so.
STRUCK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from xarray.backends.locks import CombinedLock
from ithaca import cli
take, left = CombinedLock.__enter__, int(sys.argv.pop(1))
def struck(self):
    global left
    take(self)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGINT)
CombinedLock.__enter__ = struck
cli.main()
"""


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_lock_that_is_being_taken_is_given_back(count, tmp_path, rough):
    """An exception as xarray takes a lock left it taken, and closing the file waited for it for
    ever."""
    (tmp_path / "rough.json").write_bytes(rough)
    words = f"{count} grid rough.json --loops i -o grid.nc"
    done = subprocess.run(
        [sys.executable, "-c", STRUCK, *words.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "ithaca: interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["rough.json"]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", CASES)
def test_files_are_whole_or_as_before_at_many_moments(name, number, again, tmp_path, rough):
    moments = [0.0, *(0.25 * step for step in range(1, 15))]
    if CASES[name].files:
        moments += [WRITING] * 3
    for place, moment in enumerate(moments):
        folder = tmp_path / str(place)
        folder.mkdir()
        check(name, folder, rough, moment, number, again=again)


def test_signals_a_shell_asks_to_ignore_are_ignored(tmp_path, rough):
    (tmp_path / "rough.json").write_bytes(rough)
    with begin(
        "explain", "rough.json", "--quick", cwd=tmp_path, sigint="SIG_IGN"
    ) as process:  # as nohup does of its signal
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=100)
    assert (process.returncode, errors) == (0, "")
    assert output.startswith("Result: ")


def test_a_closed_pipe_is_no_search_that_found_nothing(tmp_path, rough):
    (tmp_path / "rough.json").write_bytes(rough)
    read, write = os.pipe()
    os.close(read)
    with begin("explain", "rough.json", "--quick", "--json", cwd=tmp_path, stdout=write) as process:
        errors = process.communicate(timeout=100)[1]
    os.close(write)
    assert (process.returncode, errors) == (141, "")
