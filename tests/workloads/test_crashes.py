"""Writers that are killed leave all or nothing, and the next write leaves none of their leftovers.

`tests.crashes` kills them; what is tested here besides is what a folder's own content goes through.
"""

import ast
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ithaca.files import staging
from ithaca.files.errors import InputError
from ithaca.files.reading import read_text
from ithaca.files.staging import UNDO, recover
from ithaca.files.writing import write_folder, write_text_atomically
from tests.crashes import CASES, FILES, OUT_OF_BUDGET, _half, left, tree

ROOT = Path(__file__).parents[2]

#: What writes files of its own, and why it may.
MAY_WRITE = {
    "files/writing.py": "the writers",
    "files/staging.py": "their steps",
    "files/caches.py": "beside, then renamed; a file that is not whole has no seal",
    "files/seals.py": "a key, which is linked to its place",
    "exports/charts/files.py": "within whole_file",
    "solver/processes.py": "in temporary folders of the system",
    "plugins/rtl/exports/tools.py": "in temporary folders of the system",
}


def kills(case, *every):
    """Remains of a writer that is killed."""
    command = [sys.executable, "-m", "tests.crashes", ".", case, *every]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == OUT_OF_BUDGET:
        pytest.skip("processes may not trace each other here")
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def _room(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / '.typing'}{os.pathsep}{ROOT}")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(name, marks=() if name == "folder over another" else pytest.mark.ci)
        for name in CASES
    ],
)
def test_a_kill_before_any_change_leaves_all_or_nothing(case):
    found = kills(case)
    assert found["wrong"] == []
    assert found["old"]
    assert found["new"] or CASES[case].before == CASES[case].after


@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_some_system_calls(case):
    assert kills(case, "60")["wrong"] == []


@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_every_system_call(case):
    assert kills(case, "1")["wrong"] == []


def test_a_living_writers_folder_is_not_swept(tmp_path):
    with staging.staging(tmp_path) as place:
        (place / "mine").write_text("mine")
        write_text_atomically(tmp_path / "a", "new")
        write_folder(tmp_path, FILES)  # an exchange would take the ground from under it
        assert (place / "mine").read_text() == "mine"
    assert left(tmp_path) == []


def test_leftovers_are_swept_wherever_one_writes(tmp_path, monkeypatch):
    stale = ".ithaca-0123456789ab.tmp"
    for here in (tmp_path, tmp_path / "out"):
        for place in (tmp_path, tmp_path / "out"):
            (place / stale / "new").mkdir(parents=True)
            (place / ".ithaca-notes.tmp").mkdir(exist_ok=True)
        monkeypatch.chdir(here)
        write_folder(tmp_path / "out", FILES)
        assert left(tmp_path) == [".ithaca-notes.tmp", "out/.ithaca-notes.tmp"]


def test_what_a_folder_holds_besides_stays(tmp_path):
    out = tmp_path / "out"
    (out / "own" / "deep").mkdir(parents=True)
    (out / "own" / "deep" / "mine").write_text("mine")
    (out / "link").symlink_to("nowhere")
    os.mkfifo(out / "pipe")
    (out / "own").chmod(0o750)
    out.chmod(0o770)
    with (out / "own" / "deep" / "mine").open("a") as stream:
        write_folder(out, FILES)
        stream.write(" too")  # it is the file itself that stays
    assert tree(out) == FILES | {"own/deep/mine": "mine too"}
    assert (out / "link").readlink() == Path("nowhere")
    assert (out / "pipe").is_fifo()
    assert [p.stat().st_mode & 0o777 for p in (out, out / "own")] == [0o770, 0o750]
    assert left(tmp_path) == []


def test_what_comes_while_a_folder_is_exchanged_stays(tmp_path, monkeypatch):
    out, exchange = tmp_path / "out", staging._rename_exchange
    (out / "own").mkdir(parents=True)
    for name in ("one", "own/saved"):
        (out / name).write_text("old\n")

    def late(new, old):
        (out / "late").write_text("late")
        (out / "own" / "late").write_text("late")
        (out / "fresh").mkdir()
        (out / "fresh" / "late").write_text("late")
        (out / "saving").write_text("edited")
        (out / "saving").replace(out / "own" / "saved")
        exchange(new, old)

    monkeypatch.setattr(staging, "_rename_exchange", late)
    write_folder(out, FILES)
    mine = {"late": "late", "own/late": "late", "fresh/late": "late", "own/saved": "edited"}
    assert tree(out) == FILES | mine


@pytest.mark.parametrize("why", ["no such call", "no links", "read-only parent", "many files"])
def test_a_folder_that_cannot_be_exchanged_gets_file_after_file(why, tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").write_text("mine")
    node = out.stat().st_ino

    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    if why == "no such call":
        monkeypatch.setattr(staging, "_rename_exchange", refuse)
    elif why == "no links":
        monkeypatch.setattr(os, "link", refuse)
    elif why == "many files":
        monkeypatch.setattr(staging, "MOST_LINKS", 0)
    else:
        allowed = os.access
        monkeypatch.setattr(os, "access", lambda p, m: Path(p) != tmp_path and allowed(p, m))
    write_folder(out, FILES)
    write_folder(out, {**FILES, "one": "newer\n"})
    assert tree(out) == FILES | {"mine": "mine", "one": "newer\n"}
    assert out.stat().st_ino == node
    assert left(tmp_path) == []


def test_a_reader_undoes_what_was_cut_off(tmp_path):
    case = CASES["recovery"]
    for name, text in case.before.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    _half(tmp_path)
    assert tree(tmp_path) != case.before
    assert read_text(tmp_path / "f" / "sub" / "two", 99) == "old\n"
    assert tree(tmp_path) == case.before
    assert not (tmp_path / "f" / "fresh").exists()
    assert left(tmp_path) == []


def test_what_strangers_packed_is_not_undone(tmp_path):
    (tmp_path / UNDO / "none").mkdir(parents=True)
    (tmp_path / UNDO / "none" / "mine").touch()
    (tmp_path / "mine").write_text("mine")
    for known in (None, "1", f"{(tmp_path / UNDO).stat().st_ino}1"):
        if known is not None:
            (tmp_path / UNDO / "inode").write_text(known)
        for use in (
            lambda: read_text(tmp_path / "mine", 99),
            lambda: write_folder(tmp_path, FILES),
        ):
            with pytest.raises(InputError, match="is of no write that was cut off here; allowed"):
                use()
    assert (tmp_path / "mine").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / UNDO).symlink_to(tmp_path)
    with pytest.raises(InputError, match="which cannot be undone"):
        recover(tmp_path / "other")


def test_strangers_who_may_write_in_a_folder_for_all_stop_nobody(tmp_path, monkeypatch):
    (tmp_path / UNDO).mkdir()
    (tmp_path / "mine").mkdir()
    state = os.lstat

    def of_another(path):
        found = state(path)
        return os.stat_result((*found[:4], 12345, *found[5:])) if Path(path).name == UNDO else found

    monkeypatch.setattr(os, "lstat", of_another)
    write_text_atomically(tmp_path / "mine" / "a", "new")
    assert read_text(tmp_path / "mine" / "a", 99) == "new"


def test_folders_that_are_locked_can_be_opened_by_nobody_else(tmp_path):
    with staging.staging(tmp_path) as place:
        assert place.stat().st_mode & 0o777 == 0o700


def test_a_folder_within_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"cannot write .*: sub in it is a link to a folder"):
        write_folder(tmp_path / "out", FILES)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_link_to_a_folder_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    write_folder(tmp_path / "link", FILES)
    assert (tmp_path / "link").readlink() == Path("real")
    assert tree(tmp_path / "real") == FILES


def test_writers_at_once_leave_one_of_theirs(tmp_path):
    contents = [dict.fromkeys(FILES, f"{n}") for n in range(4)]

    def write(files):
        for _ in range(5):
            write_folder(tmp_path / "out", files)

    write(contents[0])
    writers = [threading.Thread(target=write, args=(files,)) for files in contents]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert tree(tmp_path / "out") in contents
    assert left(tmp_path) == []


def test_nothing_else_in_the_package_writes_files():
    writing = ("write_text", "write_bytes", "savefig", "savez", "copytree", "to_csv")
    no_part = {".typing", "benchmarks", "build", "docs", "setup.py", "tests"}
    every = (path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] not in no_part)
    writers = set()
    for path in every:
        text = path.read_text(encoding="utf-8")
        if not re.search(rf"\b(open|fdopen|{'|'.join(writing)})\(", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [*node.args[-1:], *(word.value for word in node.keywords if word.arg == "mode")]
            opened = name in ("open", "fdopen") and any(
                isinstance(mode, ast.Constant) and set("wax+") & set(str(mode.value))
                for mode in modes
            )
            if opened or name in writing:
                writers.add(str(path.relative_to(ROOT)))
    assert writers == {name for name in MAY_WRITE if (ROOT / name).exists()}
